#pragma once

#include <cstddef>
#include <vector>

namespace entrain::numerics {

/// A large square matrix M whose entries are not formed, as a sparse one with intermediate results t:
///   M z = P z + Q t,   0 = R z + S t,   so M = P - Q S^-1 R.
struct SchurComplement {
  std::size_t size = 0;  ///< of M: rows and columns below it belong to z, the others to t
  std::size_t all = 0;   ///< of z and t
  struct Entry {
    std::size_t row;
    std::size_t column;
    double value;
  };
  std::vector<Entry> entries;  ///< those of the same place add up
};

/// The largest modulus of an eigenvalue, by inverse iterations from places along the unit circle, and along that of the
/// mean growth where there is one (Spectra): a network of many similar subsystems has hundreds of eigenvalues there,
/// which products alone do not distinguish. If neighbouring eigenvalues on a circle differ much, one between two places
/// can be missed; fast growth may be known to a few percent only. Throws Error{SolverFailed} when nothing is found.
double spectral_radius(const SchurComplement& matrix);

/// By how much repeated products grow a vector in the mean: to a few percent the largest modulus of an eigenvalue, also
/// where there are many of it.
double mean_growth(const SchurComplement& matrix);

/// The largest real part of an eigenvalue, found as the radius is, along the imaginary axis up to `fastest`, the
/// largest modulus.
double spectral_abscissa(const SchurComplement& matrix, double fastest);

}  // namespace entrain::numerics
