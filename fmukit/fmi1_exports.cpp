// The functions of FMI 1.0, of both kinds. The linker gives them the names with the model identifier (CMakeLists.txt).
#include <algorithm>
#include <span>
#include <string>

#include "fmukit/describe.hpp"
#include "fmukit/guard.hpp"
#include "fmukit/instance.hpp"
#include "subsystem/fmi/fmi1_api.h"

namespace {

using namespace entrain;
using namespace entrain::fmukit;

constexpr unsigned kReadable = kStep | kContinuous | kEvent | kTerminated | kFailed;
constexpr unsigned kWritable = kInstantiated | kStep | kEvent | kContinuous;

/// What an fmiComponent points to.
struct Fmi1Component {
  Instance instance;
  std::string name;
  fmiCallbackLogger logger;

  void log(const char* function, const char* text) {
    if (logger != nullptr) logger(this, name.c_str(), fmiError, "logStatusError", "%s: %s", function, text);
  }
};

template <class Call>
fmiStatus guarded(fmiComponent c, const char* function, unsigned allowed, Call&& call) noexcept {
  if (c == nullptr) return fmiError;
  auto& component = *static_cast<Fmi1Component*>(c);
  const bool done = completes(
      [&] {
        component.instance.require(allowed, function);
        call(component);
      },
      [&](const char* why) { component.log(function, why); });
  if (done) return fmiOK;
  component.instance.fail();
  return fmiError;
}

fmiComponent instantiated(fmiString name, fmiString guid, Kind kind, fmiCallbackLogger logger) {
  Fmi1Component* component = nullptr;
  completes(
      [&] {
        static const std::string token = describe(fmu_definition(), 1).token;
        if (guid == nullptr || guid != token) refuse("the GUID is not that of this FMU");
        require_offered(fmu_definition(), kind);
        component = new Fmi1Component{Instance(fmu_definition(), kind), name == nullptr ? "" : name, logger};
        component->instance.allow_reading_after_set();
      },
      [&](const char* why) {
        if (logger != nullptr) logger(nullptr, name, fmiError, "logStatusError", "instantiation: %s", why);
      });
  return component;
}

/// What an importer may look for, and these FMUs do not support.
fmiStatus unsupported(fmiComponent c, const char* function) {
  return guarded(c, function, kAnyPhase, [](Fmi1Component&) { refuse("this FMU does not support the function"); });
}

std::span<const Reference> references(const fmiValueReference* first, std::size_t count) {
  return {first, count};
}

/// Of a model in event mode: until nothing changes any more, and what that left.
void settle(Instance& instance, fmiEventInfo& info) {
  EventUpdate update = instance.update_discrete_states();
  bool states_changed = update.states_changed;
  for (int round = 0; update.again && round < 100; ++round) {
    update = instance.update_discrete_states();
    states_changed = states_changed || update.states_changed;
  }
  info.iterationConverged = update.again ? fmiFalse : fmiTrue;
  info.stateValueReferencesChanged = fmiFalse;
  info.stateValuesChanged = states_changed ? fmiTrue : fmiFalse;
  info.terminateSimulation = fmiFalse;
  info.upcomingTimeEvent = update.next_event < kNever ? fmiTrue : fmiFalse;
  info.nextEventTime = update.next_event < kNever ? update.next_event : 0.0;
  instance.enter_continuous_time();
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): names of the standard
extern "C" {
#pragma GCC visibility push(default)

const char* fmiGetTypesPlatform() {
  return fmiPlatform;
}
const char* fmiGetModelTypesPlatform() {
  return fmiPlatform;
}
const char* fmiGetVersion() {
  return fmiVersion;
}

fmiComponent fmiInstantiateSlave(fmiString name, fmiString guid, fmiString, fmiString, fmiReal, fmiBoolean, fmiBoolean,
                                 fmiCallbackFunctionsOfSlave functions, fmiBoolean) {
  return instantiated(name, guid, Kind::CoSimulation, functions.logger);
}
fmiComponent fmiInstantiateModel(fmiString name, fmiString guid, fmiCallbackFunctionsOfModel functions, fmiBoolean) {
  return instantiated(name, guid, Kind::ModelExchange, functions.logger);
}
void fmiFreeSlaveInstance(fmiComponent c) {
  delete static_cast<Fmi1Component*>(c);
}
void fmiFreeModelInstance(fmiComponent c) {
  delete static_cast<Fmi1Component*>(c);
}
fmiStatus fmiSetDebugLogging(fmiComponent c, fmiBoolean) {
  return guarded(c, "fmiSetDebugLogging", kAnyPhase, [](Fmi1Component&) {});
}

fmiStatus fmiInitializeSlave(fmiComponent c, fmiReal start, fmiBoolean stop_defined, fmiReal stop) {
  return guarded(c, "fmiInitializeSlave", kInstantiated, [&](Fmi1Component& component) {
    Instance& instance = component.instance;
    instance.set_up_experiment(start, stop_defined ? std::optional<Time>(stop) : std::nullopt);
    instance.enter_initialization();
    instance.exit_initialization();
  });
}
fmiStatus fmiInitialize(fmiComponent c, fmiBoolean, fmiReal, fmiEventInfo* info) {
  return guarded(c, "fmiInitialize", kInstantiated, [&](Fmi1Component& component) {
    Instance& instance = component.instance;
    instance.set_up_experiment(instance.time(), std::nullopt);
    instance.enter_initialization();
    instance.exit_initialization();
    settle(instance, *info);
  });
}
fmiStatus fmiTerminateSlave(fmiComponent c) {
  return guarded(c, "fmiTerminateSlave", kStep, on_instance(&Instance::terminate));
}
fmiStatus fmiTerminate(fmiComponent c) {
  return guarded(c, "fmiTerminate", kContinuous, on_instance(&Instance::terminate));
}
fmiStatus fmiResetSlave(fmiComponent c) {
  return guarded(c, "fmiResetSlave", kAnyPhase, on_instance(&Instance::reset));
}

fmiStatus fmiGetReal(fmiComponent c, const fmiValueReference vr[], size_t nvr, fmiReal value[]) {
  return guarded(c, "fmiGetReal", kReadable,
                 [&](Fmi1Component& component) { component.instance.get(references(vr, nvr), value); });
}
fmiStatus fmiGetInteger(fmiComponent c, const fmiValueReference vr[], size_t nvr, fmiInteger value[]) {
  return guarded(c, "fmiGetInteger", kReadable, [&](Fmi1Component& component) {
    for (size_t i = 0; i < nvr; ++i)
      value[i] = static_cast<fmiInteger>(std::get<std::int64_t>(component.instance.value(vr[i], ValueType::Integer)));
  });
}
fmiStatus fmiGetBoolean(fmiComponent c, const fmiValueReference vr[], size_t nvr, fmiBoolean value[]) {
  return guarded(c, "fmiGetBoolean", kReadable, [&](Fmi1Component& component) {
    for (size_t i = 0; i < nvr; ++i)
      value[i] = std::get<bool>(component.instance.value(vr[i], ValueType::Boolean)) ? fmiTrue : fmiFalse;
  });
}
fmiStatus fmiGetString(fmiComponent c, const fmiValueReference vr[], size_t nvr, fmiString value[]) {
  return guarded(c, "fmiGetString", kReadable, [&](Fmi1Component& component) {
    for (size_t i = 0; i < nvr; ++i)
      value[i] = std::get<std::string>(component.instance.value(vr[i], ValueType::String)).c_str();
  });
}
fmiStatus fmiSetReal(fmiComponent c, const fmiValueReference vr[], size_t nvr, const fmiReal value[]) {
  return guarded(c, "fmiSetReal", kWritable,
                 [&](Fmi1Component& component) { component.instance.set(references(vr, nvr), value); });
}
fmiStatus fmiSetInteger(fmiComponent c, const fmiValueReference vr[], size_t nvr, const fmiInteger value[]) {
  return guarded(c, "fmiSetInteger", kWritable, [&](Fmi1Component& component) {
    for (size_t i = 0; i < nvr; ++i) component.instance.set_value(vr[i], Value(std::int64_t{value[i]}));
  });
}
fmiStatus fmiSetBoolean(fmiComponent c, const fmiValueReference vr[], size_t nvr, const fmiBoolean value[]) {
  return guarded(c, "fmiSetBoolean", kWritable, [&](Fmi1Component& component) {
    for (size_t i = 0; i < nvr; ++i) component.instance.set_value(vr[i], Value(value[i] != fmiFalse));
  });
}
fmiStatus fmiSetString(fmiComponent c, const fmiValueReference vr[], size_t nvr, const fmiString value[]) {
  return guarded(c, "fmiSetString", kWritable, [&](Fmi1Component& component) {
    for (size_t i = 0; i < nvr; ++i)
      component.instance.set_value(vr[i], Value(std::string(value[i] == nullptr ? "" : value[i])));
  });
}

fmiStatus fmiSetRealInputDerivatives(fmiComponent c, const fmiValueReference vr[], size_t nvr, const fmiInteger order[],
                                     const fmiReal value[]) {
  return guarded(c, "fmiSetRealInputDerivatives", kWritable, [&](Fmi1Component& component) {
    for (size_t i = 0; i < nvr; ++i) component.instance.set_input_derivative(vr[i], order[i], value[i]);
  });
}
fmiStatus fmiGetRealOutputDerivatives(fmiComponent c, const fmiValueReference vr[], size_t nvr,
                                      const fmiInteger order[], fmiReal value[]) {
  return guarded(c, "fmiGetRealOutputDerivatives", kReadable, [&](Fmi1Component& component) {
    for (size_t i = 0; i < nvr; ++i) value[i] = component.instance.output_derivative(vr[i], order[i]);
  });
}
fmiStatus fmiDoStep(fmiComponent c, fmiReal from, fmiReal size, fmiBoolean) {
  return guarded(c, "fmiDoStep", kStep, [&](Fmi1Component& component) { component.instance.step(from, size); });
}
fmiStatus fmiGetRealStatus(fmiComponent c, const fmiStatusKind kind, fmiReal* value) {
  return guarded(c, "fmiGetRealStatus", kReadable, [&](Fmi1Component& component) {
    if (kind != fmiLastSuccessfulTime) refuse("this status is not supported");
    *value = component.instance.time();
  });
}
fmiStatus fmiCancelStep(fmiComponent c) {
  return unsupported(c, "fmiCancelStep");
}
fmiStatus fmiGetStatus(fmiComponent c, const fmiStatusKind, fmiStatus*) {
  return unsupported(c, "fmiGetStatus");
}
fmiStatus fmiGetIntegerStatus(fmiComponent c, const fmiStatusKind, fmiInteger*) {
  return unsupported(c, "fmiGetIntegerStatus");
}
fmiStatus fmiGetBooleanStatus(fmiComponent c, const fmiStatusKind, fmiBoolean*) {
  return unsupported(c, "fmiGetBooleanStatus");
}
fmiStatus fmiGetStringStatus(fmiComponent c, const fmiStatusKind, fmiString*) {
  return unsupported(c, "fmiGetStringStatus");
}

fmiStatus fmiSetTime(fmiComponent c, fmiReal time) {
  return guarded(c, "fmiSetTime", kInstantiated | kContinuous, on_instance(&Instance::set_time, time));
}
fmiStatus fmiSetContinuousStates(fmiComponent c, const fmiReal x[], size_t nx) {
  return guarded(c, "fmiSetContinuousStates", kContinuous,
                 on_instance(&Instance::set_continuous_states, std::span(x, nx)));
}
fmiStatus fmiCompletedIntegratorStep(fmiComponent c, fmiBoolean* event) {
  return guarded(c, "fmiCompletedIntegratorStep", kContinuous, [&](Fmi1Component&) { *event = fmiFalse; });
}
fmiStatus fmiGetDerivatives(fmiComponent c, fmiReal derivatives[], size_t nx) {
  return guarded(c, "fmiGetDerivatives", kReadable,
                 on_instance(&Instance::get_derivatives, std::span(derivatives, nx)));
}
fmiStatus fmiGetEventIndicators(fmiComponent c, fmiReal indicators[], size_t count) {
  return guarded(c, "fmiGetEventIndicators", kReadable,
                 on_instance(&Instance::get_event_indicators, std::span(indicators, count)));
}
fmiStatus fmiEventUpdate(fmiComponent c, fmiBoolean, fmiEventInfo* info) {
  return guarded(c, "fmiEventUpdate", kContinuous, [&](Fmi1Component& component) {
    component.instance.enter_event_mode();
    settle(component.instance, *info);
  });
}
fmiStatus fmiGetContinuousStates(fmiComponent c, fmiReal x[], size_t nx) {
  return guarded(c, "fmiGetContinuousStates", kReadable,
                 on_instance(&Instance::get_continuous_states, std::span(x, nx)));
}
fmiStatus fmiGetStateValueReferences(fmiComponent c, fmiValueReference vrx[], size_t nx) {
  return guarded(c, "fmiGetStateValueReferences", kAnyPhase,
                 [&](Fmi1Component&) { std::fill(vrx, vrx + nx, fmiUndefinedValueReference); });
}
fmiStatus fmiGetNominalContinuousStates(fmiComponent c, fmiReal nominals[], size_t nx) {
  return guarded(c, "fmiGetNominalContinuousStates", kInstantiated | kReadable,
                 on_instance(&Instance::get_nominals, std::span(nominals, nx)));
}

#pragma GCC visibility pop
}
// NOLINTEND(readability-identifier-naming)
