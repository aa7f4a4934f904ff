#pragma once

#include <array>

namespace entrain::numerics {

/// A value and its slope at one end of an interval.
struct EndPoint {
  double value = 0.0;
  double slope = 0.0;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(value, slope);
  }
};

/// The cubic on [0, length] with these values and slopes at its ends; the only place with these formulas. Each function
/// keeps its order of operations: the last bits of results depend on it.
struct CubicHermite {
  EndPoint left;
  EndPoint right;
  double length = 0.0;

  double rise() const { return right.value - left.value; }

  /// By powers of the argument: v + v' s + (3 r - h (2 v' + w')) s^2 / h^2 + (h (v' + w') - 2 r) s^3 / h^3 with the
  /// rise r = w - v.
  std::array<double, 4> coefficients() const {
    const double r = rise();
    const double end = right.slope * length;
    return {left.value, left.slope, (3.0 * r - 2.0 * left.slope * length - end) / (length * length),
            (left.slope * length + end - 2.0 * r) / (length * length * length)};
  }

  /// The same from the mean slope r / h: rounded otherwise, and results depend on it.
  std::array<double, 4> coefficients_by_mean_slope() const {
    const double mean = rise() / length;
    return {left.value, left.slope, (3.0 * mean - 2.0 * left.slope - right.slope) / length,
            (left.slope + right.slope - 2.0 * mean) / (length * length)};
  }

  /// Without the slope at the left: the parabola v + (2 r - h w') s / h + (h w' - r) s^2 / h^2.
  std::array<double, 4> parabola() const {
    const double r = rise();
    const double end = right.slope * length;
    return {left.value, (2.0 * r - end) / length, (end - r) / (length * length), 0.0};
  }

  /// Of the coefficients by the value at the right end, and by h times the slope there.
  static std::array<double, 4> by_right_value(double h) { return {0.0, 0.0, 3.0 / (h * h), -2.0 / (h * h * h)}; }
  static std::array<double, 4> by_right_slope(double h) { return {0.0, 0.0, -1.0 / (h * h), 1.0 / (h * h * h)}; }
  /// The same of the parabola.
  static std::array<double, 4> parabola_by_right_value(double h) { return {0.0, 2.0 / h, -1.0 / (h * h), 0.0}; }
  static std::array<double, 4> parabola_by_right_slope(double h) { return {0.0, -1.0 / h, 1.0 / (h * h), 0.0}; }

  /// The cubic carried on, `s` behind the right end: w + w' s + c2 s^2 + c3 s^3.
  EndPoint continued(double s) const {
    const double h = length;
    const double r = rise();
    const double c3 = (h * (left.slope + right.slope) - 2.0 * r) / (h * h * h);
    const double c2 = (h * (left.slope + 2.0 * right.slope) - 3.0 * r) / (h * h);
    return {right.value + s * (right.slope + s * (c2 + s * c3)), right.slope + s * (2.0 * c2 + 3.0 * s * c3)};
  }

  double middle() const { return 0.5 * (left.value + right.value) + length * (left.slope - right.slope) / 8.0; }
  double middle_of_parabola() const {
    return left.value + 0.75 * (right.value - left.value) - 0.25 * length * right.slope;
  }

  /// At this share of the interval, 0 .. 1.
  double at(double share) const {
    const double rest = 1.0 - share;
    return rest * rest * ((1.0 + 2.0 * share) * left.value + share * length * left.slope) +
           share * share * ((1.0 + 2.0 * rest) * right.value - rest * length * right.slope);
  }
};

}  // namespace entrain::numerics
