// The functions of FMI 3.0 for model exchange. Those of the event mode serve co-simulation too.
#include <algorithm>

#include "fmukit/describe.hpp"
#include "fmukit/fmi3_component.hpp"
#include "fmukit/fmi3_functions.hpp"

namespace {

using namespace entrain;
using namespace entrain::fmukit;

constexpr unsigned kModes = kEvent | kContinuous;
constexpr unsigned kReadable = kInitialization | kModes | kTerminated | kFailed;

}  // namespace

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
  return guarded(c, "fmi3EnterEventMode", kContinuous | kStep,
                 [](Fmi3Component& component) { component.instance.enter_event_mode(); });
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
  return guarded(c, "fmi3EnterContinuousTimeMode", kEvent,
                 [](Fmi3Component& component) { component.instance.enter_continuous_time(); });
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean, fmi3Boolean* enter_event_mode,
                                       fmi3Boolean* terminate) {
  return guarded(c, "fmi3CompletedIntegratorStep", kContinuous, [&](Fmi3Component&) {
    *enter_event_mode = fmi3False;
    *terminate = fmi3False;
  });
}

fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 time) {
  return guarded(c, "fmi3SetTime", kModes, [&](Fmi3Component& component) { component.instance.set_time(time); });
}

fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 x[], size_t nx) {
  return guarded(c, "fmi3SetContinuousStates", kContinuous, [&](Fmi3Component& component) {
    component.instance.set_continuous_states({x, nx});
  });
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 derivatives[], size_t nx) {
  return guarded(c, "fmi3GetContinuousStateDerivatives", kReadable, [&](Fmi3Component& component) {
    component.instance.get_derivatives({derivatives, nx});
  });
}

fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 indicators[], size_t count) {
  return guarded(c, "fmi3GetEventIndicators", kReadable, [&](Fmi3Component& component) {
    component.instance.get_event_indicators({indicators, count});
  });
}

fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 x[], size_t nx) {
  return guarded(c, "fmi3GetContinuousStates", kReadable, [&](Fmi3Component& component) {
    component.instance.get_continuous_states({x, nx});
  });
}

// The models tell no nominal values: 1 is the default of the standard.
fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 nominals[], size_t nx) {
  return guarded(c, "fmi3GetNominalsOfContinuousStates", kInstantiated | kReadable,
                 [&](Fmi3Component&) { std::fill(nominals, nominals + nx, 1.0); });
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t* count) {
  return guarded(c, "fmi3GetNumberOfEventIndicators", kAnyPhase,
                 [&](Fmi3Component& component) { *count = component.instance.indicators(); });
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t* count) {
  return guarded(c, "fmi3GetNumberOfContinuousStates", kAnyPhase,
                 [&](Fmi3Component& component) { *count = component.instance.states(); });
}
