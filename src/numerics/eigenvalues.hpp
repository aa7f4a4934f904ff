#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include "base/function_ref.hpp"
#include "entrain/subsystem.hpp"

namespace entrain {

std::vector<std::complex<double>> eigenvalues(const Matrix& matrix);

/// The largest modulus of an eigenvalue; 0 for an empty matrix, infinity when an entry is not finite.
double spectral_radius(const Matrix& matrix);

/// The same for a large matrix known by its products only, to about 1e-5, by Arnoldi iterations with restarts
/// (Spectra). Throws Error{SolverFailed} when they do not converge.
double spectral_radius(std::size_t size,
                       FunctionRef<void(std::span<const double> vector, std::span<double> product)> multiply);

/// e^(time matrix).
Matrix exponential(const Matrix& matrix, double time);

}  // namespace entrain
