#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/grid.hpp"
#include "entrain/coupled_system.hpp"
#include "entrain/method.hpp"

namespace entrain::method {

/// a / b when that is a whole number >= 1 (up to rounding of the two decimal numbers).
std::optional<std::uint64_t> whole_ratio(Duration a, Duration b);

/// How a subsystem steps on a grid of macro steps: one step over several of them, or several steps in one.
struct Rhythm {
  std::uint32_t span = 1;  ///< macro steps per step
  int parts = 1;           ///< steps per macro step
};
Rhythm rhythm_of(const Capabilities& can, Duration macro_step);

/// When each subsystem steps, on a common grid of macro steps: an imposed step may span several macro steps or fit into
/// one several times; a macro step beyond a maximal step is cut.
class Calendar {
 public:
  void start(const CoupledSystem& system, const RunSettings& settings);

  const base::Grid& grid() const { return grid_; }
  Time time(std::uint64_t step) const { return step == window_.step + 1 ? window_.to : grid_.time(step); }
  /// For methods that adapt the macro step: where this one goes. At most to the stop time, which is met to the last
  /// bit.
  void choose(std::uint64_t step, Time from, Duration size);

  /// The macro step under way ends at this time, but for a rounding.
  void land_on(Time to) { window_.to = to; }
  /// The macro step under way ends here.
  void cut(Time to) {
    window_.size = to - window_.from;
    window_.to = to;
  }

  /// True when everyone makes exactly one step per macro step.
  bool in_step() const { return in_step_; }
  // A division costs as much as a light subsystem's step, so the common span of 1 is asked first.
  bool starts(SubsystemId s, std::uint64_t step) const { return span_[s] == 1 || step % span_[s] == 0; }
  bool ends(SubsystemId s, std::uint64_t step) const { return span_[s] == 1 || (step + 1) % span_[s] == 0; }
  /// The step of `s` that ends with macro step `step`.
  StepTask task(SubsystemId s, std::uint64_t step, int degree) {
    const Window& window = window_of(step);
    if (span_[s] > 1 || parts_[s] > 1) return unusual_task(s, degree);
    return {s, window.from, window.size, degree, 1, window.to};
  }

  struct Window : CommonStep {
    std::uint64_t step = ~std::uint64_t{0};
  };
  const Window& window_of(std::uint64_t step) {
    if (step != window_.step) window_ = {{time(step), grid_.size(step), grid_.time(step + 1)}, step};
    return window_;
  }

 private:
  StepTask unusual_task(SubsystemId s, int degree) const;

  Window window_;  // of the macro step asked for last
  Time stop_ = 0.0;
  base::Grid grid_;
  bool in_step_ = true;
  std::vector<std::uint32_t> span_;  // macro steps per step of the subsystem
  std::vector<int> parts_;           // steps of the subsystem per macro step
};

}  // namespace entrain::method
