#pragma once

#include <memory>
#include <span>
#include <vector>

#include "numerics/ode.hpp"

namespace entrain::numerics {

/// All that a multistep method knows of the steps before: with it and the state an integration goes on as if it had
/// never been interrupted, bit for bit. A plain value, so that it can be saved with the state (ADR 0052).
struct MultistepMemory {
  int order = 0;                 ///< 0 = nothing is known: the next integration starts afresh
  bool stiff = false;            ///< BDF of order 1 to 5, else Adams of order 1 to 12
  Duration step = 0.0;           ///< that the rows are scaled with
  Duration wanted = 0.0;         ///< what the local errors allow; steps are shortened so that they end where they must
  int wait = 0;                  ///< steps until order and step are thought over
  double growth = 0.0;           ///< at most, of the next change of the step
  double trouble = 0.0;          ///< of the iteration without a Jacobian, lately: stiff when there is much
  int jacobian_age = 0;          ///< in steps
  double gamma = 0.0;            ///< step times coefficient that the Newton matrix was made with; 0 = there is none
  std::vector<double> rows;      ///< Nordsieck's: h^j x^(j) / j!, j = 0 .. order
  std::vector<double> previous;  ///< the correction of the step before
  std::vector<double> jacobian;  ///< row by row

  /// All but whether it is stiff: a step that begins an integration starts afresh.
  void forget() {
    order = 0;
    gamma = 0.0;
    for (auto* numbers : {&rows, &previous, &jacobian}) numbers->clear();
  }
  template <class Visitor>
  void fields(Visitor& visit) {
    visit(order, stiff, step, wanted, wait, growth, trouble, jacobian_age, gamma, rows, previous, jacobian);
  }
};

/// Integrates dx/dt = f(t, x) by Nordsieck's form of the methods of Adams and of the backward differentiation formulas
/// (Gear 1971; the coefficients and the choice of order and step are those of LSODE, Hindmarsh 1983). The integrators
/// of SUNDIALS cannot give their memory away, so that what goes on over several calls cannot be saved with them.
class MultistepSolver {
 public:
  /// At least one state. `options.method` is not used: it begins as MultistepMemory::stiff says.
  explicit MultistepSolver(std::size_t states, OdeOptions options);
  ~MultistepSolver();
  MultistepSolver(MultistepSolver&&) noexcept;
  MultistepSolver& operator=(MultistepSolver&&) noexcept;

  /// As OdeSolver::advance, from where `memory` got to. Cause::GaveUp, with nothing in the memory, where another
  /// integrator must go on.
  OdeReached advance(Time from, Time to, std::span<double> x, const OdeProblem& problem, MultistepMemory& memory);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace entrain::numerics
