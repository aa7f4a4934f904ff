#include "subsystem/event_limits.hpp"

#include <fmt/format.h>

namespace entrain::subsystem {

void require_few_events(int events, const ErrorContext& where) {
  if (events <= kMostEventsInAStep) return;
  ErrorContext remedied = where;
  remedied.remedy = "Let the model end its bouncing or switching";
  throw Error(ErrorCode::SubsystemFailed, fmt::format("more than {} events in one step", kMostEventsInAStep), remedied);
}

}  // namespace entrain::subsystem
