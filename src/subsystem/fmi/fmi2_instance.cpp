#include <fmt/format.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "subsystem/fmi/fmi2_api.h"
#include "subsystem/fmi/held_step.hpp"
#include "subsystem/fmi/live_environments.hpp"
#include "subsystem/fmi/log_references.hpp"
#include "subsystem/fmi/versioned_instance.hpp"

namespace entrain::subsystem {
namespace {

/// FMUs pass messages with '%' in them that are no formats, and %n writes to memory.
bool is_harmless_format(std::string_view text) {
  constexpr std::string_view kFlags = "-+ #0123456789.*'hlLqjzt";
  for (std::size_t i = text.find('%'); i != std::string_view::npos; i = text.find('%', i + 1)) {
    const std::size_t conversion = text.find_first_not_of(kFlags, i + 1);
    if (conversion == std::string_view::npos) return false;
    if (std::string_view("diouxXeEfFgGaAcsp%").find(text[conversion]) == std::string_view::npos) return false;
    i = conversion;
  }
  return true;
}

void log_message(fmi2ComponentEnvironment environment, fmi2String, fmi2Status status, fmi2String category,
                 fmi2String message, ...) {
  if (environment == nullptr || message == nullptr) return;
  const LiveEnvironments::Use use(environment);
  const bool trouble = status != fmi2OK;
  if (!use || !use.log().takes(trouble, category)) return;
  char formatted[1200];
  if (std::strchr(message, '%') != nullptr && is_harmless_format(message)) {
    va_list arguments;
    va_start(arguments, message);
    if (std::vsnprintf(formatted, sizeof formatted, message, arguments) >= 0) message = formatted;
    va_end(arguments);
  }
  use.log().add(trouble, category, with_names(message, use.description()).c_str());
}

void* allocate(size_t count, size_t size) {
  return std::calloc(count, size);
}

void release(void* memory) {
  std::free(memory);
}

/// "file:///..." with everything but letters, digits and -._~/ as %NN (RFC 3986).
std::string file_uri(const std::filesystem::path& path) {
  std::string uri = "file://";
  for (const char c : path.string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
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

class Fmi2Instance final : public VersionedInstance<Fmi2Functions, fmi2Component> {
 public:
  Fmi2Instance(const Fmi2Functions& functions, const FmuDescription& description, FmuLog& log)
      : VersionedInstance(functions, log),
        description_(description),
        environment_(this, log, description),
        // No stepFinished: it permits an FMU to step asynchronously, and its callback is then awaited.
        callbacks_{log_message, allocate, release, nullptr, this} {}
  ~Fmi2Instance() override { end(); }

  bool create(const std::string& name, const std::filesystem::path& root, const FmuUse& use) {
    const fmi2Type type = use.interface == FmuInterface::CoSimulation ? fmi2CoSimulation : fmi2ModelExchange;
    handle_ = functions_.instantiate(code_, name.c_str(), type, description_.token.c_str(),
                                     file_uri(root / "resources").c_str(), &callbacks_, fmi2False, fmi2True);
    ask_for_messages(description_, fmi2True);
    return handle_ != nullptr;
  }

  /// FMI 2 has scalars only.
  FmuResult set_values(const FmuVariable& variable, std::span<const Value> values) override {
    const ValueReference* reference = &variable.reference;
    const Value& value = values.front();
    switch (variable.type) {
      case FmuType::Float64: return call(functions_.set_reals, reference, 1U, &std::get<double>(value));
      case FmuType::Boolean: {
        const fmi2Boolean boolean = std::get<bool>(value) ? fmi2True : fmi2False;
        return call(functions_.set_boolean, reference, 1U, &boolean);
      }
      case FmuType::String: {
        fmi2String text = std::get<std::string>(value).c_str();
        return call(functions_.set_string, reference, 1U, &text);
      }
      default: {
        const auto integer = checked_integer<fmi2Integer>(variable, value);
        return call(functions_.set_integer, reference, 1U, &integer);
      }
    }
  }
  FmuResult get_values(const FmuVariable& variable, std::span<Value> values) override {
    const auto get = [&](const auto& symbol, auto plain, const auto& as_value) {
      const FmuResult result = call(symbol, &variable.reference, 1U, &plain);
      values.front() = as_value(plain);
      return result;
    };
    switch (variable.type) {
      case FmuType::Float64: return get(functions_.get_reals, fmi2Real{}, [](fmi2Real x) { return Value(x); });
      case FmuType::Boolean:
        return get(functions_.get_boolean, fmi2Boolean{}, [](fmi2Boolean flag) { return Value(flag != fmi2False); });
      case FmuType::String:
        return get(functions_.get_string, fmi2String{},
                   [](fmi2String text) { return Value(std::string(text == nullptr ? "" : text)); });
      default: return get(functions_.get_integer, fmi2Integer{}, [](fmi2Integer i) { return Value(std::int64_t{i}); });
    }
  }
  FmuResult enter_configuration() override { return {FmuStatus::Error, "the configuration mode of FMI 2"}; }
  FmuResult exit_configuration() override { return enter_configuration(); }

  FmuResult set_up(const FmuExperiment& experiment) override {
    code_.set_time(experiment.start);
    return call(functions_.setup_experiment, experiment.tolerance ? fmi2True : fmi2False,
                experiment.tolerance.value_or(0.0), experiment.start, fmi2True, experiment.stop);
  }
  FmuResult enter_initialization() override { return call(functions_.enter_initialization); }
  FmuResult set_reals(const FmuReals& reals, const double* values) override {
    return call(functions_.set_reals, reals.doubles.data(), reals.doubles.size(), values);
  }
  FmuResult get_reals(const FmuReals& reals, double* values) override {
    return call(functions_.get_reals, reals.doubles.data(), reals.doubles.size(), values);
  }
  FmuResult set_input_derivatives(std::span<const ValueReference> references, const int* orders,
                                  const double* values) override {
    refused_order_ = 0;
    const std::size_t count = references.size();
    const bool one_order = count == 0 || orders[0] == orders[count - 1];
    if (!one_order && !order_by_order_) {
      const FmuResult all = call(functions_.set_input_derivatives, references.data(), count, orders, values);
      if (all.status == FmuStatus::Ok || !all.done()) return all;
      order_by_order_ = true;  // the standard allows several orders in a call; some FMUs warn, and hold their inputs
    }
    FmuResult result;
    for (std::size_t first = 0; first < count && result.done();) {
      std::size_t end = first;
      while (end < count && orders[end] == orders[first]) ++end;
      const FmuResult one = call(functions_.set_input_derivatives, references.data() + first, end - first,
                                 orders + first, values + first);
      if (one.status == FmuStatus::Warning && refused_order_ == 0) refused_order_ = orders[first];
      result = graver(result, one);
      first = end;
    }
    return result;
  }
  FmuResult get_output_derivatives(std::span<const ValueReference> references, const int* orders,
                                   double* values) override {
    return call(functions_.get_output_derivatives, references.data(), references.size(), orders, values);
  }
  FmuResult directional_product(std::span<const ValueReference> unknowns, std::span<const ValueReference> knowns,
                                std::span<const double> seed, std::span<double> product) override {
    return call(functions_.directional_derivative, unknowns.data(), unknowns.size(), knowns.data(), knowns.size(),
                seed.data(), product.data());
  }
  FmuResult adjoint_product(std::span<const ValueReference>, std::span<const ValueReference>, std::span<const double>,
                            std::span<double>) override {
    return {FmuStatus::Error, "an adjoint derivative of FMI 2"};
  }

  // Co-simulation of FMI 2 has no event mode.
  FmuEventUpdate update_discrete_states() override {
    fmi2EventInfo info{};
    const FmuResult result = call(functions_.new_discrete_states, &info);
    return {result, info.newDiscreteStatesNeeded != fmi2False, info.terminateSimulation != fmi2False,
            info.nextEventTimeDefined != fmi2False ? info.nextEventTime : kNever};
  }
  FmuResult enter_step_mode() override { return call(functions_.enter_continuous_time); }

  FmuStepResult step(const FmuStepCall& arguments, double* outputs) override {
    code_.set_time(arguments.from);
    FmuResult sent;
    if (!arguments.inputs.empty()) sent = set_reals(arguments.inputs, arguments.input_values);
    return made_with_inputs(sent, arguments, outputs);
  }

  FmuResult count_event_indicators(std::size_t&) override { return {}; }
  FmuCompletedStep complete_integrator_step(bool may_go_back) override {
    fmi2Boolean event = fmi2False;
    fmi2Boolean terminate = fmi2False;
    const FmuResult result = call(functions_.completed_step, may_go_back ? fmi2False : fmi2True, &event, &terminate);
    return {result, event != fmi2False, terminate != fmi2False};
  }

 private:
  FmuStepResult made_with_inputs(FmuResult sent, const FmuStepCall& arguments, double* outputs) override {
    const Time end = arguments.from + arguments.size;
    if (!sent.done()) return failed({sent, end});
    if (!arguments.derivative_inputs.empty()) {
      sent = graver(sent, set_input_derivatives(arguments.derivative_inputs, arguments.derivative_orders,
                                                arguments.derivative_values));
      if (!sent.done()) return failed({sent, end});
    }
    const int refused = arguments.derivative_inputs.empty() ? 0 : refused_order_;
    const FmuResult made =
        call(functions_.do_step, arguments.from, arguments.size, arguments.may_go_back ? fmi2False : fmi2True);
    FmuStepResult result = ended(refused > 0 ? made : graver(sent, made), {}, arguments, outputs);
    result.refused_order = refused;
    return result;
  }
  FmuStepResult ended(const FmuResult& made, const FmuEnding&, const FmuStepCall& arguments, double* outputs) override {
    FmuStepResult result{made, arguments.from + arguments.size};
    if (made.status == FmuStatus::Discard) ask_how_far(result, arguments.from);
    return with_outputs(result, arguments, outputs);
  }

  void ask_how_far(FmuStepResult& result, Time from) const {
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
  bool order_by_order_ = false;  ///< input derivatives are set in one call for each order
  int refused_order_ = 0;        ///< by the last call that set them
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
