#include "numerics/interface_columns.hpp"

#include <algorithm>
#include <cmath>

namespace entrain::numerics {
namespace {

constexpr std::size_t kMostColumns = 64;
// Of a column's length: what is left of it beside the newer ones must be more, else it is rounding or out of date.
constexpr double kNewDirection = 1e-6;
constexpr double kMuchWorse = 4.0;  // of a residual: the columns of earlier solves mislead

double dot(const double* a, const double* b, std::size_t n) {
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

InterfaceColumns::InterfaceColumns(std::size_t unknowns)
    : unknowns_(unknowns),
      most_(std::min(2 * unknowns, kMostColumns)),
      last_residual_(unknowns),
      last_image_(unknowns),
      basis_(most_ * unknowns),
      triangle_(most_ * most_),
      rest_(unknowns),
      weights_(most_) {
  used_.reserve(most_);
  memory_.residuals.assign(most_ * unknowns, 0.0);
  memory_.images.assign(most_ * unknowns, 0.0);
}

void InterfaceColumns::begin() {
  evaluated_ = false;
  of_this_ = 0;
}

void InterfaceColumns::clear() {
  memory_.count = 0;
  of_this_ = 0;
}

void InterfaceColumns::add_difference(std::span<const double> residual, std::span<const double> image) {
  const auto shift = [&](std::vector<double>& columns) {
    std::copy_backward(columns.begin(), columns.end() - static_cast<std::ptrdiff_t>(unknowns_), columns.end());
  };
  shift(memory_.residuals);
  shift(memory_.images);
  for (std::size_t i = 0; i < unknowns_; ++i) {
    memory_.residuals[i] = residual[i] - last_residual_[i];
    memory_.images[i] = image[i] - last_image_[i];
  }
  memory_.count = std::min(memory_.count + 1, most_);
  of_this_ = std::min(of_this_ + 1, most_);
}

/// next = image + W a, where a minimises |V a + residual|; V and W are the differences of residuals and images.
void InterfaceColumns::evaluated(std::span<const double> residual, std::span<const double> image,
                                 std::span<double> next) {
  const double norm = std::sqrt(dot(residual.data(), residual.data(), unknowns_));
  if (evaluated_) {
    add_difference(residual, image);
    if (norm > kMuchWorse * last_norm_) memory_.count = of_this_;
  }
  evaluated_ = true;
  last_norm_ = norm;
  std::copy(residual.begin(), residual.end(), last_residual_.begin());
  std::copy(image.begin(), image.end(), last_image_.begin());
  used_.clear();
  for (std::size_t c = 0; c < memory_.count && used_.size() < unknowns_; ++c) {
    const double* const column = memory_.residuals.data() + c * unknowns_;
    std::copy_n(column, unknowns_, rest_.begin());
    const double length = std::sqrt(dot(column, column, unknowns_));
    for (std::size_t k = 0; k < used_.size(); ++k) {
      const double* const direction = basis_.data() + k * unknowns_;
      const double part = dot(direction, rest_.data(), unknowns_);
      triangle_[k * most_ + used_.size()] = part;
      for (std::size_t i = 0; i < unknowns_; ++i) rest_[i] -= part * direction[i];
    }
    const double left = std::sqrt(dot(rest_.data(), rest_.data(), unknowns_));
    if (!(left > kNewDirection * length)) continue;
    triangle_[used_.size() * most_ + used_.size()] = left;
    for (std::size_t i = 0; i < unknowns_; ++i) basis_[used_.size() * unknowns_ + i] = rest_[i] / left;
    used_.push_back(c);
  }
  std::copy(image.begin(), image.end(), next.begin());
  for (std::size_t back = used_.size(); back > 0; --back) {
    const std::size_t k = back - 1;
    double value = -dot(basis_.data() + k * unknowns_, residual.data(), unknowns_);
    for (std::size_t m = k + 1; m < used_.size(); ++m) value -= triangle_[k * most_ + m] * weights_[m];
    weights_[k] = value / triangle_[k * most_ + k];
    const double* const column = memory_.images.data() + used_[k] * unknowns_;
    for (std::size_t i = 0; i < unknowns_; ++i) next[i] += weights_[k] * column[i];
  }
}

}  // namespace entrain::numerics
