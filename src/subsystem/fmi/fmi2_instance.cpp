#include <cstdarg>

#include "subsystem/fmi/callbacks.hpp"
#include "subsystem/fmi/fmi2_api.h"
#include "subsystem/fmi/held_step.hpp"
#include "subsystem/fmi/live_environments.hpp"
#include "subsystem/fmi/scalar_instance.hpp"

namespace entrain::subsystem {
namespace {

void log_message(fmi2ComponentEnvironment environment, fmi2String, fmi2Status status, fmi2String category,
                 fmi2String message, ...) {
  if (environment == nullptr) return;
  va_list arguments;
  va_start(arguments, message);
  log_formatted(environment, status != fmi2OK, category, message, arguments);
  va_end(arguments);
}

struct Fmi2Functions {
  explicit Fmi2Functions(const FmuLibrary& library) : library_(library) {}

  const FmuLibrary& library_;
  FmuSymbol<fmi2InstantiateTYPE> instantiate{library_, "fmi2Instantiate"};
  FmuSymbol<fmi2FreeInstanceTYPE> free_instance{library_, "fmi2FreeInstance"};
  FmuSymbol<fmi2SetDebugLoggingTYPE> set_debug_logging{library_, "fmi2SetDebugLogging"};
  FmuSymbol<fmi2SetupExperimentTYPE> setup_experiment{library_, "fmi2SetupExperiment"};
  FmuSymbol<fmi2EnterInitializationModeTYPE> enter_initialization{library_, "fmi2EnterInitializationMode"};
  FmuSymbol<fmi2ExitInitializationModeTYPE> exit_initialization{library_, "fmi2ExitInitializationMode"};
  FmuSymbol<fmi2TerminateTYPE> terminate{library_, "fmi2Terminate"};
  FmuSymbol<fmi2ResetTYPE> reset{library_, "fmi2Reset"};
  FmuSymbol<fmi2GetRealTYPE> get_reals{library_, "fmi2GetReal"};
  FmuSymbol<fmi2GetIntegerTYPE> get_integer{library_, "fmi2GetInteger"};
  FmuSymbol<fmi2GetBooleanTYPE> get_boolean{library_, "fmi2GetBoolean"};
  FmuSymbol<fmi2GetStringTYPE> get_string{library_, "fmi2GetString"};
  FmuSymbol<fmi2SetRealTYPE> set_reals{library_, "fmi2SetReal"};
  FmuSymbol<fmi2SetIntegerTYPE> set_integer{library_, "fmi2SetInteger"};
  FmuSymbol<fmi2SetBooleanTYPE> set_boolean{library_, "fmi2SetBoolean"};
  FmuSymbol<fmi2SetStringTYPE> set_string{library_, "fmi2SetString"};
  FmuSymbol<fmi2GetFMUstateTYPE> get_state{library_, "fmi2GetFMUstate"};
  FmuSymbol<fmi2SetFMUstateTYPE> set_state{library_, "fmi2SetFMUstate"};
  FmuSymbol<fmi2FreeFMUstateTYPE> free_state{library_, "fmi2FreeFMUstate"};
  FmuSymbol<fmi2SerializedFMUstateSizeTYPE> serialized_size{library_, "fmi2SerializedFMUstateSize"};
  FmuSymbol<fmi2SerializeFMUstateTYPE> serialize_state{library_, "fmi2SerializeFMUstate"};
  FmuSymbol<fmi2DeSerializeFMUstateTYPE> deserialize_state{library_, "fmi2DeSerializeFMUstate"};
  using Byte = fmi2Byte;
  FmuSymbol<fmi2GetDirectionalDerivativeTYPE> directional_derivative{library_, "fmi2GetDirectionalDerivative"};
  FmuSymbol<fmi2SetRealInputDerivativesTYPE> set_input_derivatives{library_, "fmi2SetRealInputDerivatives"};
  FmuSymbol<fmi2GetRealOutputDerivativesTYPE> get_output_derivatives{library_, "fmi2GetRealOutputDerivatives"};
  FmuSymbol<fmi2DoStepTYPE> do_step{library_, "fmi2DoStep"};
  FmuSymbol<fmi2EnterEventModeTYPE> enter_event_mode{library_, "fmi2EnterEventMode"};
  FmuSymbol<fmi2NewDiscreteStatesTYPE> new_discrete_states{library_, "fmi2NewDiscreteStates"};
  FmuSymbol<fmi2EnterContinuousTimeModeTYPE> enter_continuous_time{library_, "fmi2EnterContinuousTimeMode"};
  FmuSymbol<fmi2CompletedIntegratorStepTYPE> completed_step{library_, "fmi2CompletedIntegratorStep"};
  FmuSymbol<fmi2SetTimeTYPE> set_time{library_, "fmi2SetTime"};
  FmuSymbol<fmi2SetContinuousStatesTYPE> set_continuous_states{library_, "fmi2SetContinuousStates"};
  FmuSymbol<fmi2GetContinuousStatesTYPE> get_continuous_states{library_, "fmi2GetContinuousStates"};
  FmuSymbol<fmi2GetNominalsOfContinuousStatesTYPE> get_nominals{library_, "fmi2GetNominalsOfContinuousStates"};
  FmuSymbol<fmi2GetDerivativesTYPE> get_derivatives{library_, "fmi2GetDerivatives"};
  FmuSymbol<fmi2GetEventIndicatorsTYPE> get_event_indicators{library_, "fmi2GetEventIndicators"};
  FmuSymbol<fmi2GetRealStatusTYPE> get_real_status{library_, "fmi2GetRealStatus"};
  FmuSymbol<fmi2GetBooleanStatusTYPE> get_boolean_status{library_, "fmi2GetBooleanStatus"};
};

class Fmi2Instance final : public ScalarInstance<Fmi2Functions, fmi2Component, fmi2Boolean> {
 public:
  Fmi2Instance(const Fmi2Functions& functions, const FmuDescription& description, FmuLog& log)
      : ScalarInstance(functions, log),
        description_(description),
        environment_(this, log, description),
        // No stepFinished: it permits an FMU to step asynchronously, and its callback is then awaited.
        callbacks_{log_message, allocate_for_fmu, release_for_fmu, nullptr, this} {}
  ~Fmi2Instance() override { end(); }

  bool create(const std::string& name, const std::filesystem::path& root, const FmuUse& use) {
    const fmi2Type type = use.interface == FmuInterface::CoSimulation ? fmi2CoSimulation : fmi2ModelExchange;
    handle_ = functions_.instantiate(code_, name.c_str(), type, description_.token.c_str(),
                                     file_uri(root / "resources").c_str(), &callbacks_, fmi2False, fmi2True);
    ask_for_messages(description_, fmi2True);
    return handle_ != nullptr;
  }

  FmuResult set_up(const FmuExperiment& experiment) override {
    code_.set_time(experiment.start);
    return call(functions_.setup_experiment, experiment.tolerance ? fmi2True : fmi2False,
                experiment.tolerance.value_or(0.0), experiment.start, fmi2True, experiment.stop);
  }
  FmuResult enter_initialization() override { return call(functions_.enter_initialization); }
  FmuResult directional_product(std::span<const ValueReference> unknowns, std::span<const ValueReference> knowns,
                                std::span<const double> seed, std::span<double> product) override {
    return call(functions_.directional_derivative, unknowns.data(), unknowns.size(), knowns.data(), knowns.size(),
                seed.data(), product.data());
  }
  // Co-simulation of FMI 2 has no event mode.
  FmuEventUpdate update_discrete_states() override {
    fmi2EventInfo info{};
    const FmuResult result = call(functions_.new_discrete_states, &info);
    return {result, info.newDiscreteStatesNeeded != fmi2False, info.terminateSimulation != fmi2False,
            info.nextEventTimeDefined != fmi2False ? info.nextEventTime : kNever};
  }
  FmuResult enter_step_mode() override { return call(functions_.enter_continuous_time); }

  FmuCompletedStep complete_integrator_step(bool may_go_back) override {
    fmi2Boolean event = fmi2False;
    fmi2Boolean terminate = fmi2False;
    const FmuResult result = call(functions_.completed_step, may_go_back ? fmi2False : fmi2True, &event, &terminate);
    return {result, event != fmi2False, terminate != fmi2False};
  }

 private:
  FmuResult make_step(const FmuStepCall& arguments) override {
    return call(functions_.do_step, arguments.from, arguments.size, arguments.may_go_back ? fmi2False : fmi2True);
  }
  void ask_how_far(FmuStepResult& result, Time from) const override {
    fmi2Real reached = from;
    fmi2Boolean terminated = fmi2False;
    if (functions_.get_real_status.exists() &&
        functions_.get_real_status(code_, handle_, fmi2LastSuccessfulTime, &reached) > fmi2Warning) {
      reached = from;
    }
    if (functions_.get_boolean_status.exists() &&
        functions_.get_boolean_status(code_, handle_, fmi2Terminated, &terminated) > fmi2Warning) {
      terminated = fmi2False;
    }
    result.reached = reached;
    result.terminated = terminated != fmi2False;
  }

  const FmuDescription& description_;
  const LiveEnvironment environment_;
  fmi2CallbackFunctions callbacks_;
};

struct Fmi2HeldCalls {
  static constexpr fmi2Status kOk = fmi2OK;
  static constexpr const char* kSet = "fmi2SetReal";
  static constexpr const char* kStep = "fmi2DoStep";
  static constexpr const char* kGet = "fmi2GetReal";

  static fmi2Status set(const FmuHeldStep& held, const double* values) {
    return reinterpret_cast<fmi2SetRealTYPE*>(held.set)(held.handle, held.inputs.data(), held.inputs.size(), values);
  }
  static fmi2Status step(const FmuHeldStep& held, Time from, Duration size, FmuEnding&) {
    return reinterpret_cast<fmi2DoStepTYPE*>(held.step)(held.handle, from, size,
                                                        held.may_go_back ? fmi2False : fmi2True);
  }
  static fmi2Status get(const FmuHeldStep& held, double* values) {
    return reinterpret_cast<fmi2GetRealTYPE*>(held.get)(held.handle, held.outputs.data(), held.outputs.size(), values);
  }
};

}  // namespace

HeldStep::Function fmi2_held_step() {
  return step_held<Fmi2HeldCalls>;
}

std::unique_ptr<FmuFunctions> make_fmi2_functions(const FmuLibrary& library, const FmuDescription& description) {
  return std::make_unique<VersionedFunctions<Fmi2Functions, Fmi2Instance>>(library, description);
}

}  // namespace entrain::subsystem
