#include "estimate/sample_polynomial.hpp"

#include <algorithm>
#include <cmath>

namespace entrain::estimate {

std::span<const double> SamplePolynomial::weights(std::span<const Time> nodes, Time from, Duration size) {
  // Equal steps differ by the rounding of the times; far less than this matters.
  constexpr double kAlike = 1e-9;
  const std::size_t n = nodes.size();
  shares_.resize(n);
  for (std::size_t j = 0; j < n; ++j) shares_[j] = (nodes[j] - from) / size;
  const auto alike = [](double a, double b) { return std::abs(a - b) < kAlike; };
  if (std::equal(shares_.begin(), shares_.end(), kept_.begin(), kept_.end(), alike)) return weights_;
  kept_ = shares_;
  weights_.assign(n * n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {  // the Lagrange polynomial of node j, factor by factor
    product_.assign(n, 0.0);
    product_[0] = 1.0;
    for (std::size_t other = 0; other < n; ++other) {
      if (other == j) continue;
      const double scale = 1.0 / (shares_[j] - shares_[other]);
      for (std::size_t p = n; p-- > 0;) {
        product_[p] = scale * ((p > 0 ? product_[p - 1] : 0.0) - shares_[other] * product_[p]);
      }
    }
    for (std::size_t p = 0; p < n; ++p) weights_[p * n + j] = product_[p];
  }
  return weights_;
}

}  // namespace entrain::estimate
