#pragma once

#include <cstddef>
#include <span>

namespace entrain::numerics {

/// Polynomials of several signals at once: coefficient p of signal i at coefficients[p * count + i], as in InputBlock.
struct PolynomialBlock {
  double* coefficients = nullptr;
  std::size_t count = 0;
  int degree = 0;

  double& at(int p, std::size_t i) const { return coefficients[static_cast<std::size_t>(p) * count + i]; }
};

/// Re-expands every polynomial about s = shift: q(s) = p(s + shift).
void shift_origin(const PolynomialBlock& block, double shift);

/// Best polynomial of a lower degree in the mean square over [0, length] (docs/theory/inputs.md). Coefficients above
/// `degree` are left untouched and lose their meaning.
void project(const PolynomialBlock& block, int degree, double length);

/// The polynomial through (nodes[j], values[j]), by powers of the argument. Nodes distinct, at most 4.
void interpolate(std::span<const double> nodes, std::span<const double> values, std::span<double> coefficients);

/// The polynomial of the given degree through the first point exactly and nearest to the others in the mean square
/// (F3ORNITS (12)), by powers of the argument measured from the first node. As many other points as the degree, or one
/// more; at most 5 points in all.
void fit_through_first(std::span<const double> nodes, std::span<const double> values, int degree,
                       std::span<double> coefficients);

}  // namespace entrain::numerics
