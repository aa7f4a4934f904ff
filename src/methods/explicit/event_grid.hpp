#pragma once

#include <algorithm>

#include "base/grid.hpp"
#include "methods/explicit/macro_step_control.hpp"

namespace entrain::method {

/// Macro steps on the grid of the run that end at announced events, too: where subsystems handle events together.
class EventGrid final : public MacroStepControl {
 public:
  void start(const RunSettings& settings) {
    grid_ = base::Grid(settings.start, settings.stop, settings.step);
    now_ = settings.start;
    next_ = 1;
  }

  Time now() const override { return now_; }
  Duration next(Time event) const override {
    const bool whole = now_ == grid_.time(next_ - 1);
    const Duration size = whole ? grid_.size(next_ - 1) : grid_.time(next_) - now_;
    return event > now_ && event < now_ + size && !base::same_time(event, grid_.time(next_)) ? event - now_ : size;
  }
  Time next_time() const { return grid_.time(next_); }
  void judge(const CoupledSystem&, Time reached) override {
    now_ = reached;
    while (next_ < grid_.steps() && base::reached(now_, grid_.time(next_))) ++next_;
  }

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(now_, next_);
  }

 private:
  base::Grid grid_;
  Time now_ = 0.0;
  std::uint64_t next_ = 1;  // of the times of the grid, the one to be met
};

}  // namespace entrain::method
