#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "entrain/variable.hpp"

namespace entrain::base {

/// Two times are the same communication time when they differ by rounding only. Scaled by the magnitudes, because a
/// time is one product and one sum away from its grid index.
inline bool same_time(Time a, Time b) {
  constexpr double kRoundings = 16 * 2.220446049250313e-16;
  // Strictly below, so that no time is the same as "never" (infinity).
  return std::abs(a - b) < kRoundings * std::max({std::abs(a), std::abs(b), 1e-300});
}

inline bool reached(Time now, Time target) {
  return now >= target || same_time(now, target);
}

/// Just before a discontinuity, far enough that `reached` does not take it for the event itself.
inline Time just_before(Time event) {
  constexpr double kMargin = 64 * 2.220446049250313e-16;
  return event - kMargin * std::max(1.0, std::abs(event));
}

/// Communication times start + k step; the last one is exactly `stop`, however the numbers round.
class Grid {
 public:
  Grid() = default;
  Grid(Time start, Time stop, Duration step) : start_(start), stop_(stop), step_(step) {
    // A remainder below 1e-9 of a step is rounding, not a step.
    steps_ = static_cast<std::uint64_t>(std::max(1.0, std::ceil((stop - start) / step - 1e-9)));
  }

  std::uint64_t steps() const noexcept { return steps_; }
  Duration step() const noexcept { return step_; }
  Time time(std::uint64_t k) const noexcept {
    // Through a signed number, which one instruction converts.
    return k >= steps_ ? stop_ : start_ + static_cast<double>(static_cast<std::int64_t>(k)) * step_;
  }
  /// The size of step k. It is `step` to the last bit (so that subsystems can keep what they computed for it),
  /// unless the last step really is shorter.
  Duration size(std::uint64_t k) const noexcept {
    if (k + 1 < steps_) return step_;
    const Duration rest = stop_ - time(k);
    return std::abs(rest - step_) <= 1e-9 * step_ ? step_ : rest;
  }

 private:
  Time start_ = 0.0;
  Time stop_ = 0.0;
  Duration step_ = 0.0;
  std::uint64_t steps_ = 0;
};

}  // namespace entrain::base
