#include "numerics/exponential.hpp"

#include <algorithm>
#include <cmath>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "numerics/dense.hpp"

namespace entrain::numerics {
namespace {

using Dense = Eigen::MatrixXd;

double one_norm(const Dense& m) {
  return m.size() == 0 ? 0.0 : m.cwiseAbs().colwise().sum().maxCoeff();
}

/// The smallest k with 2^k >= norm; powers of two scale without rounding.
int binary_exponent(double norm) {
  int exponent = 0;
  if (norm > 0.0) std::frexp(norm, &exponent);
  return exponent;
}

/// exp(M), phi_1(M) F, ... for one scaling of M. The growth e^M - I is kept beside e^M: a slow mode beside a stiff one
/// differs from I by less than a rounding of I shows after division by 2^20, and squaring would blow that up again.
struct Scaled {
  Dense growth;
  Dense exponential;
  std::vector<Dense> products;
};

/// Taylor series for a norm of at most 1, until the terms are below rounding.
Scaled by_series(const Dense& m, const Dense& f, int count) {
  constexpr double kNegligible = 1e-19;
  const double norm = one_norm(m);
  int terms = 2;
  for (double size = norm; size > kNegligible; ++terms) size *= norm / terms;

  const auto n = m.rows();
  Dense sum = Dense::Identity(n, n);
  for (int k = terms; k > 1; --k) sum = (Dense::Identity(n, n) + m * sum / k).eval();
  Scaled result{m * sum, {}, std::vector<Dense>(static_cast<std::size_t>(count), Dense::Zero(n, f.cols()))};
  result.exponential = Dense::Identity(n, n) + result.growth;

  Dense term = f;  // M^k F / k!
  for (int k = 0; k <= terms; ++k) {
    double weight = 1.0;  // k! / (k + j)!
    for (int j = 1; j <= count; ++j) {
      weight /= k + j;
      result.products[static_cast<std::size_t>(j - 1)] += weight * term;
    }
    term = (m * term / (k + 1)).eval();
  }
  return result;
}

/// One squaring, of the upper block row of exp([[M, F, 0 ..], [0, shift]]). The shift block of the factor is known: its
/// j-th block diagonal is step^j / j!. These exact values keep the error from growing with the number of squarings.
void square(Scaled& row, double step) {
  for (std::size_t j = row.products.size(); j-- > 0;) {
    Dense product = row.products[j] + row.growth * row.products[j];
    double shift = 1.0;
    for (std::size_t distance = 0; distance <= j; ++distance) {
      product += shift * row.products[j - distance];
      shift *= step / static_cast<double>(distance + 1);
    }
    row.products[j] = std::move(product);
  }
  row.growth = (2.0 * row.growth + row.growth * row.growth).eval();
  row.exponential = (row.exponential * row.exponential).eval();
}

/// e^M itself where everything has decayed (I + growth would be rounding), else from the growth.
Dense exponential_of(const Scaled& row) {
  constexpr double kDecayed = 1e-3;
  if (one_norm(row.exponential) < kDecayed) return row.exponential;
  return Dense::Identity(row.growth.rows(), row.growth.cols()) + row.growth;
}

}  // namespace

PhiProducts phi_products(const Matrix& m, const Matrix& f, int count) {
  const Dense argument = view(m);
  Dense factor = view(f);
  if (!argument.allFinite() || !factor.allFinite()) {
    throw Error(ErrorCode::SolverFailed, {FactCode::MatrixNotFinite},
                {"", "", std::nullopt, "Check the parameters of the linear model and the step size"});
  }
  PhiProducts result;
  if (m.rows == 0) {
    result.products.assign(static_cast<std::size_t>(count), Matrix(0, f.cols));
    return result;
  }
  // Each column by itself: a small one beside a large one loses no digits.
  Eigen::VectorXd magnitude(factor.cols());
  for (Eigen::Index j = 0; j < factor.cols(); ++j) {
    magnitude[j] = std::ldexp(1.0, binary_exponent(one_norm(factor.col(j))));
  }
  factor *= magnitude.cwiseInverse().asDiagonal();
  const int scaling = std::max(0, binary_exponent(one_norm(argument)));

  Scaled row = by_series(argument * std::ldexp(1.0, -scaling), factor, count);
  // phi_j(M) F of the scaled M belongs to F scaled alike: the augmented matrix is scaled as a whole.
  double scale = 1.0;
  for (auto& product : row.products) product *= (scale *= std::ldexp(1.0, -scaling));
  for (int k = scaling; k > 0; --k) square(row, std::ldexp(1.0, -k));

  result.exponential = to_matrix(exponential_of(row));
  for (auto& product : row.products) result.products.push_back(to_matrix(product * magnitude.asDiagonal()));
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

}  // namespace entrain::numerics
