#include "numerics/propagators.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "numerics/dense.hpp"
#include "numerics/exponential.hpp"
#include "numerics/sparse_rows.hpp"

namespace entrain::numerics {
namespace {

// Taylor steps of norm at most 1: with the highest phi this many terms reach rounding, and alternating terms cancel no
// more than one digit.
constexpr int kTaylorTerms = 18;

/// result = row a
void row_times(std::span<const double> row, const SparseRows& a, std::span<double> result) {
  std::fill(result.begin(), result.end(), 0.0);
  for (std::size_t i = 0; i < row.size(); ++i) a.add_to(i, row[i], result);
}

/// The smaller of the largest row sum and the largest column sum of a square matrix.
double norm_of(const SparseRows& a) {
  const std::size_t states = a.first.size() - 1;
  std::vector<double> columns(states, 0.0);
  double largest_row = 0.0;
  for (std::size_t i = 0; i < states; ++i) {
    double row = 0.0;
    for (std::size_t k = a.first[i]; k < a.first[i + 1]; ++k) {
      row += std::abs(a.values[k]);
      columns[a.columns[k]] += std::abs(a.values[k]);
    }
    largest_row = std::max(largest_row, row);
  }
  const double largest_column = columns.empty() ? 0.0 : *std::max_element(columns.begin(), columns.end());
  return std::min(largest_row, largest_column);
}

/// q_j(s + d) of one output from q_j(s): q_0' = q_0 A and q_j' = q_{j-1}, so only q_0 is multiplied by the matrix.
class RowStep {
 public:
  RowStep(const SparseRows& scaled_a, std::size_t states, std::size_t count)
      : a_(scaled_a), term_(states), next_(states), sums_(count, std::vector<double>(states)) {}

  void advance(std::vector<std::vector<double>>& q, Duration d) {
    integrate(q[0], d);
    for (std::size_t j = 1; j < q.size(); ++j) {
      double power = 1.0;  // d^i / i!
      for (std::size_t i = 0; i < j; ++i) {
        add(sums_[j], power, q[j - i]);
        power *= d / static_cast<double>(i + 1);
      }
    }
    std::swap(q, sums_);
  }

 private:
  /// sums_[j] = d^j q_0 phi_j(d A): the highest by its series, the others by phi_{j-1}(z) = z phi_j(z) + 1 / (j - 1)!.
  void integrate(const std::vector<double>& q0, Duration d) {
    const std::size_t top = sums_.size() - 1;
    std::vector<double> power(top + 1, 1.0);  // d^j / j!
    for (std::size_t j = 1; j <= top; ++j) power[j] = power[j - 1] * d / static_cast<double>(j);
    for (std::size_t i = 0; i < term_.size(); ++i) sums_[top][i] = term_[i] = power[top] * q0[i];
    for (int k = 1; k <= kTaylorTerms; ++k) {
      row_times(term_, a_, next_);
      for (std::size_t i = 0; i < term_.size(); ++i) {
        term_[i] = next_[i] / (k + static_cast<int>(top));
        sums_[top][i] += term_[i];
      }
    }
    for (std::size_t j = top; j > 0; --j) {
      row_times(sums_[j], a_, sums_[j - 1]);
      for (std::size_t i = 0; i < term_.size(); ++i) sums_[j - 1][i] = sums_[j - 1][i] / d + power[j - 1] * q0[i];
    }
  }
  static void add(std::vector<double>& sum, double weight, const std::vector<double>& row) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weight * row[i];
  }

  const SparseRows& a_;
  std::vector<double> term_, next_;
  std::vector<std::vector<double>> sums_;
};

std::vector<Matrix> by_action(SparseRows a, const Matrix& c, Duration h, int count) {
  const auto steps = static_cast<int>(std::max(1.0, std::ceil(h * norm_of(a))));
  const Duration d = h / steps;
  for (double& value : a.values) value *= d;
  const auto orders = static_cast<std::size_t>(count);
  std::vector<Matrix> result(orders, Matrix(c.rows, c.cols));
  RowStep step(a, c.cols, orders);
  std::vector<std::vector<double>> q(orders);
  for (std::size_t i = 0; i < c.rows; ++i) {
    for (auto& row : q) row.assign(c.cols, 0.0);
    for (std::size_t k = 0; k < c.cols; ++k) q[0][k] = c(i, k);
    for (int n = 0; n < steps; ++n) step.advance(q, d);
    for (std::size_t j = 0; j < orders; ++j) {
      for (std::size_t k = 0; k < c.cols; ++k) result[j](i, k) = q[j][k];
    }
  }
  return result;
}

void require_finite(const SparseRows& a, const Matrix& c) {
  const auto finite = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  };
  if (finite(a.values) && finite(c.values)) return;
  throw Error(ErrorCode::SolverFailed, {FactCode::JacobianNotFinite},
              {"", "", std::nullopt, "Check the directional derivatives of this subsystem"});
}

Matrix transposed(const Matrix& m, double factor) {
  return to_matrix(factor * view(m).transpose());
}

/// Stehfest's weights V_k; they alternate and reach 1e9 for 14 terms, hence long double until the end.
std::vector<double> stehfest_weights(int terms) {
  const auto factorial = [](int n) { return std::tgamma(static_cast<long double>(n) + 1.0L); };
  const int half = terms / 2;
  std::vector<double> weights;
  weights.reserve(static_cast<std::size_t>(terms));
  for (int k = 1; k <= terms; ++k) {
    long double sum = 0.0L;
    for (int j = (k + 1) / 2; j <= std::min(k, half); ++j) {
      sum += std::pow(static_cast<long double>(j), half) * factorial(2 * j) /
             (factorial(half - j) * factorial(j) * factorial(j - 1) * factorial(k - j) * factorial(2 * j - k));
    }
    weights.push_back(static_cast<double>((k + half) % 2 == 0 ? sum : -sum));
  }
  return weights;
}

}  // namespace

std::vector<Matrix> propagators(const Matrix& a, const Matrix& c, Duration h, int count) {
  SparseRows entries = sparse_rows(a);
  require_finite(entries, c);
  const double norm = h * norm_of(entries);
  const double states = static_cast<double>(a.rows);
  const double squarings = std::max(0.0, std::ceil(std::log2(std::max(norm, 1.0))));
  const double exponential = 2.0 * states * states * states * (10.0 + squarings);
  const double taylor_steps = std::max(1.0, std::ceil(norm));
  const double per_term = static_cast<double>(entries.values.size()) + 3.0 * states;
  const double action = taylor_steps * (kTaylorTerms + count) * static_cast<double>(c.rows) * per_term;
  // Below a few dozen states the exponential is never slow, and it is the more accurate of the two.
  return states > 40 && action < exponential ? by_action(std::move(entries), c, h, count)
                                             : propagators_by_exponential(a, c, h, count);
}

std::vector<Matrix> propagators_by_exponential(const Matrix& a, const Matrix& c, Duration h, int count) {
  if (a.rows == 0) return std::vector<Matrix>(static_cast<std::size_t>(count), Matrix(c.rows, 0));
  const PhiProducts phi = phi_products(transposed(a, h), transposed(c, 1.0), count - 1);
  std::vector<Matrix> q;
  q.reserve(static_cast<std::size_t>(count));
  q.push_back(to_matrix(view(c) * view(phi.exponential).transpose()));
  double power = 1.0;
  for (const auto& product : phi.products) {
    power *= h;
    q.push_back(transposed(product, power));
  }
  return q;
}

std::vector<Matrix> propagators_by_action(const Matrix& a, const Matrix& c, Duration h, int count) {
  return by_action(sparse_rows(a), c, h, count);
}

std::vector<Matrix> propagators_by_stehfest(const Matrix& a, const Matrix& c, Duration h, int count, int terms) {
  const auto weights = stehfest_weights(terms);
  const auto n = static_cast<Eigen::Index>(a.rows);
  std::vector<RowMajor> sums(static_cast<std::size_t>(count), RowMajor::Zero(static_cast<Eigen::Index>(c.rows), n));
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const double s = static_cast<double>(k + 1) * std::log(2.0) / h;
    const RowMajor resolvent = s * RowMajor::Identity(n, n) - view(a);
    RowMajor rows = resolvent.transpose().partialPivLu().solve(view(c).transpose()).transpose();
    for (auto& sum : sums) {
      sum += weights[k] * std::log(2.0) / h * rows;
      rows /= s;
    }
  }
  std::vector<Matrix> result;
  result.reserve(sums.size());
  for (const auto& sum : sums) result.push_back(to_matrix(sum));
  return result;
}

}  // namespace entrain::numerics
