#pragma once

#include "subsystem/fmi/fmu_instance.hpp"

namespace entrain::subsystem {

struct EventOutcome {
  bool terminate = false;    ///< the FMU asks to end the run
  Time next_event = kNever;  ///< announced
};

/// Updates the discrete states of an instance that is in event mode until they stay. Throws Error{SubsystemFailed} when
/// a call fails or when they do not settle.
EventOutcome settle_discrete_states(FmuInstance& instance, FmuLog& log, const ErrorContext& context);

/// From the initialization mode to the first step. An FMU whose events are handled with the importer begins with them.
EventOutcome begin_stepping(FmuInstance& instance, bool event_mode, FmuLog& log, const ErrorContext& context);

}  // namespace entrain::subsystem
