#include "numerics/state_integrals.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/dense.hpp"

namespace entrain::numerics {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Linearizations by differences have errors of about 1e-8 of their entries.
constexpr double kSame = 1e-6;
constexpr double kRank = 1e-8;

/// Rows and columns scaled so that their largest entries are near 1: what is compared must not depend on units.
struct Balanced {
  MatrixXd matrix;
  VectorXd rows, cols;  ///< matrix = diag(rows) M diag(cols)
};

Balanced balanced(const MatrixXd& m) {
  Balanced result{m, VectorXd::Ones(m.rows()), VectorXd::Ones(m.cols())};
  constexpr int kRounds = 6;
  for (int round = 0; round < kRounds; ++round) {
    for (Index i = 0; i < m.rows(); ++i) {
      const double size = m.cols() > 0 ? result.matrix.row(i).cwiseAbs().maxCoeff() : 0.0;
      if (size == 0.0) continue;
      const double factor = std::exp2(-std::round(0.5 * std::log2(size)));
      result.matrix.row(i) *= factor;
      result.rows[i] *= factor;
    }
    for (Index j = 0; j < m.cols(); ++j) {
      const double size = result.matrix.col(j).cwiseAbs().maxCoeff();
      if (size == 0.0) continue;
      const double factor = std::exp2(-std::round(std::log2(size)));
      result.matrix.col(j) *= factor;
      result.cols[j] *= factor;
    }
  }
  return result;
}

/// Rounding is no weight.
void clear_rounding(VectorXd& weights) {
  const double size = weights.cwiseAbs().maxCoeff();
  for (double& weight : weights) {
    if (std::abs(weight) < kSame * size) weight = 0.0;
  }
}

std::vector<double> to_vector(const VectorXd& values) {
  return {values.data(), values.data() + values.size()};
}

}  // namespace

std::optional<std::vector<double>> integral_of_output(const Linearization& of, std::size_t output) {
  const Index states = index(of.A.rows);
  if (states == 0) return std::nullopt;
  MatrixXd all(states + 1, states + index(of.B.cols));  // [A B], then the row of the output
  all.topRows(states) << view(of.A), view(of.B);
  all.bottomRows(1) << view(of.C).row(index(output)), view(of.D).row(index(output));
  const Balanced scaled = balanced(all);
  const MatrixXd system = scaled.matrix.topRows(states).transpose();
  const VectorXd wanted = scaled.matrix.bottomRows(1).transpose();
  if (wanted.cwiseAbs().maxCoeff() == 0.0) return std::nullopt;
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> factors;
  factors.setThreshold(kRank);
  factors.compute(system);
  VectorXd weights = factors.solve(wanted);
  if (!weights.allFinite() || weights.cwiseAbs().maxCoeff() == 0.0) return std::nullopt;
  clear_rounding(weights);
  const double most = wanted.cwiseAbs().maxCoeff();
  if (!((system * weights - wanted).cwiseAbs().maxCoeff() <= kSame * most)) return std::nullopt;
  return to_vector(weights.cwiseProduct(scaled.rows.head(states)) / scaled.rows[states]);
}

std::vector<InputIntegral> integrals_of_inputs(const Linearization& of, std::span<const unsigned char> inputs) {
  const Index states = index(of.A.rows);
  if (states == 0) return {};
  std::vector<Index> mine, others;
  for (std::size_t i = 0; i < inputs.size(); ++i) (inputs[i] != 0 ? mine : others).push_back(index(i));
  const MatrixXd b = view(of.B);
  MatrixXd zero(states, states + std::ssize(others));  // what the weights must make vanish
  zero << view(of.A), b(Eigen::all, others);
  const Balanced scaled = balanced(zero);
  Eigen::FullPivLU<MatrixXd> lu;
  lu.setThreshold(kRank);
  lu.compute(scaled.matrix.transpose());
  if (lu.dimensionOfKernel() == 0) return {};
  const MatrixXd kernel = lu.kernel();
  std::vector<InputIntegral> found;
  MatrixXd known(0, std::ssize(mine));  // gains of those found, orthogonal
  for (Index k = 0; k < kernel.cols(); ++k) {
    VectorXd weights = kernel.col(k);
    clear_rounding(weights);
    weights = weights.cwiseProduct(scaled.rows);
    VectorXd gains = b(Eigen::all, mine).transpose() * weights;
    const VectorXd sizes = b(Eigen::all, mine).cwiseAbs().transpose() * weights.cwiseAbs();
    for (Index i = 0; i < gains.size(); ++i) {
      if (std::abs(gains[i]) <= kSame * sizes[i]) gains[i] = 0.0;
    }
    const double largest = gains.size() > 0 ? gains.cwiseAbs().maxCoeff() : 0.0;
    if (!(largest > 0.0) || !std::isfinite(largest)) continue;  // a number that never changes
    gains /= largest;
    weights /= largest;
    VectorXd rest = gains;
    for (Index i = 0; i < known.rows(); ++i) rest -= known.row(i).dot(rest) * known.row(i).transpose();
    if (!(rest.norm() > kSame * gains.norm())) continue;  // the same integral again
    known.conservativeResize(known.rows() + 1, Eigen::NoChange);
    known.bottomRows(1) = rest.normalized().transpose();
    InputIntegral integral{to_vector(weights), std::vector<double>(inputs.size(), 0.0)};
    for (std::size_t i = 0; i < mine.size(); ++i) integral.gains[static_cast<std::size_t>(mine[i])] = gains[index(i)];
    found.push_back(std::move(integral));
  }
  return found;
}

}  // namespace entrain::numerics
