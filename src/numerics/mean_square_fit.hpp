#pragma once

#include <array>
#include <span>

namespace entrain::numerics {

/// The best polynomial in the mean square over [0, length] of a curve that becomes known piece by piece. However wild
/// the curve, it has its mean, and every moment up to its degree.
class MeanSquareFit {
 public:
  static constexpr int kHighestDegree = 3;

  void begin(double length);
  /// The curve between two arguments (what lies outside [0, length] does not count): a polynomial by powers of the
  /// argument measured from `origin`.
  void add(double from, double to, std::span<const double> polynomial, double origin);
  /// By powers of the argument. Everything up to `length` must have been added.
  std::array<double, kHighestDegree + 1> best(int degree) const;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(length_, moments_);
  }

 private:
  double length_ = 0.0;
  std::array<double, kHighestDegree + 1> moments_{};  // with the Legendre polynomials of argument / length
};

}  // namespace entrain::numerics
