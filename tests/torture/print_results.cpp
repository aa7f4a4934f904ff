// Prints what a run recorded, as the readers of the library see it, for tools/torture:
//   print_results FOLDER SUBSYSTEM.VARIABLE
// A line for each time at which the variable is known: the time and, to the last bit, all numbers of that time. A row
// is sound when the variable is t + 1 in it; the first that is not is an error.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "entrain/error.hpp"
#include "entrain/results.hpp"

namespace {

void print_row(const entrain::Results& results, double time) {
  std::printf("%.17g", time);
  for (const auto& column : results.columns) {
    const auto& times = results.times(column);
    const auto at = std::lower_bound(times.begin(), times.end(), time);
    if (at == times.end() || *at != time) continue;
    const double value = column.values[static_cast<std::size_t>(at - times.begin())];
    if (!std::isnan(value)) std::printf(" %s=%.17g", column.name.c_str(), value);  // NaN: a text
  }
  std::printf("\n");
}

}  // namespace

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
      print_row(results, times[i]);
    }
    return 0;
  } catch (const entrain::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
