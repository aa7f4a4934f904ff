#include "methods/event_tracker.hpp"

#include <algorithm>

#include "base/grid.hpp"
#include "coupling/engine.hpp"

namespace entrain::method {

void EventTracker::start(CoupledSystem& system, Time now) {
  memory_.next.assign(system.size(), kNever);
  any_ = false;
  for (std::size_t s = 0; s < system.size(); ++s) {
    memory_.next[s] = system.engine().next_event(SubsystemId{s}, now);
    any_ = any_ || system.capabilities(SubsystemId{s}).announces_events;
  }
  find_earliest();
  pass_instant(system, now);
}

void EventTracker::pass_instant(const CoupledSystem& system, Time now) {
  memory_.instant = system.engine().next_instant(now);
}

std::optional<Time> EventTracker::pass(CoupledSystem& system, SubsystemId s, Time now) {
  const Time event = memory_.next[s];
  const bool met = base::reached(now, event);
  if (met || system.capabilities(s).announces_events) set(s, system.engine().next_event(s, now));
  return met ? std::optional(event) : std::nullopt;
}

void EventTracker::pass_all(CoupledSystem& system, Time now) {
  if (!base::reached(now, earliest_)) return;
  for (std::size_t s = 0; s < memory_.next.size(); ++s) {
    if (base::reached(now, memory_.next[s])) memory_.next[s] = system.engine().next_event(SubsystemId{s}, now);
  }
  find_earliest();
}

void EventTracker::set(SubsystemId s, Time event) {
  const Time before = memory_.next[s];
  memory_.next[s] = event;
  if (before == earliest_ && event > before) {
    find_earliest();
  } else {
    earliest_ = std::min(earliest_, event);
  }
}

void EventTracker::find_earliest() {
  earliest_ = memory_.next.empty() ? kNever : *std::min_element(memory_.next.begin(), memory_.next.end());
}

void EventTracker::restore(const Memory& memory) {
  memory_ = memory;
  find_earliest();
}

}  // namespace entrain::method
