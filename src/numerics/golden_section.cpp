#include "numerics/golden_section.hpp"

#include <numbers>

namespace entrain::numerics {

Peak golden_section(double low, double high, double width, base::FunctionRef<double(double)> function, double enough) {
  constexpr double kSection = 1.0 / std::numbers::phi;
  const auto peak_at = [&](double at) { return Peak{at, function(at)}; };
  Peak left = peak_at(high - kSection * (high - low));
  Peak right = peak_at(low + kSection * (high - low));
  while (high - low > width && left.at < right.at && left.value < enough && right.value < enough) {
    if (left.value > right.value) {
      high = right.at;
      right = left;
      left = peak_at(high - kSection * (high - low));
    } else {
      low = left.at;
      left = right;
      right = peak_at(low + kSection * (high - low));
    }
  }
  return left.value > right.value ? left : right;
}

}  // namespace entrain::numerics
