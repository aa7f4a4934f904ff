#pragma once

#include <complex>
#include <vector>

#include "entrain/subsystem.hpp"

namespace entrain::numerics {

std::vector<std::complex<double>> eigenvalues(const Matrix& matrix);

/// Of an eigenvalue. One that differs from 1 by at most the square root of the rounding unit counts as 1: free motion
/// has it twice, and a double one is not known more exactly.
double modulus(const std::complex<double>& eigenvalue);

/// The largest modulus of an eigenvalue; 0 for an empty matrix, infinity when an entry is not finite.
double spectral_radius(const Matrix& matrix);

/// e^(time matrix).
Matrix exponential(const Matrix& matrix, double time);

}  // namespace entrain::numerics
