#include "numerics/mean_square_fit.hpp"

#include <algorithm>
#include <cstddef>

namespace entrain::numerics {
namespace {

/// Legendre polynomials on [0, 1], by powers; the integral of the square of row k is 1 / (2 k + 1).
constexpr double kLegendre[4][4] = {{1, 0, 0, 0}, {-1, 2, 0, 0}, {1, -6, 6, 0}, {-1, 12, -30, 20}};

/// Gauss's rule on [0, 1] with four points: exact for the product of two cubics.
constexpr double kNodes[4] = {0.06943184420297371, 0.33000947820757187, 0.6699905217924281, 0.9305681557970262};
constexpr double kWeights[4] = {0.17392742256872692, 0.3260725774312731, 0.3260725774312731, 0.17392742256872692};

double value_at(std::span<const double> coefficients, double s) {
  double value = 0.0;
  for (std::size_t p = coefficients.size(); p-- > 0;) value = value * s + coefficients[p];
  return value;
}

}  // namespace

void MeanSquareFit::begin(double length) {
  length_ = length;
  moments_ = {};
}

void MeanSquareFit::add(double from, double to, std::span<const double> polynomial, double origin) {
  from = std::max(from, 0.0);
  to = std::min(to, length_);
  if (!(to > from)) return;
  for (std::size_t g = 0; g < 4; ++g) {
    const double s = from + kNodes[g] * (to - from);
    const double weighted = kWeights[g] * (to - from) / length_ * value_at(polynomial, s - origin);
    for (std::size_t k = 0; k < moments_.size(); ++k) moments_[k] += weighted * value_at(kLegendre[k], s / length_);
  }
}

std::array<double, MeanSquareFit::kHighestDegree + 1> MeanSquareFit::best(int degree) const {
  std::array<double, kHighestDegree + 1> coefficients{};
  for (std::size_t k = 0; k <= static_cast<std::size_t>(degree); ++k) {
    double power = 1.0;  // of the length
    for (std::size_t p = 0; p <= k; ++p, power *= length_) {
      coefficients[p] += static_cast<double>(2 * k + 1) * moments_[k] * kLegendre[k][p] / power;
    }
  }
  return coefficients;
}

}  // namespace entrain::numerics
