#pragma once

#include <memory>
#include <span>

#include "base/function_ref.hpp"
#include "entrain/variable.hpp"

namespace entrain {

enum class OdeMethod {
  ExplicitRungeKutta,  ///< ARKODE, Fehlberg 13-7-8: non-stiff, to rounding level
  Bdf,                 ///< CVODE, dense, Jacobian by differences: stiff; 1e-13 is out of its reach
};

struct OdeOptions {
  OdeMethod method = OdeMethod::ExplicitRungeKutta;
  double relative_tolerance = 1e-13;
  double absolute_tolerance = 1e-13;
  long max_steps = 200'000;  ///< per call of integrate
};

/// Integrates dx/dt = f(t, x). Starts afresh in every call: the result depends on (from, to, x, f) alone, bit for bit.
class OdeSolver {
 public:
  /// At least one state.
  explicit OdeSolver(std::size_t states, OdeOptions options = {});
  ~OdeSolver();
  OdeSolver(OdeSolver&&) noexcept;
  OdeSolver& operator=(OdeSolver&&) noexcept;

  using RightHandSide = FunctionRef<void(Time t, std::span<const double> x, std::span<double> dx)>;

  /// Moves x from `from` to `to` > `from`. Throws Error{SolverFailed} with the solver's own words, or what the function
  /// throws. A derivative that is not finite counts as a failure.
  void integrate(Time from, Time to, std::span<double> x, RightHandSide function);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace entrain
