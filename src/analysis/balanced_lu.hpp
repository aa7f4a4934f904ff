#pragma once

// For the .cpp files of analysis/ only: Eigen stays inside.
#include <Eigen/LU>
#include <cmath>

#include "numerics/dense.hpp"

namespace entrain::analysis {

/// Equations I - K, as couplings have them: whether they have one solution is judged in units that make the entries
/// alike, because a spring of 1e9 N/m beside a displacement in m is no loop without a solution.
class BalancedLu {
 public:
  explicit BalancedLu(const Eigen::MatrixXd& equations) : lu_(equations), balanced_(balanced(equations)) {}

  bool invertible() const { return balanced_.isInvertible(); }
  /// Not zero for the unknowns that a singular matrix leaves open.
  Eigen::MatrixXd kernel() const { return balanced_.kernel(); }
  Eigen::MatrixXd solve(const Eigen::MatrixXd& right) const { return lu_.solve(right); }

 private:
  /// Osborne's iteration: each unknown in the unit in which its row and its column are of the same size. An unknown
  /// that nothing depends on, or that depends on nothing, lies on no loop.
  static Eigen::MatrixXd balanced(Eigen::MatrixXd of) {
    constexpr double kAlike = 2.0;
    const Eigen::VectorXd diagonal = of.diagonal();
    bool changed = true;
    for (Eigen::Index sweep = 0; changed && sweep < 2 * of.rows() + 10; ++sweep) {
      changed = false;
      for (Eigen::Index i = 0; i < of.rows(); ++i) {
        of(i, i) = 0.0;
        const double row = of.row(i).cwiseAbs().sum();
        const double column = of.col(i).cwiseAbs().sum();
        double unit = row > 0.0 && column > 0.0 ? std::sqrt(column / row) : 0.0;
        const bool matters =
            unit > kAlike || (unit > 0.0 && unit < 1.0 / kAlike) || (unit == 0.0 && row + column > 0.0);
        if (matters) {
          of.row(i) *= unit;
          of.col(i) *= unit > 0.0 ? 1.0 / unit : 0.0;
          changed = true;
        }
        of(i, i) = diagonal[i];
      }
    }
    return of;
  }

  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
  Eigen::FullPivLU<Eigen::MatrixXd> balanced_;
};

}  // namespace entrain::analysis
