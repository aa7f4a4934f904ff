// The functions of FMI 3.0 for model exchange. Those of the event mode serve co-simulation too.
#include <span>

#include "fmukit/describe.hpp"
#include "fmukit/fmi3_component.hpp"
#include "fmukit/fmi3_functions.hpp"

using namespace entrain;
using namespace entrain::fmukit;

fmi3Instance fmi3InstantiateModelExchange(fmi3String, fmi3String token, fmi3String, fmi3Boolean, fmi3Boolean logging_on,
                                          fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger) {
  Fmi3Component* component = nullptr;
  completes(
      [&] {
        require_token(token);
        require_offered(fmu_definition(), Kind::ModelExchange);
        component = new Fmi3Component{Instance(fmu_definition(), Kind::ModelExchange), environment, logger, logging_on};
      },
      [&](const char* why) { log_refusal(environment, logger, logging_on, "fmi3InstantiateModelExchange", why); });
  return component;
}

fmi3Status fmi3EnterEventMode(fmi3Instance c) {
  return guarded(c, "fmi3EnterEventMode", kContinuous | kStep, on_instance(&Instance::enter_event_mode));
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean* again, fmi3Boolean* terminate,
                                    fmi3Boolean* nominals_changed, fmi3Boolean* states_changed,
                                    fmi3Boolean* next_is_defined, fmi3Float64* next) {
  return guarded(c, "fmi3UpdateDiscreteStates", kEvent, [&](Fmi3Component& component) {
    const EventUpdate update = component.instance.update_discrete_states();
    *again = update.again;
    *terminate = fmi3False;
    *nominals_changed = fmi3False;
    *states_changed = update.states_changed;
    *next_is_defined = update.next_event < kNever;
    *next = update.next_event < kNever ? update.next_event : 0.0;
  });
}

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c) {
  return guarded(c, "fmi3EnterContinuousTimeMode", kEvent, on_instance(&Instance::enter_continuous_time));
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean, fmi3Boolean* enter_event_mode,
                                       fmi3Boolean* terminate) {
  return guarded(c, "fmi3CompletedIntegratorStep", kContinuous,
                 [&](auto&) { *enter_event_mode = *terminate = fmi3False; });
}

fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 time) {
  return guarded(c, "fmi3SetTime", kExchangeModes, on_instance(&Instance::set_time, time));
}

fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 x[], size_t nx) {
  return guarded(c, "fmi3SetContinuousStates", kContinuous,
                 on_instance(&Instance::set_continuous_states, std::span(x, nx)));
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 derivatives[], size_t nx) {
  return guarded(c, "fmi3GetContinuousStateDerivatives", kExchangeReadable,
                 on_instance(&Instance::get_derivatives, std::span(derivatives, nx)));
}

fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 indicators[], size_t count) {
  return guarded(c, "fmi3GetEventIndicators", kExchangeReadable,
                 on_instance(&Instance::get_event_indicators, std::span(indicators, count)));
}

fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 x[], size_t nx) {
  return guarded(c, "fmi3GetContinuousStates", kExchangeReadable,
                 on_instance(&Instance::get_continuous_states, std::span(x, nx)));
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 nominals[], size_t nx) {
  return guarded(c, "fmi3GetNominalsOfContinuousStates", kInstantiated | kExchangeReadable,
                 on_instance(&Instance::get_nominals, std::span(nominals, nx)));
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t* count) {
  return guarded(c, "fmi3GetNumberOfEventIndicators", kAnyPhase,
                 [&](Fmi3Component& component) { *count = component.instance.indicators(); });
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t* count) {
  return guarded(c, "fmi3GetNumberOfContinuousStates", kAnyPhase,
                 [&](Fmi3Component& component) { *count = component.instance.states(); });
}
