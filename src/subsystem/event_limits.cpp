#include "subsystem/event_limits.hpp"

#include "entrain/fact_codes.hpp"

namespace entrain::subsystem {

void require_few_events(int events, const ErrorContext& where) {
  if (events <= kMostEventsInAStep) return;
  ErrorContext remedied = where;
  remedied.remedy = "Let the model end its bouncing or switching";
  throw Error(ErrorCode::SubsystemFailed, {FactCode::TooManyEvents, {}, {{"events", kMostEventsInAStep}}}, remedied);
}

}  // namespace entrain::subsystem
