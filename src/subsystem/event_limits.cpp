#include "subsystem/event_limits.hpp"

#include <fmt/format.h>

#include "entrain/error.hpp"

namespace entrain {

void require_few_events(int events, Time t) {
  if (events <= kMostEventsInAStep) return;
  throw Error(ErrorCode::SubsystemFailed, fmt::format("more than {} events in one step", kMostEventsInAStep),
              {"", "", t, "Let the model end its bouncing or switching"});
}

}  // namespace entrain
