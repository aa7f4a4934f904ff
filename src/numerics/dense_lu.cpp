#include "numerics/dense_lu.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numerics/dense.hpp"

namespace entrain::numerics {

struct DenseLu::Factors {
  Eigen::PartialPivLU<Eigen::MatrixXd> lu;
};

DenseLu::DenseLu(const Matrix& matrix)
    : factors_(std::make_unique<Factors>(Factors{Eigen::PartialPivLU<Eigen::MatrixXd>(view(matrix))})) {}
DenseLu::~DenseLu() = default;
DenseLu::DenseLu(DenseLu&&) noexcept = default;
DenseLu& DenseLu::operator=(DenseLu&&) noexcept = default;

void DenseLu::solve(std::span<double> right_side) const {
  Eigen::Map<Eigen::VectorXd> values(right_side.data(), index(right_side.size()));
  values = factors_->lu.solve(values).eval();
}

/// Elimination with row pivots.
std::optional<std::size_t> solve_used_up(Matrix& matrix, std::span<double> right_side) {
  constexpr double kRounding = 1e-12;
  const std::size_t count = right_side.size();
  for (std::size_t c = 0; c < count; ++c) {
    std::size_t pivot = c;
    for (std::size_t row = c + 1; row < count; ++row) {
      if (std::abs(matrix(row, c)) > std::abs(matrix(pivot, c))) pivot = row;
    }
    // What elimination left of the column, against what stood there: above the pivot the eliminated part.
    double largest = 0.0;
    for (std::size_t row = 0; row < count; ++row) largest = std::max(largest, std::abs(matrix(row, c)));
    if (!(std::abs(matrix(pivot, c)) > kRounding * largest)) return c;
    if (pivot != c) {
      for (std::size_t j = 0; j < count; ++j) std::swap(matrix(c, j), matrix(pivot, j));
      std::swap(right_side[c], right_side[pivot]);
    }
    for (std::size_t row = c + 1; row < count; ++row) {
      const double factor = matrix(row, c) / matrix(c, c);
      for (std::size_t j = c + 1; j < count; ++j) matrix(row, j) -= factor * matrix(c, j);
      matrix(row, c) = 0.0;
      right_side[row] -= factor * right_side[c];
    }
  }
  for (std::size_t c = count; c-- > 0;) {
    for (std::size_t j = c + 1; j < count; ++j) right_side[c] -= matrix(c, j) * right_side[j];
    right_side[c] /= matrix(c, c);
  }
  return std::nullopt;
}

}  // namespace entrain::numerics
