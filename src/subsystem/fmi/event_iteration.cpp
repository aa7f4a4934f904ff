#include "subsystem/fmi/event_iteration.hpp"

#include "entrain/fact_codes.hpp"
#include "subsystem/fmi/fmu.hpp"

namespace entrain::subsystem {

EventOutcome settle_discrete_states(FmuInstance& instance, FmuLog& log, const ErrorContext& context) {
  constexpr int kMostPasses = 100;  // a chain of discrete equations; more is a loop without a solution
  EventOutcome outcome;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    const FmuEventUpdate update = instance.update_discrete_states();
    require_done(update.result, log, context);
    outcome.terminate = outcome.terminate || update.terminate;
    outcome.next_event = update.next_event;
    if (!update.again || update.terminate) return outcome;
  }
  ErrorContext remedied = context;
  remedied.remedy = "Two of its discrete states may depend on each other: ask its vendor";
  throw Error(ErrorCode::SubsystemFailed,
              {FactCode::FmuDiscreteUnsettled, {}, {{"updates", kMostPasses}, {"said", log.take_text()}}}, remedied);
}

EventOutcome begin_stepping(FmuInstance& instance, bool event_mode, FmuLog& log, const ErrorContext& context) {
  require_done(instance.exit_initialization(), log, context);
  if (!event_mode) return {};
  const EventOutcome outcome = settle_discrete_states(instance, log, context);
  require_done(instance.enter_step_mode(), log, context);
  return outcome;
}

}  // namespace entrain::subsystem
