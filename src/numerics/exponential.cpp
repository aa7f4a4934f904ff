#include "numerics/exponential.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <unsupported/Eigen/MatrixFunctions>

#include "entrain/error.hpp"

namespace entrain {
namespace {

using Dense = Eigen::MatrixXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Dense to_dense(const Matrix& m) {
  return Eigen::Map<const RowMajor>(m.values.data(), static_cast<Eigen::Index>(m.rows),
                                    static_cast<Eigen::Index>(m.cols));
}

Matrix to_matrix(const Dense& m) {
  Matrix result(static_cast<std::size_t>(m.rows()), static_cast<std::size_t>(m.cols()));
  Eigen::Map<RowMajor>(result.values.data(), m.rows(), m.cols()) = m;
  return result;
}

double one_norm(const Dense& m) {
  return m.size() == 0 ? 0.0 : m.cwiseAbs().colwise().sum().maxCoeff();
}

/// The smallest k with 2^k >= norm; powers of two scale without rounding.
int binary_exponent(double norm) {
  int exponent = 0;
  if (norm > 0.0) std::frexp(norm, &exponent);
  return exponent;
}

/// The upper block row of exp([[m, f, 0 ..], [0, shift]] 2^-scaling); the norm of the argument is at most 1, so that
/// Eigen does no squaring of its own.
struct UpperRow {
  Dense exponential;
  std::vector<Dense> products;
};

UpperRow exponential_of_scaled(const Dense& m, const Dense& f, int count, int scaling) {
  const auto n = m.rows();
  const auto width = f.cols();
  const auto size = n + width * count;
  Dense augmented = Dense::Zero(size, size);
  augmented.topLeftCorner(n, n) = m;
  augmented.block(0, n, n, width) = f;
  for (Eigen::Index i = n; i + width < size; ++i) augmented(i, i + width) = 1.0;
  augmented *= std::ldexp(1.0, -scaling);
  const Dense result = augmented.exp();
  UpperRow row{result.topLeftCorner(n, n), {}};
  for (int j = 0; j < count; ++j) row.products.emplace_back(result.block(0, n + j * width, n, width));
  return row;
}

/// One squaring. The shift block of the factor is known: its j-th block diagonal is step^j / j!. Using these exact
/// values, instead of what earlier squarings made of them, keeps the error from growing with the number of squarings.
void square(UpperRow& row, double step) {
  for (std::size_t j = row.products.size(); j-- > 0;) {
    Dense product = row.exponential * row.products[j];
    double shift = 1.0;
    for (std::size_t distance = 0; distance <= j; ++distance) {
      product += shift * row.products[j - distance];
      shift *= step / static_cast<double>(distance + 1);
    }
    row.products[j] = std::move(product);
  }
  row.exponential = (row.exponential * row.exponential).eval();
}

}  // namespace

PhiProducts phi_products(const Matrix& m, const Matrix& f, int count) {
  const Dense argument = to_dense(m);
  Dense factor = to_dense(f);
  if (!argument.allFinite() || !factor.allFinite()) {
    throw Error(ErrorCode::SolverFailed, "the matrix of a linear step is not finite",
                {"", "", std::nullopt, "Check the parameters of the linear model and the step size"});
  }
  PhiProducts result;
  if (m.rows == 0) {
    result.products.assign(static_cast<std::size_t>(count), Matrix(0, f.cols));
    return result;
  }
  const int factor_exponent = binary_exponent(one_norm(factor));
  factor *= std::ldexp(1.0, -factor_exponent);
  const int scaling = std::max(0, binary_exponent(one_norm(argument)));

  UpperRow row = exponential_of_scaled(argument, factor, count, scaling);
  for (int k = scaling; k > 0; --k) square(row, std::ldexp(1.0, -k));

  result.exponential = to_matrix(row.exponential);
  for (auto& product : row.products) result.products.push_back(to_matrix(product * std::ldexp(1.0, factor_exponent)));
  return result;
}

PhiBlocks exact_step_matrices(const Matrix& a, const Matrix& b, Duration h, int degree) {
  Matrix argument = a;
  for (double& value : argument.values) value *= h;
  auto [exponential, gamma] = phi_products(argument, b, degree + 1);
  double factor = h;  // p! h^(p+1)
  for (std::size_t p = 0; p < gamma.size(); ++p) {
    if (p > 0) factor *= static_cast<double>(p) * h;
    for (double& value : gamma[p].values) value *= factor;
  }
  return {std::move(exponential), std::move(gamma)};
}

}  // namespace entrain
