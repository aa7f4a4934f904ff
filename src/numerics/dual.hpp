#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace entrain::numerics {

/// A number with its derivatives by N variables: an expression of such numbers carries its own gradient, exact to
/// rounding (forward differentiation).
template <std::size_t N>
struct Dual {
  double value = 0.0;
  std::array<double, N> slopes{};

  Dual() = default;
  Dual(double constant) : value(constant) {}  // NOLINT(google-explicit-constructor): a constant is a number
  static Dual variable(double value, std::size_t index) {
    Dual result(value);
    result.slopes[index] = 1.0;
    return result;
  }
  /// f(a) with its value and df/da.
  static Dual chain(const Dual& a, double value, double slope) {
    Dual result(value);
    for (std::size_t i = 0; i < N; ++i) result.slopes[i] = slope * a.slopes[i];
    return result;
  }

  friend Dual operator+(const Dual& a, const Dual& b) { return combined(a, b, a.value + b.value, 1.0, 1.0); }
  friend Dual operator-(const Dual& a, const Dual& b) { return combined(a, b, a.value - b.value, 1.0, -1.0); }
  friend Dual operator*(const Dual& a, const Dual& b) { return combined(a, b, a.value * b.value, b.value, a.value); }
  friend Dual operator/(const Dual& a, const Dual& b) {
    const double quotient = a.value / b.value;
    return combined(a, b, quotient, 1.0 / b.value, -quotient / b.value);
  }
  friend Dual operator-(const Dual& a) { return chain(a, -a.value, -1.0); }
  friend Dual sqrt(const Dual& a) {
    const double root = std::sqrt(a.value);
    return chain(a, root, 0.5 / root);
  }
  friend Dual tanh(const Dual& a) {
    const double height = std::tanh(a.value);
    return chain(a, height, 1.0 - height * height);
  }

 private:
  static Dual combined(const Dual& a, const Dual& b, double value, double by_a, double by_b) {
    Dual result(value);
    for (std::size_t i = 0; i < N; ++i) result.slopes[i] = by_a * a.slopes[i] + by_b * b.slopes[i];
    return result;
  }
};

/// The plain value, in an expression that is written for both kinds of numbers.
inline double value_of(double number) {
  return number;
}
template <std::size_t N>
double value_of(const Dual<N>& number) {
  return number.value;
}

}  // namespace entrain::numerics
