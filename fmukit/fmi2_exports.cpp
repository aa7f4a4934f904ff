// The functions of FMI 2.0 that are common to both kinds of FMU, and those of co-simulation.
#include <algorithm>
#include <memory>
#include <vector>

#include "entrain/error.hpp"
#include "fmukit/describe.hpp"
#include "fmukit/fmi2_component.hpp"
#include "fmukit/fmi2_functions.hpp"

namespace {

using namespace entrain;
using namespace entrain::fmukit;

constexpr unsigned kReadable = kInitialization | kStep | kEvent | kContinuous | kTerminated | kFailed;
constexpr unsigned kWritable = kInstantiated | kInitialization | kStep | kEvent | kContinuous;

std::span<const Reference> references(const fmi2ValueReference* first, std::size_t count) {
  return {first, count};
}

template <class Read>
fmi2Status read(fmi2Component c, const char* function, std::span<const Reference> vr, Read&& read_one) {
  return guarded(c, function, kReadable, [&](Fmi2Component& component) {
    for (std::size_t i = 0; i < vr.size(); ++i) read_one(component.instance, vr[i], i);
  });
}

template <class Convert>
fmi2Status write(fmi2Component c, const char* function, std::span<const Reference> vr, Convert&& value_of) {
  return guarded(c, function, kWritable, [&](Fmi2Component& component) {
    for (std::size_t i = 0; i < vr.size(); ++i) component.instance.set_value(vr[i], value_of(i));
  });
}

Snapshot& snapshot_of(fmi2FMUstate state) {
  if (state == nullptr) throw Error(ErrorCode::SubsystemFailed, "the saved state is a null pointer");
  return *static_cast<Snapshot*>(state);
}

}  // namespace

const char* fmi2GetTypesPlatform() {
  return fmi2TypesPlatform;
}

const char* fmi2GetVersion() {
  return fmi2Version;
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean, size_t, const fmi2String[]) {
  return guarded(c, "fmi2SetDebugLogging", kAnyPhase, [](Fmi2Component&) {});
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String,
                              const fmi2CallbackFunctions* functions, fmi2Boolean, fmi2Boolean) {
  const fmi2CallbackFunctions callbacks = functions == nullptr ? fmi2CallbackFunctions{} : *functions;
  Fmi2Component* component = nullptr;
  completes(
      [&] {
        static const std::string token = describe(fmu_definition(), 2).token;
        if (guid == nullptr || guid != token)
          throw Error(ErrorCode::SubsystemFailed, "the GUID is not that of this FMU");
        const Kind kind = type == fmi2ModelExchange ? Kind::ModelExchange : Kind::CoSimulation;
        require_offered(fmu_definition(), kind);
        component = new Fmi2Component{Instance(fmu_definition(), kind), name == nullptr ? "" : name, callbacks};
      },
      [&](const char* why) {
        if (callbacks.logger == nullptr) return;
        callbacks.logger(callbacks.componentEnvironment, name, fmi2Error, "logStatusError", "fmi2Instantiate: %s", why);
      });
  return component;
}

void fmi2FreeInstance(fmi2Component c) {
  delete static_cast<Fmi2Component*>(c);
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean, fmi2Real, fmi2Real start, fmi2Boolean stop_defined,
                               fmi2Real stop) {
  return guarded(c, "fmi2SetupExperiment", kInstantiated, [&](Fmi2Component& component) {
    component.instance.set_up_experiment(start, stop_defined ? std::optional<Time>(stop) : std::nullopt);
  });
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
  return guarded(c, "fmi2EnterInitializationMode", kInstantiated,
                 [](Fmi2Component& component) { component.instance.enter_initialization(); });
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
  return guarded(c, "fmi2ExitInitializationMode", kInitialization,
                 [](Fmi2Component& component) { component.instance.exit_initialization(); });
}

fmi2Status fmi2Terminate(fmi2Component c) {
  return guarded(c, "fmi2Terminate", kStep | kEvent | kContinuous,
                 [](Fmi2Component& component) { component.instance.terminate(); });
}

fmi2Status fmi2Reset(fmi2Component c) {
  return guarded(c, "fmi2Reset", kAnyPhase, [](Fmi2Component& component) { component.instance.reset(); });
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Real value[]) {
  return guarded(c, "fmi2GetReal", kReadable,
                 [&](Fmi2Component& component) { component.instance.get(references(vr, nvr), value); });
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Integer value[]) {
  return read(c, "fmi2GetInteger", references(vr, nvr), [&](Instance& instance, Reference reference, std::size_t i) {
    value[i] = static_cast<fmi2Integer>(std::get<std::int64_t>(instance.value(reference, ValueType::Integer)));
  });
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Boolean value[]) {
  return read(c, "fmi2GetBoolean", references(vr, nvr), [&](Instance& instance, Reference reference, std::size_t i) {
    value[i] = std::get<bool>(instance.value(reference, ValueType::Boolean)) ? fmi2True : fmi2False;
  });
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2String value[]) {
  return read(c, "fmi2GetString", references(vr, nvr), [&](Instance& instance, Reference reference, std::size_t i) {
    value[i] = std::get<std::string>(instance.value(reference, ValueType::String)).c_str();
  });
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Real value[]) {
  return guarded(c, "fmi2SetReal", kWritable,
                 [&](Fmi2Component& component) { component.instance.set(references(vr, nvr), value); });
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Integer value[]) {
  return write(c, "fmi2SetInteger", references(vr, nvr), [&](std::size_t i) { return Value(std::int64_t{value[i]}); });
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Boolean value[]) {
  return write(c, "fmi2SetBoolean", references(vr, nvr), [&](std::size_t i) { return Value(value[i] != fmi2False); });
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2String value[]) {
  return write(c, "fmi2SetString", references(vr, nvr),
               [&](std::size_t i) { return Value(std::string(value[i] == nullptr ? "" : value[i])); });
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate* state) {
  return guarded(c, "fmi2GetFMUstate", kAnyPhase, [&](Fmi2Component& component) {
    if (*state != nullptr) {
      component.instance.save(snapshot_of(*state));
      return;
    }
    auto snapshot = std::make_unique<Snapshot>();
    component.instance.save(*snapshot);
    *state = snapshot.release();
  });
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
  return guarded(c, "fmi2SetFMUstate", kAnyPhase,
                 [&](Fmi2Component& component) { component.instance.restore(snapshot_of(state)); });
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate* state) {
  return guarded(c, "fmi2FreeFMUstate", kAnyPhase, [&](Fmi2Component&) {
    if (state == nullptr) return;
    delete static_cast<Snapshot*>(*state);
    *state = nullptr;
  });
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t* size) {
  return guarded(c, "fmi2SerializedFMUstateSize", kAnyPhase,
                 [&](Fmi2Component& component) { *size = component.instance.serialized(snapshot_of(state)).size(); });
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
  return guarded(c, "fmi2SerializeFMUstate", kAnyPhase, [&](Fmi2Component& component) {
    const auto serialized = component.instance.serialized(snapshot_of(state));
    if (size < serialized.size()) throw Error(ErrorCode::SubsystemFailed, "the buffer is too small for the state");
    std::copy(serialized.begin(), serialized.end(), bytes);
  });
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate* state) {
  return guarded(c, "fmi2DeSerializeFMUstate", kAnyPhase, [&](Fmi2Component& component) {
    const std::vector<std::uint8_t> serialized(bytes, bytes + size);
    *state = std::make_unique<Snapshot>(component.instance.restored_from(serialized)).release();
  });
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknowns[], size_t unknown_count,
                                        const fmi2ValueReference knowns[], size_t known_count, const fmi2Real seed[],
                                        fmi2Real sensitivity[]) {
  return guarded(c, "fmi2GetDirectionalDerivative", kReadable, [&](Fmi2Component& component) {
    component.instance.directional_derivative(references(unknowns, unknown_count), references(knowns, known_count),
                                              seed, sensitivity);
  });
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                       const fmi2Integer order[], const fmi2Real value[]) {
  return guarded(c, "fmi2SetRealInputDerivatives", kWritable, [&](Fmi2Component& component) {
    for (size_t i = 0; i < nvr; ++i) component.instance.set_input_derivative(vr[i], order[i], value[i]);
  });
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                        const fmi2Integer order[], fmi2Real value[]) {
  return guarded(c, "fmi2GetRealOutputDerivatives", kReadable, [&](Fmi2Component& component) {
    for (size_t i = 0; i < nvr; ++i) value[i] = component.instance.output_derivative(vr[i], order[i]);
  });
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real from, fmi2Real size, fmi2Boolean) {
  return guarded(c, "fmi2DoStep", kStep, [&](Fmi2Component& component) { component.instance.step(from, size); });
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real* value) {
  return guarded(c, "fmi2GetRealStatus", kReadable, [&](Fmi2Component& component) {
    if (kind != fmi2LastSuccessfulTime) throw Error(ErrorCode::SubsystemFailed, "this status is not supported");
    *value = component.instance.time();
  });
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean* value) {
  return guarded(c, "fmi2GetBooleanStatus", kReadable, [&](Fmi2Component&) {
    if (kind != fmi2Terminated) throw Error(ErrorCode::SubsystemFailed, "this status is not supported");
    *value = fmi2False;
  });
}
