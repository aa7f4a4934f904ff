// The functions of FMI 2.0 for model exchange.
#include <algorithm>

#include "fmukit/fmi2_component.hpp"
#include "fmukit/fmi2_functions.hpp"

namespace {

using namespace entrain;
using namespace entrain::fmukit;

constexpr unsigned kModes = kEvent | kContinuous;
constexpr unsigned kReadable = kInitialization | kModes | kTerminated | kFailed;

}  // namespace

fmi2Status fmi2EnterEventMode(fmi2Component c) {
  return guarded(c, "fmi2EnterEventMode", kModes,
                 [](Fmi2Component& component) { component.instance.enter_event_mode(); });
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo* info) {
  return guarded(c, "fmi2NewDiscreteStates", kEvent, [&](Fmi2Component& component) {
    const EventUpdate update = component.instance.update_discrete_states();
    info->newDiscreteStatesNeeded = update.again ? fmi2True : fmi2False;
    info->terminateSimulation = fmi2False;
    info->nominalsOfContinuousStatesChanged = fmi2False;
    info->valuesOfContinuousStatesChanged = update.states_changed ? fmi2True : fmi2False;
    info->nextEventTimeDefined = update.next_event < kNever ? fmi2True : fmi2False;
    info->nextEventTime = update.next_event < kNever ? update.next_event : 0.0;
  });
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
  return guarded(c, "fmi2EnterContinuousTimeMode", kEvent,
                 [](Fmi2Component& component) { component.instance.enter_continuous_time(); });
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean, fmi2Boolean* enter_event_mode,
                                       fmi2Boolean* terminate) {
  return guarded(c, "fmi2CompletedIntegratorStep", kContinuous, [&](Fmi2Component&) {
    *enter_event_mode = fmi2False;
    *terminate = fmi2False;
  });
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time) {
  return guarded(c, "fmi2SetTime", kModes, [&](Fmi2Component& component) { component.instance.set_time(time); });
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t nx) {
  return guarded(c, "fmi2SetContinuousStates", kContinuous, [&](Fmi2Component& component) {
    component.instance.set_continuous_states({x, nx});
  });
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t nx) {
  return guarded(c, "fmi2GetDerivatives", kReadable, [&](Fmi2Component& component) {
    component.instance.get_derivatives({derivatives, nx});
  });
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real indicators[], size_t count) {
  return guarded(c, "fmi2GetEventIndicators", kReadable, [&](Fmi2Component& component) {
    component.instance.get_event_indicators({indicators, count});
  });
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t nx) {
  return guarded(c, "fmi2GetContinuousStates", kReadable, [&](Fmi2Component& component) {
    component.instance.get_continuous_states({x, nx});
  });
}

// The models tell no nominal values: 1 is the default of the standard.
fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominals[], size_t nx) {
  return guarded(c, "fmi2GetNominalsOfContinuousStates", kInstantiated | kReadable,
                 [&](Fmi2Component&) { std::fill(nominals, nominals + nx, 1.0); });
}
