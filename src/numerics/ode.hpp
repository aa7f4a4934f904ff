#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/function_ref.hpp"
#include "entrain/variable.hpp"
#include "numerics/column_groups.hpp"

namespace entrain::numerics {

enum class OdeMethod {
  ExplicitRungeKutta,  ///< ARKODE, Fehlberg 13-7-8: non-stiff, to rounding level
  Adams,               ///< CVODE, fixed-point iteration: non-stiff; pays where it is not started afresh
  Bdf,                 ///< CVODE, Jacobian by differences unless given: stiff; 1e-13 is out of its reach
};

// What solves the linear equations of Bdf (numerics/ode_linear_solver.hpp).
class OdeLinearSolver;
struct OdeLinearSetup;
std::unique_ptr<OdeLinearSolver> dense_linear_solver(const OdeLinearSetup& setup);

struct OdeOptions {
  OdeMethod method = OdeMethod::ExplicitRungeKutta;
  double relative_tolerance = 1e-13;
  double absolute_tolerance = 1e-13;
  std::vector<double> absolute_tolerances = {};  ///< one per state, in place of the common one; empty = none
  long max_steps = 200'000;                      ///< per call of integrate
  /// What it cannot integrate ends with Cause::GaveUp, not with an error: another integrator may go on from there.
  bool may_give_up = false;
  std::size_t indicators = 0;  ///< how many functions are watched for a change of sign
  /// Bdf only: where the Jacobian can be other than zero, when OdeProblem::jacobian_product is given.
  std::optional<SparsityPattern> jacobian = std::nullopt;
  /// Bdf only: dense_linear_solver, or with a `jacobian` also sparse_linear_solver (numerics/sparse_ode.hpp).
  std::unique_ptr<OdeLinearSolver> (*linear_solver)(const OdeLinearSetup& setup) = dense_linear_solver;
};

/// dx/dt = f(t, x) and what belongs to its integration. Borrowed functions.
struct OdeProblem {
  using RightHandSide = base::FunctionRef<void(Time t, std::span<const double> x, std::span<double> dx)>;
  using Indicators = base::FunctionRef<void(Time t, std::span<const double> x, std::span<double> z)>;
  using JacobianProduct = base::FunctionRef<void(Time t, std::span<const double> x, std::span<const double> seed,
                                                 std::span<double> product)>;
  /// Called after every internal step, the last one included; true = stop here.
  using StepCompleted = base::FunctionRef<bool(Time t, std::span<const double> x)>;

  RightHandSide derivatives;
  std::optional<Indicators> indicators = std::nullopt;             ///< when OdeOptions::indicators > 0
  std::optional<JacobianProduct> jacobian_product = std::nullopt;  ///< df/dx seed, when OdeOptions::jacobian is given
  std::optional<StepCompleted> step_completed = std::nullopt;
};

struct [[nodiscard]] OdeReached {
  enum class Cause { End, Indicator, Stopped, GaveUp };
  Time time = 0.0;
  Cause cause = Cause::End;
};

/// Integrates dx/dt = f(t, x). Starts afresh in every call but go_on: the result depends on (from, to, x, f) alone, bit
/// for bit.
class OdeSolver {
 public:
  /// At least one state.
  explicit OdeSolver(std::size_t states, OdeOptions options = {});
  ~OdeSolver();
  OdeSolver(OdeSolver&&) noexcept;
  OdeSolver& operator=(OdeSolver&&) noexcept;

  /// Moves x from `from` to `to` > `from`. Throws Error{SolverFailed} with the message of the solver, or what the
  /// function throws. A derivative that is not finite counts as a failure.
  void integrate(Time from, Time to, std::span<double> x, OdeProblem::RightHandSide function);
  /// As integrate, but ends where an indicator has just changed its sign, or where `step_completed` returns true. There
  /// it has its new sign, and is not zero, unless it only touches zero. An indicator that is zero at `from` counts from
  /// where it leaves zero.
  OdeReached advance(Time from, Time to, std::span<double> x, const OdeProblem& problem);
  /// As advance, but where the last call ended at `from` and x, with Cause::End, its step size and history are kept:
  /// the result depends on all calls since the last start.
  OdeReached go_on(Time from, Time to, std::span<double> x, const OdeProblem& problem);
  /// Internal steps of the last call.
  long steps() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace entrain::numerics
