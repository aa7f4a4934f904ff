#pragma once

#include "entrain/variable.hpp"

namespace entrain::fmukit {

/// What makes the steps in co-simulation.
enum class InnerSolver {
  Exact,  ///< the model's own `integrate`: exact where the model is linear, or a scheme of its own
  Erk,    ///< explicit Runge-Kutta of order 8 with the tolerance
  Cvode   ///< BDF with the tolerance, for stiff models
};

/// What an FMU offers, decided when it is built. Its description and its library read the same values, so that the
/// flags are true.
struct FmuOptions {
  bool rollback = true;  ///< get, set and serialise the FMU state
  int input_degree = 3;  ///< of inputs inside a step: input derivatives in FMI 2, intermediate update in FMI 3
  bool directional_derivatives = true;
  bool adjoint_derivatives = false;  ///< FMI 3
  bool states = true;                ///< states and derivatives are listed in ModelStructure
  int output_derivative_order = 1;
  bool tunable_parameters = true;  ///< those that are numbers may change during a run
  bool co_simulation = true;
  bool model_exchange = true;    ///< of a model whose states are listed and that does not read u'
  Duration internal_step = 0.0;  ///< FMI 3: inputs held over internal steps of this size; 0 = no such steps
  InnerSolver solver = InnerSolver::Exact;
  double tolerance = 1e-10;  ///< relative and absolute, of the solver if it is not the model's own
  bool strict = false;       ///< a call in the wrong state is an error, and calls are counted
};

}  // namespace entrain::fmukit
