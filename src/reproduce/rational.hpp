#pragma once

#include "entrain/subsystem.hpp"

namespace entrain::reproducing {

/// C (sI - A)^-1 as rational functions of s, whose coefficients are found from Hessenberg forms, in the manner of Misra
/// and Patel ("Computation of transfer function matrices of linear multivariable systems", Automatica 23, 1987),
/// against a solution of linear equations at every node k ln 2 / h, k = 1 .. 14, of Gaver and Stehfest: the largest
/// relative difference. For one output and two states.
double worst_rational_difference(const Matrix& a, const Matrix& c, Duration h);

/// Coefficients of det(sI - A) by powers of s, the highest (1) last.
std::vector<double> characteristic_polynomial(Matrix a);

}  // namespace entrain::reproducing
