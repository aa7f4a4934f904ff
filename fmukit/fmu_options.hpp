#pragma once

namespace entrain::fmukit {

/// What an FMU offers, decided when it is built. Its description and its library read the same values, so that the
/// flags tell the truth.
struct FmuOptions {
  bool rollback = true;  ///< get, set and serialise the FMU state
  int input_degree = 3;  ///< highest order honoured by fmi2SetRealInputDerivatives; FMI 3 has none
  bool directional_derivatives = true;
  bool states = true;  ///< states and derivatives are listed in ModelStructure
  int output_derivative_order = 1;
  bool co_simulation = true;
  bool model_exchange = true;  ///< of a model whose states are listed and that does not read u'
  bool strict = false;         ///< a call in the wrong state is an error, and calls are counted
};

}  // namespace entrain::fmukit
