// Prints the times that a run recorded, as the readers of the library see them, for tools/torture:
//   print_results FOLDER SUBSYSTEM.VARIABLE
// A row is sound when the variable is t + 1 in it; the first that is not is an error.
#include <cmath>
#include <cstdio>

#include "entrain/error.hpp"
#include "entrain/results.hpp"

int main(int count, char** arguments) {
  if (count != 3) return 2;
  try {
    const auto results = entrain::read_results(arguments[1]);
    const auto* column = results.find(arguments[2]);
    if (column == nullptr) return 3;
    const auto& times = results.times(*column);
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (std::abs(column->values[i] - times[i] - 1.0) > 1e-9) {
        std::fprintf(stderr, "%.17g at t = %.17g\n", column->values[i], times[i]);
        return 4;
      }
      std::printf("%.17g\n", times[i]);
    }
    return 0;
  } catch (const entrain::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
