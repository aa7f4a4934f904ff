#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "subsystem/fmi/event_iteration.hpp"
#include "subsystem/fmi/fmu.hpp"
#include "subsystem/fmi/fmu_probe.hpp"
#include "subsystem/fmi/input_sampling.hpp"

namespace entrain {
namespace {

constexpr Duration kBoldestTrial = 1e-3;  ///< s, of an FMU that tells nothing of its steps

std::optional<Duration> imposed_step_of(const FmuDescription& description) {
  const auto& flags = description.co_simulation;
  if (!flags || flags->variable_step) return std::nullopt;
  return flags->fixed_internal_step ? flags->fixed_internal_step : description.experiment.step;
}

}  // namespace

Duration trial_step(const FmuDescription& description, Time start, std::optional<Duration> macro_step) {
  if (const auto imposed = imposed_step_of(description)) return *imposed;
  const auto& experiment = description.experiment;
  if (experiment.step) return std::min(*experiment.step, macro_step.value_or(*experiment.step));
  // A far stop says nothing of the steps inside: a share of it may be more of them than anyone can wait for.
  const auto& flags = description.co_simulation;
  const Duration inside = flags && flags->fixed_internal_step ? *flags->fixed_internal_step : kBoldestTrial;
  const Duration step = macro_step.value_or(inside);
  if (!experiment.stop || *experiment.stop <= start) return step;
  return std::min(step, (*experiment.stop - start) / 1000.0);
}

std::vector<double> start_inputs(const FmuPorts& ports, const std::vector<FmuStart>& starts) {
  std::vector<double> inputs;
  for (const auto& input : ports.table.inputs) inputs.push_back(input.start ? std::get<double>(*input.start) : 0.0);
  for (const auto& start : starts) {
    const auto& list = ports.input_origins;
    const auto place = std::find(list.begin(), list.end(), start.origin);
    if (place != list.end()) inputs[static_cast<std::size_t>(place - list.begin())] = std::get<double>(start.value);
  }
  return inputs;
}

namespace {

/// Tries one ability after the other; a new instance after each call that failed, because an FMU need not work on.
class Prober {
 public:
  Prober(Fmu& fmu, const FmuPorts& ports, const std::vector<FmuStart>& starts, const FmuCaller& caller)
      : fmu_(fmu),
        ports_(ports),
        starts_(starts),
        start_(fmu.description().experiment.start.value_or(0.0)),
        step_(trial_step(fmu.description(), start_, caller.step)),
        log_(fmu.name(), caller),
        inputs_(start_inputs(ports_, starts)) {}

  FmuAbilities run() {
    const auto& flags = fmu_.flags();
    result_.event_mode = flags.event_mode;
    begin();
    // An FMU that lists no states may have none or may hide them; only listed ones can be trusted.
    result_.states = !ports().states.empty() && prove("continuous states", &Prober::read_states);
    result_.rollback = flags.rollback && prove("canGetAndSetFMUstate", &Prober::save_and_restore);
    result_.linearization = linearization();
    result_.reset = can_reset();
    result_.input_degree = input_degree();
    result_.output_derivatives = flags.output_derivative_order > 0 && !ports().outputs.empty() && ports().plain &&
                                 prove("maxOutputDerivativeOrder", &Prober::read_output_derivatives);
    return std::move(result_);
  }

 private:
  const FmuPorts& ports() const { return ports_; }

  /// An FMU that cannot be initialised is an error, not a missing ability, unless its event mode is to blame.
  void begin() {
    try {
      return fresh();
    } catch (const Error& error) {
      if (!result_.event_mode) throw;
      result_.event_mode = false;
      fresh();
      withdraw("hasEventMode", error.message());
    }
  }

  void fresh() {
    instance_.reset();
    instance_ = fmu_.instantiate("probe", {FmuInterface::CoSimulation, result_.event_mode}, log_);
    initialize();
  }

  void initialize() {
    const auto& experiment = fmu_.description().experiment;
    const Time stop = std::max(experiment.stop.value_or(start_), start_ + 10.0 * step_);
    begin_initialization(*instance_, {fmu_.description(), ports_, starts_, {start_, stop}}, log_, {});
    static_cast<void>(begin_stepping(*instance_, result_.event_mode, log_, {}));
  }

  /// False, with a warning, when the ability is claimed and not there.
  bool prove(std::string_view claim, FmuResult (Prober::*attempt)()) {
    std::string why;
    try {
      const FmuResult result = (this->*attempt)();
      if (result.done()) return true;
      why = fmt::format("{} failed{}", result.function, log_.take_text());
    } catch (const Error& error) {  // the function is not in the library
      why = error.message();
    }
    withdraw(claim, why);
    fresh();
    return false;
  }

  void withdraw(std::string_view claim, std::string_view why) {
    result_.warnings.push_back(withdrawn_claim(fmu_, claim, why));
  }

  /// Proven when the same two steps from the restored state end in the same bits, outputs and states: a function that
  /// does nothing returns OK as well, and a state that is not told shows in the outputs of the second step.
  FmuResult save_and_restore() {
    FmuInstance::State state = nullptr;
    FmuResult result = instance_->get_state(state);
    if (!result.done()) return result;
    std::vector<double> first;
    std::vector<double> second;
    for (int round = 0; round < 2 && result.done(); ++round) {
      result = step(0).result;
      std::vector<double> both = reached_;
      if (result.done()) result = step(0, 1).result;
      both.insert(both.end(), reached_.begin(), reached_.end());
      (round == 0 ? first : second) = std::move(both);
      if (result.done()) result = instance_->set_state(state);
    }
    const bool same = second == first;
    const FmuResult freed = instance_->free_state(state);
    if (!result.done()) return result;
    if (!same) throw Error(ErrorCode::SubsystemFailed, "the same step from the restored state ends elsewhere");
    return freed;
  }

  FmuResult read_states() {
    std::vector<double> values(ports().table.states.size());
    const FmuResult result = instance_->get_reals(ports().real_states(), values.data());
    return result.done() ? instance_->get_reals(ports().real_derivatives(), values.data()) : result;
  }

  /// The adjoint way takes fewer calls when there are fewer unknowns than knowns.
  LinearizationSource linearization() {
    if (!result_.states) return LinearizationSource::None;
    const auto& flags = fmu_.flags();
    // A row for each state and each output that is none, a column for each state and each input.
    const auto& state_of_output = ports().state_of_output;
    const auto outputs = std::count(state_of_output.begin(), state_of_output.end(), std::nullopt);
    const bool few_rows = static_cast<std::size_t>(outputs) < ports().table.inputs.size();
    const bool rows_first = flags.adjoint_derivatives && (few_rows || !flags.directional_derivatives);
    for (const bool rows : {rows_first, !rows_first}) {
      if (!(rows ? flags.adjoint_derivatives : flags.directional_derivatives)) continue;
      tried_ = rows ? LinearizationSource::Adjoint : LinearizationSource::Directional;
      if (prove(rows ? "providesAdjointDerivatives" : "providesDirectionalDerivative", &Prober::linearize))
        return tried_;
    }
    return can_differ() ? LinearizationSource::Differences : LinearizationSource::None;
  }

  FmuResult linearize() { return FmuLinearizer(ports()).linearize(*instance_, tried_, matrices_); }

  /// By differences: nothing claims that states can be set, so a refusal is no broken word. Setting must have an
  /// effect, and going back must undo it. In FMI 3 nothing may be read after an input was set in step mode.
  bool can_differ() {
    if (!result_.rollback || fmu_.description().version != FmiVersion::Two) return false;
    tried_ = LinearizationSource::Differences;
    bool works = false;
    try {
      const auto before = read_unknowns();
      works = linearize().done() && read_unknowns() == before && states_can_be_set();
    } catch (const Error&) {
    }
    log_.take_text();
    fresh();
    return works;
  }

  std::vector<double> read_unknowns() {
    std::vector<ValueReference> references;
    for (const auto& unknown : ports().unknowns) references.push_back(unknown.reference);
    std::vector<double> values(references.size());
    if (!instance_->get_reals(references, values.data()).done()) values.clear();
    return values;
  }

  bool states_can_be_set() {
    if (ports().single_states) return false;  // a difference of numbers of 24 bits tells nothing
    for (const ValueReference state : ports().states) {
      double value = 0.0;
      if (!instance_->get_reals({&state, 1}, &value).done()) return false;
      const double other = value + 1.0;
      if (!instance_->set_reals({&state, 1}, &other).done() || !instance_->get_reals({&state, 1}, &value).done()) {
        return false;
      }
      if (value != other) return false;
    }
    return true;
  }

  /// No flag claims it, so there is nothing to withdraw. Proven when a step was made, and after the reset the outputs
  /// are again those of the start.
  bool can_reset() {
    bool done = false;
    try {
      const std::vector<double> at_start = outputs();
      const bool stepped = step(0).result.done();
      if (stepped && instance_->reset().done()) {
        initialize();
        done = outputs() == at_start;
      }
    } catch (const Error&) {  // the function is not in the library, or the FMU does not start again
    }
    log_.take_text();
    fresh();
    return done;
  }

  std::vector<double> outputs() {
    std::vector<double> values(ports().table.outputs.size());
    if (!values.empty() && !instance_->get_reals(ports().real_outputs(), values.data()).done()) values.clear();
    return values;
  }

  FmuResult read_output_derivatives() {
    const FmuStepResult stepped = step(0);
    if (!stepped.result.done()) return stepped.result;
    const std::vector<int> orders(ports().outputs.size(), 1);
    std::vector<double> rates(orders.size());
    return instance_->get_output_derivatives(ports().outputs, orders.data(), rates.data());
  }

  /// A step under polynomials of this degree; each order adds 0.1 of an input in that step. `made`: steps before it.
  FmuStepResult step(int degree, int made = 0) {
    const bool two = fmu_.description().version == FmiVersion::Two;
    const std::size_t count = inputs_.size();
    std::vector<double> coefficients = inputs_;
    std::vector<ValueReference> references;
    std::vector<int> orders;
    std::vector<double> derivatives;
    for (int p = 1; p <= degree; ++p) {
      for (std::size_t i = 0; i < count; ++i) {
        coefficients.push_back(0.1 * std::max(1.0, std::abs(inputs_[i])) / std::pow(step_, p));
        if (!two) continue;
        references.push_back(ports().inputs[i]);
        orders.push_back(p);
        derivatives.push_back(std::tgamma(p + 1.0) * coefficients.back());
      }
    }
    const InputBlock polynomials(coefficients.data(), count, degree);
    FmuStepCall call;
    call.from = start_ + made * step_;
    call.size = step_;
    call.may_go_back = true;
    call.inputs = ports().real_inputs();
    call.input_values = inputs_.data();
    if (two) {
      call.derivative_inputs = references;
      call.derivative_orders = orders.data();
      call.derivative_values = derivatives.data();
    } else if (degree > 0) {
      call.polynomials = &polynomials;
    }
    call.outputs = ports().real_outputs();
    const std::size_t outputs = ports().table.outputs.size();
    reached_.assign(outputs + ports().table.states.size(), 0.0);
    FmuStepResult result = instance_->step(call, reached_.data());
    if (result.result.done() && result_.states && !ports().states.empty()) {
      result.result = instance_->get_reals(ports().real_states(), reached_.data() + outputs);
    }
    return result;
  }

  /// No flag tells a degree, and FMUs ignore what they do not know: two steps from one state, the second with one more
  /// order in the inputs, must differ if that order is honoured. nullopt when the FMU does not react to its inputs
  /// here.
  std::optional<int> honoured_degree() {
    std::optional<int> degree = 0;
    try {
      FmuInstance::State state = nullptr;
      if (!instance_->get_state(state).done()) return 0;
      std::vector<double> before;
      for (int tried = 0; tried <= kMaxInputDegree; ++tried) {
        if (!instance_->set_state(state).done() || !step(tried).result.done()) break;
        if (tried > 0 && reached_ == before) break;
        degree = tried;
        before = reached_;
      }
      if (degree == 0 && instance_->set_state(state).done() && step_with_other_inputs() && reached_ == before) {
        degree = std::nullopt;
      }
      if (!instance_->free_state(state).done()) log_.take_text();
    } catch (const Error&) {  // fmi2SetRealInputDerivatives is not in the library
    }
    fresh();
    return degree;
  }

  bool step_with_other_inputs() {
    const std::vector<double> given = inputs_;
    for (double& u : inputs_) u += 0.1 * std::max(1.0, std::abs(u));
    const bool done = step(0).result.done();
    inputs_ = given;
    return done;
  }

  /// An FMU that asks for its inputs inside a step can be told those of any polynomial.
  int asked_degree() {
    const FmuStepResult stepped = step(kMaxInputDegree);
    const bool asked = stepped.result.done() && stepped.input_requests > 0;
    fresh();
    return asked ? kMaxInputDegree : 0;
  }

  int input_degree() {
    if (inputs_.empty()) return kMaxInputDegree;
    const bool two = fmu_.description().version == FmiVersion::Two;
    const char* claim = two ? "canInterpolateInputs" : "providesIntermediateUpdate";
    if (!(two ? fmu_.flags().input_derivatives : fmu_.flags().intermediate_update)) return 0;
    if (!two && intermediate_inputs(fmu_.description()).empty()) {
      withdraw(claim, "not every input has intermediateUpdate=\"true\"");
      return 0;
    }
    const auto honoured = result_.rollback ? honoured_degree() : std::nullopt;
    const int degree = honoured ? *honoured : two ? 1 : asked_degree();
    if (degree == 0) {
      withdraw(claim, two ? "derivatives of its inputs have no effect"
                          : "it does not ask for inputs inside a step, or ignores them");
    }
    return degree;
  }

  Fmu& fmu_;
  const FmuPorts& ports_;
  const std::vector<FmuStart>& starts_;
  Time start_;
  Duration step_;
  FmuLog log_;
  std::vector<double> inputs_;
  std::vector<double> reached_;  ///< outputs and states after the last step
  std::unique_ptr<FmuInstance> instance_;
  FmuAbilities result_;
  LinearizationSource tried_ = LinearizationSource::None;
  Linearization matrices_;
};

/// A second instance in the life of the process is what such an FMU does not allow: its flags must do.
FmuAbilities claimed_abilities(const Fmu& fmu, const FmuPorts& ports) {
  const auto& flags = fmu.flags();
  FmuAbilities result;
  result.rollback = flags.rollback;
  result.states = !ports.states.empty();
  if (result.states && flags.directional_derivatives) result.linearization = LinearizationSource::Directional;
  result.event_mode = flags.event_mode;
  result.output_derivatives = flags.output_derivative_order > 0 && ports.plain;
  const bool asks = !intermediate_inputs(fmu.description()).empty();
  result.input_degree = asks ? kMaxInputDegree : flags.input_derivatives ? 1 : 0;
  result.warnings.push_back(fmt::format(
      "FMU '{}': it allows one instance per process, so what it claims was not tried before the run", fmu.name()));
  return result;
}

}  // namespace

std::string withdrawn_claim(const Fmu& fmu, std::string_view claim, std::string_view why) {
  const std::string who = fmt::format("FMU '{}': ", fmu.name());
  if (why.starts_with(who)) why.remove_prefix(who.size());
  return fmt::format("{}it claims '{}', but {}: this is not used", who, claim, why);
}

FmuAbilities proven_abilities(Fmu& fmu, const FmuPorts& ports, const std::vector<FmuStart>& starts,
                              const FmuCaller& caller) {
  FmuAbilities result =
      fmu.flags().once_per_process ? claimed_abilities(fmu, ports) : Prober(fmu, ports, starts, caller).run();
  result.imposed_step = imposed_step_of(fmu.description());
  if (fmu.description().version == FmiVersion::Three && result.input_degree > 0) {
    result.internal_step = fmu.flags().fixed_internal_step;
  }
  if (!fmu.flags().variable_step && !result.imposed_step) {
    result.warnings.push_back(fmt::format(
        "FMU '{}': it wants steps of one size, but does not tell which: it gets the macro step", fmu.name()));
  }
  return result;
}

}  // namespace entrain
