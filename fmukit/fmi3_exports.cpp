// The functions of FMI 3.0 that these FMUs support: those common to all kinds, and those of co-simulation.
#include <algorithm>
#include <memory>
#include <vector>

#include "entrain/error.hpp"
#include "fmukit/describe.hpp"
#include "fmukit/fmi3_component.hpp"
#include "fmukit/fmi3_functions.hpp"
#include "fmukit/listed_variables.hpp"

namespace {

using namespace entrain;
using namespace entrain::fmukit;

constexpr unsigned kReadable = kAnyPhase;
constexpr unsigned kWritable = kInstantiated | kInitialization | kStep | kIntermediate | kEvent | kContinuous;
constexpr unsigned kDifferentiable = kInitialization | kStep | kEvent | kContinuous | kTerminated | kFailed;

/// Every variable is a scalar, so there are as many values as references.
void require_scalars(size_t references, size_t values) {
  if (references != values) throw Error(ErrorCode::SubsystemFailed, "there are not as many values as value references");
}

template <class Read>
fmi3Status read(fmi3Instance c, const char* function, std::span<const Reference> vr, size_t values, Read&& read_one) {
  return guarded(c, function, kReadable, [&](Fmi3Component& component) {
    require_scalars(vr.size(), values);
    for (std::size_t i = 0; i < vr.size(); ++i) read_one(component.instance, vr[i], i);
  });
}

template <class Convert>
fmi3Status write(fmi3Instance c, const char* function, std::span<const Reference> vr, size_t values,
                 Convert&& value_of) {
  return guarded(c, function, kWritable, [&](Fmi3Component& component) {
    require_scalars(vr.size(), values);
    for (std::size_t i = 0; i < vr.size(); ++i) component.instance.set_value(vr[i], value_of(i));
  });
}

Snapshot& snapshot_of(fmi3FMUState state) {
  if (state == nullptr) throw Error(ErrorCode::SubsystemFailed, "the saved state is a null pointer");
  return *static_cast<Snapshot*>(state);
}

}  // namespace

const char* fmi3GetVersion() {
  return fmi3Version;
}

fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t, const fmi3String[]) {
  return guarded(c, "fmi3SetDebugLogging", kAnyPhase, [&](Fmi3Component& component) { component.logging_on = on; });
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String, fmi3String token, fmi3String, fmi3Boolean, fmi3Boolean logging_on,
                                         fmi3Boolean event_mode_used, fmi3Boolean early_return_allowed,
                                         const fmi3ValueReference intermediate[], size_t intermediate_count,
                                         fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger,
                                         fmi3IntermediateUpdateCallback intermediate_update) {
  Fmi3Component* component = nullptr;
  completes(
      [&] {
        require_token(token);
        require_offered(fmu_definition(), Kind::CoSimulation);
        static const bool has_event_mode = list_variables(fmu_definition()).announces_events;
        if (event_mode_used && !has_event_mode) refuse("this FMU has no event mode");
        auto made =
            std::make_unique<Fmi3Component>(Fmi3Component{Instance(fmu_definition()), environment, logger, logging_on});
        made->intermediate_inputs.assign(intermediate, intermediate + intermediate_count);
        if (intermediate_count > 0) made->instance.require_intermediate_inputs(made->intermediate_inputs);
        if (fmu_definition().options.input_degree > 0) made->intermediate_update = intermediate_update;
        made->early_return_allowed = early_return_allowed;
        if (event_mode_used) made->instance.use_event_mode();
        component = made.release();
      },
      [&](const char* why) { log_refusal(environment, logger, logging_on, "fmi3InstantiateCoSimulation", why); });
  return component;
}

void fmi3FreeInstance(fmi3Instance c) {
  delete static_cast<Fmi3Component*>(c);
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean, fmi3Float64, fmi3Float64 start,
                                       fmi3Boolean stop_defined, fmi3Float64 stop) {
  return guarded(c, "fmi3EnterInitializationMode", kInstantiated, [&](Fmi3Component& component) {
    component.instance.set_up_experiment(start, stop_defined ? std::optional<Time>(stop) : std::nullopt);
    component.instance.enter_initialization();
  });
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance c) {
  return guarded(c, "fmi3ExitInitializationMode", kInitialization,
                 [](Fmi3Component& component) { component.instance.exit_initialization(); });
}

fmi3Status fmi3Terminate(fmi3Instance c) {
  return guarded(c, "fmi3Terminate", kStep | kEvent | kContinuous,
                 [](Fmi3Component& component) { component.instance.terminate(); });
}

fmi3Status fmi3Reset(fmi3Instance c) {
  return guarded(c, "fmi3Reset", kAnyPhase, [](Fmi3Component& component) { component.instance.reset(); });
}

fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t nvr, fmi3Float64 values[],
                          size_t count) {
  return guarded(c, "fmi3GetFloat64", kReadable, [&](Fmi3Component& component) {
    require_scalars(nvr, count);
    component.instance.get({vr, nvr}, values);
  });
}

fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t nvr, const fmi3Float64 values[],
                          size_t count) {
  return guarded(c, "fmi3SetFloat64", kWritable, [&](Fmi3Component& component) {
    require_scalars(nvr, count);
    require_intermediate(component, {vr, nvr});
    component.instance.set({vr, nvr}, values);
  });
}

fmi3Status fmi3GetInt32(fmi3Instance c, const fmi3ValueReference vr[], size_t nvr, fmi3Int32 values[], size_t count) {
  return read(c, "fmi3GetInt32", {vr, nvr}, count, [&](Instance& instance, Reference reference, std::size_t i) {
    values[i] = static_cast<fmi3Int32>(std::get<std::int64_t>(instance.value(reference, ValueType::Integer)));
  });
}

fmi3Status fmi3GetInt64(fmi3Instance c, const fmi3ValueReference vr[], size_t nvr, fmi3Int64 values[], size_t count) {
  return read(c, "fmi3GetInt64", {vr, nvr}, count, [&](Instance& instance, Reference reference, std::size_t i) {
    values[i] = std::get<std::int64_t>(instance.value(reference, ValueType::Integer));
  });
}

fmi3Status fmi3GetBoolean(fmi3Instance c, const fmi3ValueReference vr[], size_t nvr, fmi3Boolean values[],
                          size_t count) {
  return read(c, "fmi3GetBoolean", {vr, nvr}, count, [&](Instance& instance, Reference reference, std::size_t i) {
    values[i] = std::get<bool>(instance.value(reference, ValueType::Boolean));
  });
}

fmi3Status fmi3GetString(fmi3Instance c, const fmi3ValueReference vr[], size_t nvr, fmi3String values[], size_t count) {
  return read(c, "fmi3GetString", {vr, nvr}, count, [&](Instance& instance, Reference reference, std::size_t i) {
    values[i] = std::get<std::string>(instance.value(reference, ValueType::String)).c_str();
  });
}

fmi3Status fmi3SetInt64(fmi3Instance c, const fmi3ValueReference vr[], size_t nvr, const fmi3Int64 values[],
                        size_t count) {
  return write(c, "fmi3SetInt64", {vr, nvr}, count, [&](std::size_t i) { return Value(std::int64_t{values[i]}); });
}

fmi3Status fmi3SetBoolean(fmi3Instance c, const fmi3ValueReference vr[], size_t nvr, const fmi3Boolean values[],
                          size_t count) {
  return write(c, "fmi3SetBoolean", {vr, nvr}, count, [&](std::size_t i) { return Value(values[i]); });
}

fmi3Status fmi3SetString(fmi3Instance c, const fmi3ValueReference vr[], size_t nvr, const fmi3String values[],
                         size_t count) {
  return write(c, "fmi3SetString", {vr, nvr}, count,
               [&](std::size_t i) { return Value(std::string(values[i] == nullptr ? "" : values[i])); });
}

fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState* state) {
  return guarded(c, "fmi3GetFMUState", kAnyPhase, [&](Fmi3Component& component) {
    if (*state != nullptr) {
      component.instance.save(snapshot_of(*state));
      return;
    }
    auto snapshot = std::make_unique<Snapshot>();
    component.instance.save(*snapshot);
    *state = snapshot.release();
  });
}

fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state) {
  return guarded(c, "fmi3SetFMUState", kAnyPhase,
                 [&](Fmi3Component& component) { component.instance.restore(snapshot_of(state)); });
}

fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState* state) {
  return guarded(c, "fmi3FreeFMUState", kAnyPhase, [&](Fmi3Component&) {
    if (state == nullptr) return;
    delete static_cast<Snapshot*>(*state);
    *state = nullptr;
  });
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t* size) {
  return guarded(c, "fmi3SerializedFMUStateSize", kAnyPhase,
                 [&](Fmi3Component& component) { *size = component.instance.serialized(snapshot_of(state)).size(); });
}

fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size) {
  return guarded(c, "fmi3SerializeFMUState", kAnyPhase, [&](Fmi3Component& component) {
    const auto serialized = component.instance.serialized(snapshot_of(state));
    if (size < serialized.size()) throw Error(ErrorCode::SubsystemFailed, "the buffer is too small for the state");
    std::copy(serialized.begin(), serialized.end(), bytes);
  });
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState* state) {
  return guarded(c, "fmi3DeserializeFMUState", kAnyPhase, [&](Fmi3Component& component) {
    *state = std::make_unique<Snapshot>(component.instance.restored_from({bytes, size})).release();
  });
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t unknown_count,
                                        const fmi3ValueReference knowns[], size_t known_count, const fmi3Float64 seed[],
                                        size_t seed_count, fmi3Float64 sensitivity[], size_t sensitivity_count) {
  return guarded(c, "fmi3GetDirectionalDerivative", kDifferentiable, [&](Fmi3Component& component) {
    require_scalars(known_count, seed_count);
    require_scalars(unknown_count, sensitivity_count);
    component.instance.directional_derivative({unknowns, unknown_count}, {knowns, known_count}, seed, sensitivity);
  });
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t unknown_count,
                                    const fmi3ValueReference knowns[], size_t known_count, const fmi3Float64 seed[],
                                    size_t seed_count, fmi3Float64 sensitivity[], size_t sensitivity_count) {
  return guarded(c, "fmi3GetAdjointDerivative", kDifferentiable, [&](Fmi3Component& component) {
    require_scalars(unknown_count, seed_count);
    require_scalars(known_count, sensitivity_count);
    component.instance.adjoint_derivative({unknowns, unknown_count}, {knowns, known_count}, seed, sensitivity);
  });
}

fmi3Status fmi3GetOutputDerivatives(fmi3Instance c, const fmi3ValueReference vr[], size_t nvr, const fmi3Int32 orders[],
                                    fmi3Float64 values[], size_t count) {
  return guarded(c, "fmi3GetOutputDerivatives", kStep | kTerminated | kFailed, [&](Fmi3Component& component) {
    require_scalars(nvr, count);
    for (size_t i = 0; i < nvr; ++i) values[i] = component.instance.output_derivative(vr[i], orders[i]);
  });
}

fmi3Status fmi3EnterStepMode(fmi3Instance c) {
  return guarded(c, "fmi3EnterStepMode", kEvent,
                 [](Fmi3Component& component) { component.instance.enter_step_mode(); });
}

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 from, fmi3Float64 size, fmi3Boolean,
                      fmi3Boolean* event_handling_needed, fmi3Boolean* terminate_simulation, fmi3Boolean* early_return,
                      fmi3Float64* last_successful_time) {
  return guarded(c, "fmi3DoStep", kStep, [&](Fmi3Component& component) {
    const auto ask = [&component](Time t, bool finished) {
      const bool can_return_early = finished && component.early_return_allowed;
      fmi3Boolean early_return_requested = fmi3False;
      fmi3Float64 early_return_time = t;
      component.intermediate_update(component.environment, t, fmi3True, fmi3False, finished, can_return_early,
                                    &early_return_requested, &early_return_time);
      return can_return_early && early_return_requested;
    };
    const Instance::InputRequest request = ask;
    const Duration allowed = component.early_return_allowed ? component.instance.until_event(from, size) : size;
    const Time reached = component.instance.step(from, allowed, component.intermediate_update ? &request : nullptr);
    *event_handling_needed = component.instance.at_event();
    *terminate_simulation = fmi3False;
    *early_return = reached < from + size;
    *last_successful_time = reached;
  });
}
