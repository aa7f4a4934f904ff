#include "numerics/polynomial.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace entrain::numerics {

void shift_origin(const PolynomialBlock& block, double shift) {
  for (int lowest = 0; lowest < block.degree; ++lowest) {  // repeated synthetic division
    for (int p = block.degree - 1; p >= lowest; --p) {
      for (std::size_t i = 0; i < block.count; ++i) block.at(p, i) += shift * block.at(p + 1, i);
    }
  }
}

void project(const PolynomialBlock& block, int degree, double length) {
  // In sigma = s / length the best lower-degree stand-in of a power is the power minus its shifted Legendre polynomial:
  // sigma^3 -> 3/2 sigma^2 - 3/5 sigma + 1/20, sigma^2 -> sigma - 1/6, sigma -> 1/2. Projections nest, so one at a
  // time.
  constexpr std::array<std::array<double, 3>, 4> kStandIn{
      {{0.0, 0.0, 0.0}, {0.5, 0.0, 0.0}, {-1.0 / 6.0, 1.0, 0.0}, {0.05, -0.6, 1.5}}};
  for (int top = block.degree; top > degree; --top) {
    double scale = length;  // length^(top - p)
    for (int p = top - 1; p >= 0; --p, scale *= length) {
      const double weight = kStandIn[static_cast<std::size_t>(top)][static_cast<std::size_t>(p)] * scale;
      for (std::size_t i = 0; i < block.count; ++i) block.at(p, i) += weight * block.at(top, i);
    }
  }
}

void interpolate(std::span<const double> nodes, std::span<const double> values, std::span<double> coefficients) {
  const std::size_t n = nodes.size();
  std::array<double, 4> difference{};
  for (std::size_t j = 0; j < n; ++j) difference[j] = values[j];
  for (std::size_t level = 1; level < n; ++level) {
    for (std::size_t j = n - 1; j >= level; --j) {
      difference[j] = (difference[j] - difference[j - 1]) / (nodes[j] - nodes[j - level]);
    }
  }
  for (std::size_t p = 0; p < n; ++p) coefficients[p] = 0.0;
  coefficients[0] = difference[n - 1];
  for (std::size_t j = n - 1; j-- > 0;) {  // Horner on the Newton form: q <- q (s - node_j) + difference_j
    for (std::size_t p = n - 1; p > 0; --p) coefficients[p] = coefficients[p - 1] - nodes[j] * coefficients[p];
    coefficients[0] = difference[j] - nodes[j] * coefficients[0];
  }
}

void fit_through_first(std::span<const double> nodes, std::span<const double> values, int degree,
                       std::span<double> coefficients) {
  constexpr std::size_t kMostOthers = 4;
  constexpr std::size_t kMostPowers = 3;
  const std::size_t others = nodes.size() - 1;
  const auto powers = static_cast<std::size_t>(degree);
  double longest = 0.0;  // arguments are scaled to [-1, 1], else the powers differ by orders of magnitude
  for (std::size_t r = 1; r <= others; ++r) longest = std::max(longest, std::abs(nodes[r] - nodes[0]));

  std::array<std::array<double, kMostOthers>, kMostPowers> column{};  // column k: the (k+1)-th powers of the arguments
  std::array<std::array<double, kMostPowers>, kMostPowers> factor{};  // R of the factorisation Q R
  std::array<double, kMostOthers> rest{};
  std::array<double, kMostPowers> projected{};
  for (std::size_t r = 0; r < others; ++r) {
    rest[r] = values[r + 1] - values[0];
    double power = 1.0;
    for (std::size_t k = 0; k < powers; ++k) column[k][r] = power *= (nodes[r + 1] - nodes[0]) / longest;
  }
  const auto dot = [&](const auto& a, const auto& b) {
    double sum = 0.0;
    for (std::size_t r = 0; r < others; ++r) sum += a[r] * b[r];
    return sum;
  };
  for (std::size_t k = 0; k < powers; ++k) {  // modified Gram-Schmidt
    factor[k][k] = std::sqrt(dot(column[k], column[k]));
    for (auto& entry : column[k]) entry /= factor[k][k];
    for (std::size_t m = k + 1; m < powers; ++m) {
      factor[k][m] = dot(column[k], column[m]);
      for (std::size_t r = 0; r < others; ++r) column[m][r] -= factor[k][m] * column[k][r];
    }
    projected[k] = dot(column[k], rest);
    for (std::size_t r = 0; r < others; ++r) rest[r] -= projected[k] * column[k][r];
  }
  coefficients[0] = values[0];
  for (std::size_t k = powers; k-- > 0;) {
    double sum = projected[k];
    for (std::size_t m = k + 1; m < powers; ++m) sum -= factor[k][m] * coefficients[m + 1];
    coefficients[k + 1] = sum / factor[k][k];
  }
  double scale = 1.0;
  for (std::size_t k = 0; k < powers; ++k) coefficients[k + 1] /= scale *= longest;
}

}  // namespace entrain::numerics
