#pragma once

#include <vector>

#include "entrain/subsystem.hpp"

namespace entrain::numerics {

/// Q_j = h^j C phi_j(h A), j = 0 .. count - 1, where phi_j(z) = sum_k z^k / (k + j)!: what a linear system
/// dx/ds = A x + r(s), y = C x makes of its start (j = 0) and of a constant, linear, .. rate r (Q_1, Q_2, ..) over h.
/// Each is as large as C. Accurate to rounding relative to the largest of them (docs/theory/costarica.md).
std::vector<Matrix> propagators(const Matrix& a, const Matrix& c, Duration h, int count);

/// By one exponential of the augmented matrix: few states, any norm.
std::vector<Matrix> propagators_by_exponential(const Matrix& a, const Matrix& c, Duration h, int count);
/// By Taylor steps of the rows of C under A^T, A taken as sparse: many states, moderate norm.
std::vector<Matrix> propagators_by_action(const Matrix& a, const Matrix& c, Duration h, int count);
/// By the Gaver-Stehfest inversion of C (sI - A)^-1 / s^j, as the papers do; `terms` is even. For comparison only:
/// it has errors of tens of per cent for oscillations, and is infinite or not a number when a node is a pole.
std::vector<Matrix> propagators_by_stehfest(const Matrix& a, const Matrix& c, Duration h, int count, int terms);

}  // namespace entrain::numerics
