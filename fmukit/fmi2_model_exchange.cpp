// The functions of FMI 2.0 for model exchange.
#include <span>

#include "fmukit/fmi2_component.hpp"
#include "fmukit/fmi2_functions.hpp"

using namespace entrain;
using namespace entrain::fmukit;

fmi2Status fmi2EnterEventMode(fmi2Component c) {
  return guarded(c, "fmi2EnterEventMode", kExchangeModes, on_instance(&Instance::enter_event_mode));
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
  return guarded(c, "fmi2EnterContinuousTimeMode", kEvent, on_instance(&Instance::enter_continuous_time));
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean, fmi2Boolean* enter_event_mode,
                                       fmi2Boolean* terminate) {
  return guarded(c, "fmi2CompletedIntegratorStep", kContinuous,
                 [&](auto&) { *enter_event_mode = *terminate = fmi2False; });
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time) {
  return guarded(c, "fmi2SetTime", kExchangeModes, on_instance(&Instance::set_time, time));
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t nx) {
  return guarded(c, "fmi2SetContinuousStates", kContinuous,
                 on_instance(&Instance::set_continuous_states, std::span(x, nx)));
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t nx) {
  return guarded(c, "fmi2GetDerivatives", kExchangeReadable,
                 on_instance(&Instance::get_derivatives, std::span(derivatives, nx)));
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real indicators[], size_t count) {
  return guarded(c, "fmi2GetEventIndicators", kExchangeReadable,
                 on_instance(&Instance::get_event_indicators, std::span(indicators, count)));
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t nx) {
  return guarded(c, "fmi2GetContinuousStates", kExchangeReadable,
                 on_instance(&Instance::get_continuous_states, std::span(x, nx)));
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominals[], size_t nx) {
  return guarded(c, "fmi2GetNominalsOfContinuousStates", kInstantiated | kExchangeReadable,
                 on_instance(&Instance::get_nominals, std::span(nominals, nx)));
}
