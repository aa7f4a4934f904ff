#pragma once

#include "analysis/step_program.hpp"

namespace entrain {

/// One macro step of an implicit method whose inputs are cubic Hermite polynomials with consistent ends, as `ifosmondi`
/// converges to and `missiles` solves for, on z = [x; w; dw]: states, values and slopes of the inputs at the start of
/// the step. A subsystem that takes a lower degree gets the best fit. `steps` are those of degree 3.
///
/// Throws Error{LoopNotSolved} when the coupling equations are singular.
Matrix hermite_step_matrix(const LinearNetwork& network, std::span<const SubsystemStep> steps, Duration step);

}  // namespace entrain
