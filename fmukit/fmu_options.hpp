#pragma once

#include "entrain/variable.hpp"

namespace entrain::fmukit {

/// What an FMU offers, decided when it is built. Its description and its library read the same values, so that the
/// flags tell the truth.
struct FmuOptions {
  bool rollback = true;  ///< get, set and serialise the FMU state
  int input_degree = 3;  ///< of inputs inside a step: input derivatives in FMI 2, intermediate update in FMI 3
  bool directional_derivatives = true;
  bool adjoint_derivatives = false;  ///< FMI 3
  bool states = true;                ///< states and derivatives are listed in ModelStructure
  int output_derivative_order = 1;
  bool co_simulation = true;
  bool model_exchange = true;    ///< of a model whose states are listed and that does not read u'
  Duration internal_step = 0.0;  ///< FMI 3: inputs held over internal steps of this size; 0 = no such steps
  bool strict = false;           ///< a call in the wrong state is an error, and calls are counted
};

}  // namespace entrain::fmukit
