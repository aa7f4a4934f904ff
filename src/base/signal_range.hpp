#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string>

namespace entrain::base {

/// How small the size of a signal may be before it is no measure of an error. Every floor of the engine is here.
namespace size_floor {

/// Of its magnitude: the range of a signal that rests is rounding.
inline constexpr double kResting = 1e-6;
/// Of its largest magnitude so far, for errors relative to the signal as it is. A tenth, because an error made while
/// all is quiet is a relative one when the signal has grown; less would chase signals that pass through zero.
inline constexpr double kQuiet = 0.1;
/// Of the largest signal of the same unit: what moves so much less than others rests, and rounding moves it.
inline constexpr double kOfUnit = 1e-9;
/// Of the signals around a subsystem: what its outputs may move by without meaning anything.
inline constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();
/// In the unit of the signal: sizes are divided by each other, and a signal that an excitation far away has hardly
/// reached may be as small as numbers get.
inline constexpr double kDivisible = 1e-100;

}  // namespace size_floor

/// The range in which a signal has moved: what its errors are measured by.
struct SignalRange {
  double low = 0.0;
  double high = 0.0;

  /// Before any value.
  static constexpr SignalRange nothing() {
    return {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  }
  static SignalRange of(std::span<const double> values) {
    SignalRange range = nothing();
    for (const double value : values) range.take(value);
    return range;
  }

  void begin(double value) { low = high = value; }
  // Few values change a range once it is wide: comparing costs less than storing. NaN changes nothing.
  void take(double value) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  /// Forgets this share of it on either side.
  void narrow(double share) {
    const double forgotten = share * span();
    high -= forgotten;
    low += forgotten;
  }

  double span() const { return high - low; }
  double magnitude() const { return std::max(std::abs(low), std::abs(high)); }
  /// The span, at least this share of the magnitude.
  double size(double least_share) const { return std::max(span(), least_share * magnitude()); }
  /// The span; of a signal that has not moved, its magnitude.
  double span_or_magnitude() const { return high > low ? high - low : std::abs(high); }

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(low, high);
  }
};

/// A size that others can be divided by: 1 for that of a signal that was always zero, or next to it.
inline double divisible_size(double size) {
  return size > size_floor::kDivisible ? size : 1.0;
}

/// How large the signals of each unit are, and so how small one of them may be before its own size is no measure of an
/// error.
class UnitSizes {
 public:
  void take(const std::string& unit, double size) {
    if (unit.empty()) return;  // without a unit they may be anything
    auto& largest = largest_[unit];
    largest = std::max(largest, size);
  }
  double least(const std::string& unit) const {
    const auto found = largest_.find(unit);
    return found == largest_.end() ? 0.0 : size_floor::kOfUnit * found->second;
  }

 private:
  std::map<std::string, double> largest_;
};

}  // namespace entrain::base
