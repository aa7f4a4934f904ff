#pragma once

#include <algorithm>
#include <vector>

#include "base/grid.hpp"
#include "methods/explicit/macro_step_control.hpp"

namespace entrain::method {

/// Macro steps that were chosen before: those of another run, merged or divided.
class PrescribedSteps final : public MacroStepControl {
 public:
  /// `times`: from the start to the stop. `stops_at_events`: no step leads across an announced event.
  void start(const std::vector<Time>& times, bool stops_at_events) {
    times_ = times;
    stops_at_events_ = stops_at_events;
    now_ = times.front();
    next_ = 0;
    pass_times();
  }

  Time now() const override { return now_; }
  Duration next(Time event) const override {
    const Time end = next_ < times_.size() ? times_[next_] : times_.back();
    return (stops_at_events_ && event > now_ ? std::min(end, event) : end) - now_;
  }
  void judge(const CoupledSystem&, Time reached) override {
    now_ = reached;
    pass_times();
  }

 private:
  void pass_times() {
    while (next_ < times_.size() && base::reached(now_, times_[next_])) ++next_;
  }

  std::vector<Time> times_;
  bool stops_at_events_ = false;
  Time now_ = 0.0;
  std::size_t next_ = 0;  // of the times, the one to be met
};

}  // namespace entrain::method
