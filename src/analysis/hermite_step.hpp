#pragma once

#include "analysis/linear_network.hpp"
#include "entrain/method_traits.hpp"
#include "entrain/subsystem.hpp"

namespace entrain::analysis {

/// What is known where a step begins.
enum class StepStart {
  Slopes,    ///< the slopes that the step before ended with: cubics
  NoSlopes,  ///< at the start of a run: parabolas through the value there and both at the end
};

/// One macro step of an implicit method whose inputs are cubic Hermite polynomials with consistent ends, on
/// z = [x; w; dw]: states, values and slopes of the inputs at the start of the step. A subsystem that takes a lower
/// degree gets the best fit, and its outputs are brought to the end of the polynomial (docs/theory/trials.md).
///
/// Throws Error{LoopNotSolved} when the coupling equations are singular.
Matrix hermite_step_matrix(const LinearNetwork& network, Duration step, StepEnd from,
                           StepStart start = StepStart::Slopes);

}  // namespace entrain::analysis
