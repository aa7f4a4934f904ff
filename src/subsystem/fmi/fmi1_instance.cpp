#include <cstdarg>
#include <optional>

#include "subsystem/fmi/callbacks.hpp"
#include "subsystem/fmi/fmi1_api.h"
#include "subsystem/fmi/fmi1_description.hpp"
#include "subsystem/fmi/fmi2_api.h"
#include "subsystem/fmi/held_step.hpp"
#include "subsystem/fmi/live_environments.hpp"
#include "subsystem/fmi/scalar_instance.hpp"

namespace entrain::subsystem {
namespace {

constexpr fmiBoolean kYes = fmiTrue;  // as arguments of a call, where the macros are int
constexpr fmiBoolean kNo = fmiFalse;

void log_message(fmiComponent c, fmiString, fmiStatus status, fmiString category, fmiString message, ...) {
  va_list arguments;
  va_start(arguments, message);
  log_formatted(c, status != fmiOK, category, message, arguments);
  va_end(arguments);
}

/// An FMU of FMI 1 is either a slave (co-simulation) or a model (model exchange): names differ where the task is one.
struct Fmi1Functions {
  Fmi1Functions(const FmuLibrary& library, bool is_slave) : library_(library), slave(is_slave) {}

  const FmuLibrary& library_;
  const bool slave;
  FmuSymbol<fmiInstantiateSlaveTYPE> instantiate_slave{library_, "fmiInstantiateSlave"};
  FmuSymbol<fmiInstantiateModelTYPE> instantiate_model{library_, "fmiInstantiateModel"};
  FmuSymbol<fmiInitializeSlaveTYPE> initialize_slave{library_, "fmiInitializeSlave"};
  FmuSymbol<fmiInitializeTYPE> initialize_model{library_, "fmiInitialize"};
  FmuSymbol<fmiTerminateTYPE> terminate{library_, slave ? "fmiTerminateSlave" : "fmiTerminate"};
  FmuSymbol<fmiResetSlaveTYPE> reset{library_, "fmiResetSlave"};
  FmuSymbol<fmiFreeSlaveInstanceTYPE> free_instance{library_, slave ? "fmiFreeSlaveInstance" : "fmiFreeModelInstance"};
  FmuSymbol<fmiSetRealTYPE> set_reals{library_, "fmiSetReal"};
  FmuSymbol<fmiSetIntegerTYPE> set_integer{library_, "fmiSetInteger"};
  FmuSymbol<fmiSetBooleanTYPE> set_boolean{library_, "fmiSetBoolean"};
  FmuSymbol<fmiSetStringTYPE> set_string{library_, "fmiSetString"};
  FmuSymbol<fmiGetRealTYPE> get_reals{library_, "fmiGetReal"};
  FmuSymbol<fmiGetIntegerTYPE> get_integer{library_, "fmiGetInteger"};
  FmuSymbol<fmiGetBooleanTYPE> get_boolean{library_, "fmiGetBoolean"};
  FmuSymbol<fmiGetStringTYPE> get_string{library_, "fmiGetString"};
  FmuSymbol<fmiSetRealInputDerivativesTYPE> set_input_derivatives{library_, "fmiSetRealInputDerivatives"};
  FmuSymbol<fmiGetRealOutputDerivativesTYPE> get_output_derivatives{library_, "fmiGetRealOutputDerivatives"};
  FmuSymbol<fmiDoStepTYPE> do_step{library_, "fmiDoStep"};
  FmuSymbol<fmiGetRealStatusTYPE> get_real_status{library_, "fmiGetRealStatus"};
  FmuSymbol<fmiSetTimeTYPE> set_time{library_, "fmiSetTime"};
  FmuSymbol<fmiSetContinuousStatesTYPE> set_continuous_states{library_, "fmiSetContinuousStates"};
  FmuSymbol<fmiGetContinuousStatesTYPE> get_continuous_states{library_, "fmiGetContinuousStates"};
  FmuSymbol<fmiGetNominalContinuousStatesTYPE> get_nominals{library_, "fmiGetNominalContinuousStates"};
  FmuSymbol<fmiGetDerivativesTYPE> get_derivatives{library_, "fmiGetDerivatives"};
  FmuSymbol<fmiGetEventIndicatorsTYPE> get_event_indicators{library_, "fmiGetEventIndicators"};
  FmuSymbol<fmiEventUpdateTYPE> event_update{library_, "fmiEventUpdate"};
  FmuSymbol<fmiCompletedIntegratorStepTYPE> completed_step{library_, "fmiCompletedIntegratorStep"};
  // FMI 1 has no states that can be saved, and no modes: no library has these, and no call of them is made.
  FmuSymbol<fmi2GetFMUstateTYPE> get_state{library_, "fmiGetFMUstate"};
  FmuSymbol<fmi2SetFMUstateTYPE> set_state{library_, "fmiSetFMUstate"};
  FmuSymbol<fmi2FreeFMUstateTYPE> free_state{library_, "fmiFreeFMUstate"};
  FmuSymbol<fmi2SerializedFMUstateSizeTYPE> serialized_size{library_, "fmiSerializedFMUstateSize"};
  FmuSymbol<fmi2SerializeFMUstateTYPE> serialize_state{library_, "fmiSerializeFMUstate"};
  FmuSymbol<fmi2DeSerializeFMUstateTYPE> deserialize_state{library_, "fmiDeSerializeFMUstate"};
  FmuSymbol<fmi2ExitInitializationModeTYPE> exit_initialization{library_, "fmiExitInitializationMode"};
  FmuSymbol<fmi2EnterEventModeTYPE> enter_event_mode{library_, "fmiEnterEventMode"};
  using Byte = fmi2Byte;
};

/// FMI 1 has one call for the whole initialization, after which outputs can be read. It is made when something is first
/// read, so that the inputs which are known by then take part in it.
class Fmi1Instance final : public ScalarInstance<Fmi1Functions, fmiComponent, fmiBoolean> {
 public:
  Fmi1Instance(const Fmi1Functions& functions, const FmuDescription& description, FmuLog& log)
      : ScalarInstance(functions, log), description_(description), environment_(this, log, description) {}
  ~Fmi1Instance() override { end(); }

  bool create(const std::string& name, const std::filesystem::path& root, const FmuUse&) {
    const char* guid = description_.token.c_str();
    if (functions_.slave) {
      handle_ = functions_.instantiate_slave(
          code_, name.c_str(), guid, file_uri(root).c_str(), "application/x-fmu-sharedlibrary", 0.0, kNo, kNo,
          fmiCallbackFunctionsOfSlave{log_message, allocate_for_fmu, release_for_fmu, nullptr}, kYes);
    } else {
      handle_ = functions_.instantiate_model(
          code_, name.c_str(), guid, fmiCallbackFunctionsOfModel{log_message, allocate_for_fmu, release_for_fmu}, kYes);
    }
    if (handle_ == nullptr) return false;
    log_.instance_made();
    as_component_.emplace(handle_, log_, description_);
    return true;
  }

  FmuResult set_up(const FmuExperiment& experiment) override {
    experiment_ = experiment;
    code_.set_time(experiment.start);
    return functions_.slave ? FmuResult{} : set_time(experiment.start);
  }
  FmuResult enter_initialization() override { return {}; }
  FmuResult exit_initialization() override {
    stepping_ = true;
    return initialized();
  }
  FmuResult reset() override {
    initialized_ = false;
    return ScalarInstance::reset();
  }

  FmuResult get_reals(const FmuReals& reals, double* values) override {
    const FmuResult begun = initialized();
    return begun.done() ? graver(begun, ScalarInstance::get_reals(reals, values)) : begun;
  }
  FmuResult get_values(const FmuVariable& variable, std::span<Value> values) override {
    FmuResult result = initialized();
    if (!result.done()) return result;
    result = graver(result, ScalarInstance::get_values(variable, values));
    if (variable.negated) negate(values.front());
    return result;
  }
  FmuResult set_reals(const FmuReals& reals, const double* values) override {
    after_initialization_.reset();
    return ScalarInstance::set_reals(reals, values);
  }
  FmuResult set_values(const FmuVariable& variable, std::span<const Value> values) override {
    after_initialization_.reset();
    Value value = values.front();
    if (variable.negated) negate(value);
    return ScalarInstance::set_values(variable, {&value, 1});
  }
  FmuResult directional_product(std::span<const ValueReference>, std::span<const ValueReference>,
                                std::span<const double>, std::span<double>) override {
    return {FmuStatus::Error, "a directional derivative, which FMI 2 has"};
  }

  /// Where there are modes this is the end of the integrator's step.
  FmuResult enter_event_mode() override {
    return functions_.slave ? FmuResult{} : complete_integrator_step(false).result;
  }
  FmuResult enter_step_mode() override { return {}; }
  FmuEventUpdate update_discrete_states() override {
    FmuResult result;
    fmiEventInfo info{};
    info.iterationConverged = fmiTrue;
    if (after_initialization_) {
      info = *std::exchange(after_initialization_, std::nullopt);
    } else {
      result = call(functions_.event_update, kNo, &info);
    }
    return {result, info.iterationConverged == fmiFalse, info.terminateSimulation != fmiFalse,
            info.upcomingTimeEvent != fmiFalse ? info.nextEventTime : kNever};
  }
  FmuCompletedStep complete_integrator_step(bool) override {
    fmiBoolean event = fmiFalse;
    const FmuResult result = call(functions_.completed_step, &event);
    return {result, event != fmiFalse, false};
  }

 private:
  FmuResult initialized() {
    if (std::exchange(initialized_, true)) return {};
    if (functions_.slave) {
      const bool ends = experiment_.stop < kNever;
      return call(functions_.initialize_slave, experiment_.start, static_cast<fmiBoolean>(ends),
                  ends ? experiment_.stop : 0.0);
    }
    fmiEventInfo info{};  // an FMU that leaves it as it is has not converged: its first event is asked for by an update
    const auto controlled = static_cast<fmiBoolean>(experiment_.tolerance.has_value());
    const FmuResult result = call(functions_.initialize_model, controlled, experiment_.tolerance.value_or(0.0), &info);
    after_initialization_ = info;
    return result;
  }

  static void negate(Value& value) {
    if (auto* number = std::get_if<double>(&value)) *number = -*number;
    if (auto* number = std::get_if<std::int64_t>(&value)) *number = -*number;
    if (auto* flag = std::get_if<bool>(&value)) *flag = !*flag;
  }

  FmuResult make_step(const FmuStepCall& arguments) override {
    return call(functions_.do_step, arguments.from, arguments.size, kYes);
  }
  void ask_how_far(FmuStepResult& result, Time from) const override {
    fmiReal reached = from;
    if (functions_.get_real_status.exists() &&
        functions_.get_real_status(code_, handle_, fmiLastSuccessfulTime, &reached) > fmiWarning) {
      reached = from;
    }
    result.reached = reached;
  }

  const FmuDescription& description_;
  const LiveEnvironment environment_;            ///< what it logs while it is made
  std::optional<LiveEnvironment> as_component_;  ///< FMI 1 passes the instance to the logger
  FmuExperiment experiment_;
  bool initialized_ = false;
  /// Until it was taken note of, or something was set since, of which the FMU must then be asked again.
  std::optional<fmiEventInfo> after_initialization_;
};

struct Fmi1HeldCalls {
  static constexpr fmiStatus kOk = fmiOK;
  static constexpr const char* kSet = "fmiSetReal";
  static constexpr const char* kStep = "fmiDoStep";
  static constexpr const char* kGet = "fmiGetReal";

  static fmiStatus set(const FmuHeldStep& held, const double* values) {
    return reinterpret_cast<fmiSetRealTYPE*>(held.set)(held.handle, held.inputs.data(), held.inputs.size(), values);
  }
  static fmiStatus step(const FmuHeldStep& held, Time from, Duration size, FmuEnding&) {
    return reinterpret_cast<fmiDoStepTYPE*>(held.step)(held.handle, from, size, fmiTrue);
  }
  static fmiStatus get(const FmuHeldStep& held, double* values) {
    return reinterpret_cast<fmiGetRealTYPE*>(held.get)(held.handle, held.outputs.data(), held.outputs.size(), values);
  }
};

}  // namespace

HeldStep::Function fmi1_held_step() {
  return step_held<Fmi1HeldCalls>;
}

std::unique_ptr<FmuFunctions> make_fmi1_functions(const FmuLibrary& library, const FmuDescription& description) {
  return std::make_unique<VersionedFunctions<Fmi1Functions, Fmi1Instance>>(library, description,
                                                                           description.co_simulation.has_value());
}

}  // namespace entrain::subsystem
