#pragma once

#include <optional>
#include <vector>

#include "analysis/step_program.hpp"
#include "entrain/quality.hpp"

namespace entrain::analysis {

/// Up to here matrices are dense; beyond, the largest eigenvalue is found from products with the program alone.
inline constexpr std::size_t kLargestDense = 400;

/// z after one cycle = matrix z before.
Matrix step_matrix(const StepProgram& program);

/// Per macro step: below 1 the coupling is stable.
double step_radius(const StepProgram& program);

/// The connection defect, input at the end of a step minus output there, after two cycles from a consistent start with
/// any state of length 1: || (S_u - L S_y) Phi^2 Phi_0^inf R_v ||_F (Glumac and Kovacic 2019, (59), as verified).
/// Inputs of degree 1 and more have the samples of the exact motion at the start, and the state is that at the oldest
/// of them; so it is of order degree + 1 in the step.
double relative_consistency(const StepProgram& program, const ExactCoupling& exact);

/// Does the fixed-point initialisation of the paper converge, conditions (50) and (51)? It does when the part of Phi_0
/// that carries signals to signals contracts; then the limit is unique too. The degree of the inputs does not matter,
/// because no time passes.
Initialisation fixed_point_initialisation(const StepProgram& program);

/// The size of the smallest change of one subsystem's step [G^vv G^vu] (2-norm, complex) that makes the coupling
/// unstable: 1 / max over the unit circle of || K (zeta I - Phi)^-1 E ||_2. 0 when it is unstable already. Needs a
/// cycle of one macro step.
double structured_radius(const StepProgram& program, std::size_t subsystem);

}  // namespace entrain::analysis
