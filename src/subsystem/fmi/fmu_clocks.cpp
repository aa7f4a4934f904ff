#include "subsystem/fmi/fmu_clocks.hpp"

#include <algorithm>
#include <utility>

namespace entrain::subsystem {
namespace {

bool is_periodic(ClockKind kind) {
  return kind != ClockKind::Changing && kind != ClockKind::Countdown;
}

}  // namespace

void FmuClocks::read_initial(FmuInstance& instance, Time t) {
  known_.assign(ports_.clocks.size(), {});
  for (std::size_t c = 0; c < known_.size(); ++c) {
    if (!ports_.table.clocks[c].has_times()) continue;
    const FmuVariable& clock = variable(c);
    if (clock.clock->interval && is_periodic(clock.clock->kind)) {
      known_[c] = {clock.clock->interval, clock.clock->shift};
      continue;
    }
    ClockInterval interval;
    auto announced = EventMode::Announced::NotYet;
    reporter_.require(instance.get_interval(clock, interval, announced), t);
    if (announced != EventMode::Announced::NotYet) known_[c].initial = interval;
    if (is_periodic(clock.clock->kind)) reporter_.require(instance.get_shift(clock, known_[c].shift), t);
  }
}

std::span<const ValueReference> FmuClocks::references(std::span<const std::size_t> clocks) {
  references_.clear();
  for (const std::size_t clock : clocks) references_.push_back(variable(clock).reference);
  return references_;
}

std::span<const ValueReference> FmuClocks::by_priority(std::span<const std::size_t> clocks) {
  std::vector<std::size_t> sorted(clocks.begin(), clocks.end());
  std::stable_sort(sorted.begin(), sorted.end(), [this](std::size_t a, std::size_t b) {
    return variable(a).clock->priority < variable(b).clock->priority;
  });
  return references(sorted);
}

void FmuClocks::activate(FmuInstance& instance, std::span<const std::size_t> clocks, Time t) {
  reporter_.require(instance.activate_clocks(references(clocks)), t);
}

void FmuClocks::read_active(FmuInstance& instance, std::span<const std::size_t> clocks, std::span<unsigned char> active,
                            Time t) {
  reporter_.require(instance.get_clocks(references(clocks), active), t);
}

EventMode::Announced FmuClocks::read_interval(FmuInstance& instance, std::size_t clock, ClockInterval& interval,
                                              Time t) {
  using Announced = EventMode::Announced;
  if (auto initial = std::exchange(known_[clock].initial, std::nullopt)) {
    interval = *initial;
    return Announced::Changed;
  }
  const FmuClock& declared = *variable(clock).clock;
  const bool asked = declared.kind == ClockKind::Changing || declared.kind == ClockKind::Countdown ||
                     (declared.kind == ClockKind::Tunable && !declared.interval);
  if (!asked) return Announced::Unchanged;
  auto announced = Announced::NotYet;
  reporter_.require(instance.get_interval(variable(clock), interval, announced), t);
  // A tick is always followed by the next: an unchanged interval counts again.
  const bool repeats = declared.kind == ClockKind::Changing && announced == Announced::Unchanged;
  return repeats ? Announced::Changed : announced;
}

}  // namespace entrain::subsystem
