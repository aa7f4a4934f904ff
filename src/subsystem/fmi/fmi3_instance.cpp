#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/finally.hpp"
#include "subsystem/fmi/fmi3_api.h"
#include "subsystem/fmi/fmi3_values.hpp"
#include "subsystem/fmi/fmi_text.hpp"
#include "subsystem/fmi/held_step.hpp"
#include "subsystem/fmi/input_sampling.hpp"
#include "subsystem/fmi/live_environments.hpp"
#include "subsystem/fmi/versioned_instance.hpp"

namespace entrain::subsystem {
namespace {

struct Fmi3Functions {
  explicit Fmi3Functions(const FmuLibrary& library) : library_(library) {}

  const FmuLibrary& library_;
  FmuSymbol<fmi3InstantiateCoSimulationTYPE> instantiate{library_, "fmi3InstantiateCoSimulation"};
  FmuSymbol<fmi3InstantiateModelExchangeTYPE> instantiate_exchange{library_, "fmi3InstantiateModelExchange"};
  FmuSymbol<fmi3FreeInstanceTYPE> free_instance{library_, "fmi3FreeInstance"};
  FmuSymbol<fmi3SetDebugLoggingTYPE> set_debug_logging{library_, "fmi3SetDebugLogging"};
  FmuSymbol<fmi3EnterInitializationModeTYPE> enter_initialization{library_, "fmi3EnterInitializationMode"};
  FmuSymbol<fmi3ExitInitializationModeTYPE> exit_initialization{library_, "fmi3ExitInitializationMode"};
  FmuSymbol<fmi3TerminateTYPE> terminate{library_, "fmi3Terminate"};
  FmuSymbol<fmi3ResetTYPE> reset{library_, "fmi3Reset"};
  FmuSymbol<fmi3GetFloat64TYPE> get_reals{library_, "fmi3GetFloat64"};
  FmuSymbol<fmi3SetFloat64TYPE> set_reals{library_, "fmi3SetFloat64"};
  FmuSymbol<fmi3GetFloat32TYPE> get_float32{library_, "fmi3GetFloat32"};
  FmuSymbol<fmi3SetFloat32TYPE> set_float32{library_, "fmi3SetFloat32"};
  Fmi3Values values{library_};
  FmuSymbol<fmi3EnterConfigurationModeTYPE> enter_configuration{library_, "fmi3EnterConfigurationMode"};
  FmuSymbol<fmi3ExitConfigurationModeTYPE> exit_configuration{library_, "fmi3ExitConfigurationMode"};
  FmuSymbol<fmi3GetFMUStateTYPE> get_state{library_, "fmi3GetFMUState"};
  FmuSymbol<fmi3SetFMUStateTYPE> set_state{library_, "fmi3SetFMUState"};
  FmuSymbol<fmi3FreeFMUStateTYPE> free_state{library_, "fmi3FreeFMUState"};
  FmuSymbol<fmi3SerializedFMUStateSizeTYPE> serialized_size{library_, "fmi3SerializedFMUStateSize"};
  FmuSymbol<fmi3SerializeFMUStateTYPE> serialize_state{library_, "fmi3SerializeFMUState"};
  FmuSymbol<fmi3DeserializeFMUStateTYPE> deserialize_state{library_, "fmi3DeserializeFMUState"};
  using Byte = fmi3Byte;
  FmuSymbol<fmi3GetDirectionalDerivativeTYPE> directional_derivative{library_, "fmi3GetDirectionalDerivative"};
  FmuSymbol<fmi3GetAdjointDerivativeTYPE> adjoint_derivative{library_, "fmi3GetAdjointDerivative"};
  FmuSymbol<fmi3GetOutputDerivativesTYPE> get_output_derivatives{library_, "fmi3GetOutputDerivatives"};
  FmuSymbol<fmi3EnterEventModeTYPE> enter_event_mode{library_, "fmi3EnterEventMode"};
  FmuSymbol<fmi3UpdateDiscreteStatesTYPE> update_discrete_states{library_, "fmi3UpdateDiscreteStates"};
  FmuSymbol<fmi3EnterStepModeTYPE> enter_step_mode{library_, "fmi3EnterStepMode"};
  FmuSymbol<fmi3EnterContinuousTimeModeTYPE> enter_continuous_time{library_, "fmi3EnterContinuousTimeMode"};
  FmuSymbol<fmi3CompletedIntegratorStepTYPE> completed_step{library_, "fmi3CompletedIntegratorStep"};
  FmuSymbol<fmi3SetTimeTYPE> set_time{library_, "fmi3SetTime"};
  FmuSymbol<fmi3SetContinuousStatesTYPE> set_continuous_states{library_, "fmi3SetContinuousStates"};
  FmuSymbol<fmi3GetContinuousStatesTYPE> get_continuous_states{library_, "fmi3GetContinuousStates"};
  FmuSymbol<fmi3GetNominalsOfContinuousStatesTYPE> get_nominals{library_, "fmi3GetNominalsOfContinuousStates"};
  FmuSymbol<fmi3GetContinuousStateDerivativesTYPE> get_derivatives{library_, "fmi3GetContinuousStateDerivatives"};
  FmuSymbol<fmi3GetEventIndicatorsTYPE> get_event_indicators{library_, "fmi3GetEventIndicators"};
  FmuSymbol<fmi3GetNumberOfEventIndicatorsTYPE> count_event_indicators{library_, "fmi3GetNumberOfEventIndicators"};
  FmuSymbol<fmi3DoStepTYPE> do_step{library_, "fmi3DoStep"};
  FmuSymbol<fmi3InstantiateScheduledExecutionTYPE> instantiate_scheduled{library_, "fmi3InstantiateScheduledExecution"};
  FmuSymbol<fmi3ActivateModelPartitionTYPE> activate_partition{library_, "fmi3ActivateModelPartition"};
  FmuSymbol<fmi3GetClockTYPE> get_clock{library_, "fmi3GetClock"};
  FmuSymbol<fmi3SetClockTYPE> set_clock{library_, "fmi3SetClock"};
  FmuSymbol<fmi3GetIntervalDecimalTYPE> get_interval_decimal{library_, "fmi3GetIntervalDecimal"};
  FmuSymbol<fmi3GetIntervalFractionTYPE> get_interval_fraction{library_, "fmi3GetIntervalFraction"};
  FmuSymbol<fmi3GetShiftDecimalTYPE> get_shift_decimal{library_, "fmi3GetShiftDecimal"};
  FmuSymbol<fmi3GetShiftFractionTYPE> get_shift_fraction{library_, "fmi3GetShiftFraction"};
};

class Fmi3Instance final : public VersionedInstance<Fmi3Functions, fmi3Instance> {
 public:
  Fmi3Instance(const Fmi3Functions& functions, const FmuDescription& description, FmuLog& log)
      : VersionedInstance(functions, log), description_(description), environment_(this, log, description) {}
  ~Fmi3Instance() override { end(); }

  bool create(const std::string& name, const std::filesystem::path& root, const FmuUse& use) {
    exchange_ = use.interface == FmuInterface::ModelExchange;
    scheduled_ = use.interface == FmuInterface::ScheduledExecution;
    const std::string folder = (root / "resources").string() + "/";
    fmi3String resources = std::filesystem::exists(folder) ? folder.c_str() : nullptr;
    fmi3String token = description_.token.c_str();
    if (exchange_) {
      handle_ = functions_.instantiate_exchange(code_, name.c_str(), token, resources, fmi3False, fmi3True,
                                                static_cast<fmi3InstanceEnvironment>(this), log_message);
    } else if (scheduled_) {
      // Partitions run one after the other on this thread: none is ever interrupted.
      handle_ = functions_.instantiate_scheduled(
          code_, name.c_str(), token, resources, fmi3False, fmi3True, static_cast<fmi3InstanceEnvironment>(this),
          log_message, clock_update, [] {}, [] {});
    } else {
      const auto intermediate = intermediate_inputs(description_);
      sampling_ = InputSampling(description_.co_simulation->fixed_internal_step);
      // Early returns are always allowed: where one ends, the engine steps on.
      handle_ = functions_.instantiate(code_, name.c_str(), token, resources, fmi3False, fmi3True, use.event_mode,
                                       fmi3True, intermediate.data(), intermediate.size(),
                                       static_cast<fmi3InstanceEnvironment>(this), log_message,
                                       intermediate.empty() && !can_be_stopped() ? nullptr : intermediate_update);
    }
    ask_for_messages(description_, fmi3True);
    return handle_ != nullptr;
  }

  FmuResult set_values(const FmuVariable& variable, std::span<const Value> values) override {
    if (worst_ == FmuStatus::Fatal) return {FmuStatus::Fatal, "setting a value"};  // no further call is allowed
    const Fmi3Called called = functions_.values.set({code_, handle_}, variable, values);
    return noted(static_cast<int>(called.status), called.function);
  }
  FmuResult get_values(const FmuVariable& variable, std::span<Value> values) override {
    if (worst_ == FmuStatus::Fatal) return {FmuStatus::Fatal, "getting a value"};
    if (variable.numbered > 0) return get_numbered(variable, values);
    const Fmi3Called called = functions_.values.get({code_, handle_}, variable, values);
    return noted(static_cast<int>(called.status), called.function);
  }
  FmuResult enter_configuration() override { return call(functions_.enter_configuration); }
  FmuResult exit_configuration() override { return call(functions_.exit_configuration); }

  /// FMI 3 passes it together with the initialization mode.
  FmuResult set_up(const FmuExperiment& experiment) override {
    code_.set_time(experiment.start);
    experiment_ = experiment;
    ticked_.clear();
    countdowns_.clear();
    return {};
  }
  FmuResult enter_initialization() override {
    return call(functions_.enter_initialization, static_cast<fmi3Boolean>(experiment_.tolerance.has_value()),
                experiment_.tolerance.value_or(0.0), experiment_.start, fmi3True, experiment_.stop);
  }

  FmuResult set_reals(const FmuReals& reals, const double* values) override {
    FmuResult result;
    if (!reals.doubles.empty()) {
      result = call(functions_.set_reals, reals.doubles.data(), reals.doubles.size(), values, reals.double_values);
    }
    return reals.floats.empty() || !result.done() ? result : graver(result, set_floats(reals, values));
  }
  FmuResult get_reals(const FmuReals& reals, double* values) override {
    FmuResult result;
    if (!reals.doubles.empty()) {
      result = call(functions_.get_reals, reals.doubles.data(), reals.doubles.size(), values, reals.double_values);
    }
    return reals.floats.empty() || !result.done() ? result : graver(result, get_floats(reals, values));
  }
  /// FMI 3 has no such function; inputs change inside a step by intermediate update.
  FmuResult set_input_derivatives(std::span<const ValueReference>, const int*, const double*) override {
    return {FmuStatus::Error, "fmi3DoStep with input derivatives"};
  }
  FmuResult get_output_derivatives(std::span<const ValueReference> references, const int* orders,
                                   double* values) override {
    return call(functions_.get_output_derivatives, references.data(), references.size(), orders, values,
                references.size());
  }
  FmuResult directional_product(std::span<const ValueReference> unknowns, std::span<const ValueReference> knowns,
                                std::span<const double> seed, std::span<double> product) override {
    return call(functions_.directional_derivative, unknowns.data(), unknowns.size(), knowns.data(), knowns.size(),
                seed.data(), seed.size(), product.data(), product.size());
  }
  FmuResult adjoint_product(std::span<const ValueReference> unknowns, std::span<const ValueReference> knowns,
                            std::span<const double> seed, std::span<double> product) override {
    return call(functions_.adjoint_derivative, unknowns.data(), unknowns.size(), knowns.data(), knowns.size(),
                seed.data(), seed.size(), product.data(), product.size());
  }

  FmuEventUpdate update_discrete_states() override {
    fmi3Boolean again = fmi3False;
    fmi3Boolean terminate = fmi3False;
    fmi3Boolean nominals_changed = fmi3False;
    fmi3Boolean states_changed = fmi3False;
    fmi3Boolean next_is_known = fmi3False;
    fmi3Float64 next = kNever;
    const FmuResult result = call(functions_.update_discrete_states, &again, &terminate, &nominals_changed,
                                  &states_changed, &next_is_known, &next);
    return {result, again, terminate, next_is_known ? next : kNever};
  }
  FmuResult enter_step_mode() override {
    return exchange_ ? call(functions_.enter_continuous_time) : call(functions_.enter_step_mode);
  }

  FmuResult activate_clocks(std::span<const ValueReference> clocks) override {
    const auto active = std::make_unique<fmi3Clock[]>(clocks.size());
    std::fill_n(active.get(), clocks.size(), fmi3ClockActive);
    const fmi3Clock* values = active.get();
    return call(functions_.set_clock, clocks.data(), clocks.size(), values);
  }
  FmuResult get_clocks(std::span<const ValueReference> clocks, std::span<unsigned char> active) override {
    if (scheduled_) {
      for (std::size_t i = 0; i < clocks.size(); ++i) active[i] = static_cast<unsigned char>(ticked_.erase(clocks[i]));
      return {};
    }
    const auto values = std::make_unique<fmi3Clock[]>(clocks.size());
    const FmuResult result = call(functions_.get_clock, clocks.data(), clocks.size(), values.get());
    for (std::size_t i = 0; i < clocks.size(); ++i) active[i] = values[i] == fmi3ClockActive ? 1 : 0;
    return result;
  }
  FmuResult get_interval(const FmuVariable& clock, ClockInterval& interval, EventMode::Announced& announced) override {
    if (!scheduled_ || !stepping_ || clock.clock->kind != ClockKind::Countdown)
      return ask_interval(clock, interval, announced);
    const auto found = countdowns_.extract(clock.reference);
    announced = found ? EventMode::Announced::Changed : EventMode::Announced::Unchanged;
    if (found) interval = found.mapped();
    return {};
  }
  FmuResult activate_partition(ValueReference clock, Time t) override {
    code_.set_time(t);
    clock_trouble_ = {};
    const FmuResult made = call(functions_.activate_partition, clock, t);
    return made.done() && !clock_trouble_.done() ? clock_trouble_ : graver(clock_trouble_, made);
  }
  FmuResult get_shift(const FmuVariable& clock, ClockInterval& shift) override {
    if (clock.clock->fraction) {
      return call(functions_.get_shift_fraction, &clock.reference, std::size_t{1}, &shift.counter, &shift.resolution);
    }
    fmi3Float64 seconds = 0.0;
    const FmuResult result = call(functions_.get_shift_decimal, &clock.reference, std::size_t{1}, &seconds);
    shift = as_interval(seconds);
    return result;
  }

  bool watch_steps(const std::function<bool(Time)>* watch) override {
    watch_ = watch;
    stopped_ = false;
    return can_be_stopped();
  }
  bool take_stopped() override { return std::exchange(stopped_, false); }

  FmuStepResult step(const FmuStepCall& arguments, double* outputs) override {
    code_.set_time(arguments.from);
    input_requests_ = 0;
    intermediate_ = {};
    FmuResult sent;
    if (!arguments.inputs.empty()) {
      sent = set_reals(arguments.inputs, arguments.polynomials == nullptr
                                             ? arguments.input_values
                                             : sampling_.held_from(*arguments.polynomials, 0.0, arguments.size));
    }
    return made_with_inputs(sent, arguments, outputs);
  }

  FmuResult count_event_indicators(std::size_t& count) override {
    return call(functions_.count_event_indicators, &count);
  }
  FmuCompletedStep complete_integrator_step(bool may_go_back) override {
    fmi3Boolean event = fmi3False;
    fmi3Boolean terminate = fmi3False;
    const FmuResult result =
        call(functions_.completed_step, static_cast<fmi3Boolean>(!may_go_back), &event, &terminate);
    return {result, event, terminate};
  }

 private:
  FmuResult ask_interval(const FmuVariable& clock, ClockInterval& interval, EventMode::Announced& announced) {
    fmi3IntervalQualifier qualifier = fmi3IntervalNotYetKnown;
    FmuResult result;
    if (clock.clock->fraction) {
      result = call(functions_.get_interval_fraction, &clock.reference, std::size_t{1}, &interval.counter,
                    &interval.resolution, &qualifier);
    } else {
      fmi3Float64 seconds = 0.0;
      result = call(functions_.get_interval_decimal, &clock.reference, std::size_t{1}, &seconds, &qualifier);
      interval = as_interval(seconds);
    }
    announced = qualifier == fmi3IntervalChanged     ? EventMode::Announced::Changed
                : qualifier == fmi3IntervalUnchanged ? EventMode::Announced::Unchanged
                                                     : EventMode::Announced::NotYet;
    return result;
  }
  FmuStepResult made_with_inputs(FmuResult sent, const FmuStepCall& arguments, double* outputs) override {
    if (!sent.done()) return failed({sent, arguments.from + arguments.size});
    FmuEnding ending{arguments.from};
    under_way_ = &arguments;
    const base::Finally forget([this] { under_way_ = nullptr; });
    const FmuResult made =
        call(functions_.do_step, arguments.from, arguments.size, static_cast<fmi3Boolean>(!arguments.may_go_back),
             &ending.event, &ending.terminate, &ending.early, &ending.last);
    return ended(graver(sent, made), ending, arguments, outputs);
  }

  FmuStepResult ended(const FmuResult& made, const FmuEnding& ending, const FmuStepCall& arguments,
                      double* outputs) override {
    FmuStepResult result{made, arguments.from + arguments.size};
    result.input_requests = input_requests_;
    if (made.done()) result.result = graver(made, std::exchange(intermediate_, {}));
    if (result.result.status > FmuStatus::Discard) return result;
    result.terminated = ending.terminate;
    result.event = ending.event;
    if (ending.early || result.result.status == FmuStatus::Discard) result.reached = ending.last;
    return with_outputs(result, arguments, outputs);
  }

  static void log_message(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                          fmi3String message) {
    if (environment == nullptr || message == nullptr) return;
    const LiveEnvironments::Use use(environment);
    if (use) use.log().add(status != fmi3OK, category, message);
  }

  /// It does not end: the FMU is inside one of its calls.
  static Fmi3Instance* instance_of(fmi3InstanceEnvironment environment) {
    const LiveEnvironments::Use use(environment);
    return use ? static_cast<Fmi3Instance*>(use.address()) : nullptr;
  }

  /// A partition announces that an output clock ticked, or that a countdown begins: only here both may be asked for
  /// (FMI 3.0, section 5.2.2).
  static void clock_update(fmi3InstanceEnvironment environment) {
    Fmi3Instance* meant = instance_of(environment);
    if (meant == nullptr) return;
    auto& instance = *meant;
    try {
      instance.note_clocks();
    } catch (const std::exception&) {  // must not pass through the FMU
      instance.clock_trouble_ = {FmuStatus::Error, "fmi3GetClock inside a partition"};
    }
  }

  void note_clocks() {
    for (const FmuVariable& variable : description_.variables) {
      if (!variable.clock) continue;
      FmuResult result;
      if (variable.causality == FmuCausality::Output) {
        fmi3Clock active = fmi3ClockInactive;
        result = call(functions_.get_clock, &variable.reference, std::size_t{1}, &active);
        if (active == fmi3ClockActive) ticked_.insert(variable.reference);
      } else if (variable.clock->kind == ClockKind::Countdown) {
        ClockInterval interval;
        auto announced = EventMode::Announced::NotYet;
        result = ask_interval(variable, interval, announced);
        if (announced == EventMode::Announced::Changed) countdowns_[variable.reference] = interval;
      }
      clock_trouble_ = clock_trouble_.done() ? graver(clock_trouble_, result) : clock_trouble_;
    }
  }

  bool can_be_stopped() const { return description_.co_simulation->returns_on_request; }

  static void intermediate_update(fmi3InstanceEnvironment environment, fmi3Float64 time, fmi3Boolean set_requested,
                                  fmi3Boolean, fmi3Boolean step_finished, fmi3Boolean can_return,
                                  fmi3Boolean* early_return_requested, fmi3Float64* early_return_time) {
    if (early_return_requested != nullptr) *early_return_requested = fmi3False;
    Fmi3Instance* meant = instance_of(environment);
    if (meant == nullptr) return;
    auto& instance = *meant;
    try {
      if (set_requested) instance.send_inputs(time, step_finished);
      if (!step_finished || !can_return || early_return_requested == nullptr || !instance.is_to_stop(time)) return;
      *early_return_requested = fmi3True;
      if (early_return_time != nullptr) *early_return_time = time;
    } catch (const std::exception&) {  // must not pass through the FMU
      instance.intermediate_ = {FmuStatus::Error, "fmi3SetFloat64 inside a step"};
    }
  }

  bool is_to_stop(Time time) {
    stopped_ = stopped_ || (watch_ != nullptr && (*watch_)(time));
    return stopped_;
  }

  /// The FMU asks from inside its step. Held inputs stay as they are.
  void send_inputs(Time time, bool step_finished) {
    if (under_way_ == nullptr) return;
    ++input_requests_;
    if (under_way_->polynomials == nullptr) return;
    const FmuStepCall& call_under_way = *under_way_;
    const Duration s = time - call_under_way.from;
    const double* values = step_finished ? sampling_.held_from(*call_under_way.polynomials, s, call_under_way.size)
                                         : sampling_.at(*call_under_way.polynomials, s, call_under_way.size);
    const FmuResult result = set_reals(call_under_way.inputs, values);
    intermediate_ = intermediate_.done() ? graver(intermediate_, result) : intermediate_;
  }

  FmuResult set_floats(const FmuReals& reals, const double* values) {
    floats_.resize(reals.float_values);
    for (std::size_t i = 0; i < floats_.size(); ++i) {
      const double number = values[reals.double_values + i];
      if (!fits_float32(number)) refuse_float(reals, i, number);
      floats_[i] = static_cast<float>(number);
    }
    return call(functions_.set_float32, reals.floats.data(), reals.floats.size(), floats_.data(), floats_.size());
  }
  /// References do not contain how many numbers they stand for: among several arrays the culprit has no name.
  [[noreturn]] void refuse_float(const FmuReals& reals, std::size_t index, double number) const {
    const bool scalars = reals.floats.size() == reals.float_values;
    const bool known = scalars || reals.floats.size() == 1;
    const auto culprit = std::find_if(
        description_.variables.begin(), description_.variables.end(),
        [&](const FmuVariable& variable) { return known && variable.reference == reals.floats[scalars ? index : 0]; });
    refuse_float32(number, {code_.owner().subsystem,
                            culprit == description_.variables.end() ? std::string() : culprit->name,
                            code_.time(),
                            {}});
  }
  FmuResult get_floats(const FmuReals& reals, double* values) {
    floats_.resize(reals.float_values);
    const FmuResult result =
        call(functions_.get_float32, reals.floats.data(), reals.floats.size(), floats_.data(), floats_.size());
    std::copy(floats_.begin(), floats_.end(), values + reals.double_values);
    return result;
  }

  const FmuDescription& description_;
  const LiveEnvironment environment_;
  bool exchange_ = false;
  bool scheduled_ = false;
  std::set<ValueReference> ticked_;  ///< scheduled execution: output clocks, until they are asked for
  std::map<ValueReference, ClockInterval> countdowns_;  ///< the same: new ones
  FmuResult clock_trouble_;                             ///< of a call inside a partition that failed
  const std::function<bool(Time)>* watch_ = nullptr;
  bool stopped_ = false;  ///< by the watch, in the step under way or the last one
  FmuExperiment experiment_;
  InputSampling sampling_;
  const FmuStepCall* under_way_ = nullptr;  ///< the step being made
  int input_requests_ = 0;                  ///< in it
  FmuResult intermediate_;                  ///< of a call inside it that failed
  std::vector<float> floats_;               ///< for variables of type Float32
};

struct Fmi3HeldCalls {
  static constexpr fmi3Status kOk = fmi3OK;
  static constexpr const char* kSet = "fmi3SetFloat64";
  static constexpr const char* kStep = "fmi3DoStep";
  static constexpr const char* kGet = "fmi3GetFloat64";

  static fmi3Status set(const FmuHeldStep& held, const double* values) {
    const std::size_t count = held.inputs.size();
    return reinterpret_cast<fmi3SetFloat64TYPE*>(held.set)(held.handle, held.inputs.data(), count, values, count);
  }
  static fmi3Status step(const FmuHeldStep& held, Time from, Duration size, FmuEnding& ending) {
    return reinterpret_cast<fmi3DoStepTYPE*>(held.step)(held.handle, from, size, !held.may_go_back, &ending.event,
                                                        &ending.terminate, &ending.early, &ending.last);
  }
  static fmi3Status get(const FmuHeldStep& held, double* values) {
    const std::size_t count = held.outputs.size();
    return reinterpret_cast<fmi3GetFloat64TYPE*>(held.get)(held.handle, held.outputs.data(), count, values, count);
  }
};

}  // namespace

HeldStep::Function fmi3_held_step() {
  return step_held<Fmi3HeldCalls>;
}

std::unique_ptr<FmuFunctions> make_fmi3_functions(const FmuLibrary& library, const FmuDescription& description) {
  return std::make_unique<VersionedFunctions<Fmi3Functions, Fmi3Instance>>(library, description);
}

}  // namespace entrain::subsystem
