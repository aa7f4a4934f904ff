#include "numerics/eigenvalues.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <limits>
#include <numeric>

#include "numerics/dense.hpp"
#include "numerics/exponential.hpp"

namespace entrain::numerics {
namespace {

/// A column of zeros means an eigenvalue 0; without it, and the row of the same number, the others stay. What a macro
/// step overwrites before it reads has such columns, a third and more of a step matrix.
Eigen::MatrixXd without_zero_columns(const Matrix& matrix) {
  std::vector<std::size_t> kept(matrix.rows);
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  const auto is_zero = [&](std::size_t column) {
    return std::all_of(kept.begin(), kept.end(), [&](std::size_t row) { return matrix(row, column) == 0.0; });
  };
  for (auto zero = std::find_if(kept.begin(), kept.end(), is_zero); zero != kept.end();) {
    kept.erase(zero);
    zero = std::find_if(kept.begin(), kept.end(), is_zero);
  }
  Eigen::MatrixXd result(static_cast<Eigen::Index>(kept.size()), static_cast<Eigen::Index>(kept.size()));
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (std::size_t j = 0; j < kept.size(); ++j) {
      result(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = matrix(kept[i], kept[j]);
    }
  }
  return result;
}

}  // namespace

std::vector<std::complex<double>> eigenvalues(const Matrix& matrix) {
  if (matrix.rows == 0) return {};
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(view(matrix), false);
  const auto& values = solver.eigenvalues();
  return {values.begin(), values.end()};
}

double modulus(const std::complex<double>& eigenvalue) {
  constexpr double kRootOfRounding = 1e-7;
  return std::abs(eigenvalue - 1.0) <= kRootOfRounding ? 1.0 : std::abs(eigenvalue);
}

double spectral_radius(const Matrix& matrix) {
  if (!view(matrix).allFinite()) return std::numeric_limits<double>::infinity();
  const Eigen::MatrixXd rest = without_zero_columns(matrix);
  if (rest.size() == 0) return 0.0;
  double largest = 0.0;
  for (const auto& value : rest.eigenvalues()) largest = std::max(largest, modulus(value));
  return largest;
}

Matrix exponential(const Matrix& matrix, double time) {
  Matrix scaled = matrix;
  for (double& value : scaled.values) value *= time;
  return phi_products(scaled, Matrix(matrix.rows, 0), 0).exponential;
}

}  // namespace entrain::numerics
