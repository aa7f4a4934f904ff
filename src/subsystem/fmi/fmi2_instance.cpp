#include <fmt/format.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "subsystem/fmi/fmi2_api.h"
#include "subsystem/fmi/fmu_instance.hpp"
#include "subsystem/fmi/log_references.hpp"

namespace entrain {
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

/// What an instance finds outside itself.
struct Environment {
  FmuLog& log;
  const FmuDescription& description;
};

void log_message(fmi2ComponentEnvironment environment, fmi2String, fmi2Status, fmi2String category, fmi2String message,
                 ...) {
  if (environment == nullptr || message == nullptr) return;
  char formatted[1200];
  if (std::strchr(message, '%') != nullptr && is_harmless_format(message)) {
    va_list arguments;
    va_start(arguments, message);
    if (std::vsnprintf(formatted, sizeof formatted, message, arguments) >= 0) message = formatted;
    va_end(arguments);
  }
  const auto& outside = *static_cast<const Environment*>(environment);
  outside.log.add(category, with_names(message, outside.description).c_str());
}

void* allocate(size_t count, size_t size) {
  return std::calloc(count, size);
}

void release(void* memory) {
  std::free(memory);
}

void step_finished(fmi2ComponentEnvironment, fmi2Status) {}

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

struct Functions {
  explicit Functions(const FmuLibrary& library) : library_(library) {}

  const FmuLibrary& library_;
  FmuSymbol<fmi2InstantiateTYPE> instantiate{library_, "fmi2Instantiate"};
  FmuSymbol<fmi2FreeInstanceTYPE> free_instance{library_, "fmi2FreeInstance"};
  FmuSymbol<fmi2SetDebugLoggingTYPE> set_debug_logging{library_, "fmi2SetDebugLogging"};
  FmuSymbol<fmi2SetupExperimentTYPE> setup_experiment{library_, "fmi2SetupExperiment"};
  FmuSymbol<fmi2EnterInitializationModeTYPE> enter_initialization{library_, "fmi2EnterInitializationMode"};
  FmuSymbol<fmi2ExitInitializationModeTYPE> exit_initialization{library_, "fmi2ExitInitializationMode"};
  FmuSymbol<fmi2TerminateTYPE> terminate{library_, "fmi2Terminate"};
  FmuSymbol<fmi2ResetTYPE> reset{library_, "fmi2Reset"};
  FmuSymbol<fmi2GetRealTYPE> get_real{library_, "fmi2GetReal"};
  FmuSymbol<fmi2SetRealTYPE> set_real{library_, "fmi2SetReal"};
  FmuSymbol<fmi2SetIntegerTYPE> set_integer{library_, "fmi2SetInteger"};
  FmuSymbol<fmi2SetBooleanTYPE> set_boolean{library_, "fmi2SetBoolean"};
  FmuSymbol<fmi2SetStringTYPE> set_string{library_, "fmi2SetString"};
  FmuSymbol<fmi2GetFMUstateTYPE> get_state{library_, "fmi2GetFMUstate"};
  FmuSymbol<fmi2SetFMUstateTYPE> set_state{library_, "fmi2SetFMUstate"};
  FmuSymbol<fmi2FreeFMUstateTYPE> free_state{library_, "fmi2FreeFMUstate"};
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

class Instance final : public FmuInstance {
 public:
  Instance(const Functions& functions, const FmuDescription& description, FmuLog& log)
      : functions_(functions),
        code_(log.code()),
        environment_{log, description},
        callbacks_{log_message, allocate, release, step_finished, &environment_} {}
  Instance(const Instance&) = delete;  // the FMU keeps the address of the environment
  Instance& operator=(const Instance&) = delete;

  ~Instance() override {
    if (component_ == nullptr || worst_ == FmuStatus::Fatal || !code_.usable()) return;  // no call is allowed then
    try {
      if (stepping_ && worst_ < FmuStatus::Error) static_cast<void>(call(functions_.terminate));
      if (worst_ != FmuStatus::Fatal) functions_.free_instance(code_, component_);
    } catch (const std::exception&) {  // a function that is missing: nothing can be freed
    }
  }

  bool create(const std::string& name, const FmuDescription& description, const std::filesystem::path& root,
              FmuInterface interface) {
    const fmi2Type type = interface == FmuInterface::CoSimulation ? fmi2CoSimulation : fmi2ModelExchange;
    component_ = functions_.instantiate(code_, name.c_str(), type, description.token.c_str(),
                                        file_uri(root / "resources").c_str(), &callbacks_, fmi2False, fmi2True);
    const auto categories =
        trouble_categories(description);  // none named: everything is logged, and its last lines kept
    if (component_ != nullptr && !categories.empty() && functions_.set_debug_logging.exists()) {
      static_cast<void>(call(functions_.set_debug_logging, fmi2True, categories.size(), categories.data()));
    }
    return component_ != nullptr;
  }

  FmuResult set_value(const FmuVariable& variable, const Value& value) override {
    const ValueReference* reference = &variable.reference;
    switch (variable.type) {
      case FmuType::Float64: return call(functions_.set_real, reference, 1U, &std::get<double>(value));
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

  FmuResult set_up(Time start, Time stop) override {
    code_.set_time(start);
    return call(functions_.setup_experiment, fmi2False, 0.0, start, fmi2True, stop);
  }
  FmuResult enter_initialization() override { return call(functions_.enter_initialization); }
  FmuResult exit_initialization() override {
    stepping_ = true;
    return call(functions_.exit_initialization);
  }
  FmuResult reset() override {
    stepping_ = false;
    const FmuResult result = call(functions_.reset);
    if (result.done()) worst_ = FmuStatus::Ok;
    return result;
  }

  FmuResult set_reals(std::span<const ValueReference> references, const double* values) override {
    return call(functions_.set_real, references.data(), references.size(), values);
  }
  FmuResult get_reals(std::span<const ValueReference> references, double* values) override {
    return call(functions_.get_real, references.data(), references.size(), values);
  }
  FmuResult set_input_derivatives(std::span<const ValueReference> references, const int* orders,
                                  const double* values) override {
    return call(functions_.set_input_derivatives, references.data(), references.size(), orders, values);
  }
  FmuResult get_output_derivatives(std::span<const ValueReference> references, const int* orders,
                                   double* values) override {
    return call(functions_.get_output_derivatives, references.data(), references.size(), orders, values);
  }
  FmuResult directional_derivative(std::span<const ValueReference> unknowns, ValueReference known,
                                   double* column) override {
    const double seed = 1.0;
    return call(functions_.directional_derivative, unknowns.data(), unknowns.size(), &known, 1U, &seed, column);
  }

  FmuResult adjoint_derivative(ValueReference, std::span<const ValueReference>, double*) override {
    return {FmuStatus::Error, "an adjoint derivative of FMI 2"};
  }

  FmuResult get_state(State& state) override { return call(functions_.get_state, &state); }
  FmuResult set_state(State state) override { return call(functions_.set_state, state); }
  FmuResult free_state(State& state) override { return call(functions_.free_state, &state); }

  // Co-simulation of FMI 2 has no event mode.
  FmuResult enter_event_mode() override { return call(functions_.enter_event_mode); }
  FmuEventUpdate update_discrete_states() override {
    fmi2EventInfo info{};
    const FmuResult result = call(functions_.new_discrete_states, &info);
    return {result, info.newDiscreteStatesNeeded != fmi2False, info.terminateSimulation != fmi2False,
            info.nextEventTimeDefined != fmi2False ? info.nextEventTime : kNever};
  }
  FmuResult enter_step_mode() override { return call(functions_.enter_continuous_time); }

  FmuStepResult step(const FmuStepCall& arguments, double* outputs) override {
    FmuStepResult result{{}, arguments.from + arguments.size, false};
    code_.set_time(arguments.from);
    if (!arguments.inputs.empty()) {
      result.result = set_reals(arguments.inputs, arguments.input_values);
      if (!result.result.done()) return failed(result);
    }
    if (!arguments.derivative_inputs.empty()) {
      result.result = graver(
          result.result,
          set_input_derivatives(arguments.derivative_inputs, arguments.derivative_orders, arguments.derivative_values));
      if (!result.result.done()) return failed(result);
    }
    result.result = graver(result.result, call(functions_.do_step, arguments.from, arguments.size,
                                               arguments.may_go_back ? fmi2False : fmi2True));
    if (result.result.status == FmuStatus::Discard) ask_how_far(result, arguments.from);
    if (result.result.status > FmuStatus::Discard || outputs == nullptr || arguments.outputs.empty()) return result;
    const FmuResult got = get_reals(arguments.outputs, outputs);
    if (!got.done()) return failed({got, result.reached, result.terminated});
    if (result.result.done()) result.result = graver(result.result, got);
    return result;
  }

  FmuResult set_time(Time t) override {
    code_.set_time(t);
    return call(functions_.set_time, t);
  }
  FmuResult set_continuous_states(std::span<const double> x) override {
    return call(functions_.set_continuous_states, x.data(), x.size());
  }
  FmuResult get_continuous_states(std::span<double> x) override {
    return call(functions_.get_continuous_states, x.data(), x.size());
  }
  FmuResult get_nominals(std::span<double> nominals) override {
    return call(functions_.get_nominals, nominals.data(), nominals.size());
  }
  FmuResult get_derivatives(std::span<double> dx) override {
    return call(functions_.get_derivatives, dx.data(), dx.size());
  }
  FmuResult get_event_indicators(std::span<double> z) override {
    return call(functions_.get_event_indicators, z.data(), z.size());
  }
  FmuResult count_event_indicators(std::size_t&) override { return {}; }
  FmuCompletedStep complete_integrator_step(bool may_go_back) override {
    fmi2Boolean event = fmi2False;
    fmi2Boolean terminate = fmi2False;
    const FmuResult result = call(functions_.completed_step, may_go_back ? fmi2False : fmi2True, &event, &terminate);
    return {result, event != fmi2False, terminate != fmi2False};
  }
  FmuResult directional_product(std::span<const ValueReference> unknowns, std::span<const ValueReference> knowns,
                                const double* seed, double* product) override {
    return call(functions_.directional_derivative, unknowns.data(), unknowns.size(), knowns.data(), knowns.size(), seed,
                product);
  }

 private:
  /// A discarded get or set is no discarded step: there is nothing to repeat.
  static FmuStepResult failed(FmuStepResult result) {
    result.result.status = std::max(result.result.status, FmuStatus::Error);
    return result;
  }

  /// fmi2Pending is not understood: the engine asks for no asynchronous steps.
  static FmuStatus translated(fmi2Status status) {
    return status >= fmi2OK && status <= fmi2Fatal ? static_cast<FmuStatus>(status) : FmuStatus::Error;
  }

  template <class Symbol, class... Arguments>
  FmuResult call(const Symbol& symbol, Arguments... arguments) {
    if (worst_ == FmuStatus::Fatal) return {FmuStatus::Fatal, symbol.name()};  // no further call is allowed
    const FmuStatus status = translated(symbol(code_, component_, arguments...));
    if (status > worst_) worst_ = status;
    return {status, symbol.name()};
  }

  void ask_how_far(FmuStepResult& result, Time from) const {
    fmi2Real reached = from;
    fmi2Boolean terminated = fmi2False;
    if (functions_.get_real_status.exists() &&
        functions_.get_real_status(code_, component_, fmi2LastSuccessfulTime, &reached) > fmi2Warning) {
      reached = from;
    }
    if (functions_.get_boolean_status.exists() &&
        functions_.get_boolean_status(code_, component_, fmi2Terminated, &terminated) > fmi2Warning) {
      terminated = fmi2False;
    }
    result.reached = reached;
    result.terminated = terminated != fmi2False;
  }

  const Functions& functions_;
  ForeignCode& code_;
  Environment environment_;
  fmi2CallbackFunctions callbacks_;
  fmi2Component component_ = nullptr;
  FmuStatus worst_ = FmuStatus::Ok;
  bool stepping_ = false;
};

class Fmi2Functions final : public FmuFunctions {
 public:
  Fmi2Functions(const FmuLibrary& library, const FmuDescription& description)
      : functions_(library), description_(description) {}

  std::unique_ptr<FmuInstance> instantiate(const std::string& name, const std::filesystem::path& root,
                                           const FmuUse& use, FmuLog& log) const override {
    auto instance = std::make_unique<Instance>(functions_, description_, log);
    if (!instance->create(name, description_, root, use.interface)) return nullptr;
    return instance;
  }

 private:
  Functions functions_;
  const FmuDescription& description_;
};

}  // namespace

std::unique_ptr<FmuFunctions> make_fmi2_functions(const FmuLibrary& library, const FmuDescription& description) {
  return std::make_unique<Fmi2Functions>(library, description);
}

}  // namespace entrain
