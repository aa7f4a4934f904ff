#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/function_ref.hpp"

namespace entrain::numerics {

/// Solves residual(x) = 0 by Newton's method (KINSOL): dense difference Jacobian for few unknowns, GMRES for many.
/// Allocates at construction only.
class NewtonSolver {
 public:
  using Residual = base::FunctionRef<void(std::span<const double> x, std::span<double> residual)>;
  struct Result {
    bool converged = false;
    int iterations = 0;
    std::string message;  ///< the solver's own words when it did not converge
  };

  explicit NewtonSolver(std::size_t unknowns);
  ~NewtonSolver();
  NewtonSolver(NewtonSolver&&) noexcept;
  NewtonSolver& operator=(NewtonSolver&&) noexcept;

  /// Starts from x and leaves the solution there. Converged: |residual_i| <= tolerance * (1 + |x_i|) for all i.
  /// What `residual` throws is passed on to the caller.
  Result solve(std::span<double> x, double tolerance, Residual residual);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace entrain::numerics
