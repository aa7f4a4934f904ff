#pragma once

#include <cmath>
#include <vector>

namespace entrain::test {

/// Input polynomials, order by order, neither small nor special.
inline std::vector<double> any_polynomials(std::size_t inputs, int degree) {
  std::vector<double> result;
  for (int p = 0; p <= degree; ++p) {
    for (std::size_t i = 0; i < inputs; ++i) result.push_back(std::cos(1.0 + 2.0 * p + 3.0 * static_cast<double>(i)));
  }
  return result;
}

}  // namespace entrain::test
