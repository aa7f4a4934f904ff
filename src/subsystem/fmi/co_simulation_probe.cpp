// What a co-simulation FMU really can do, tried by calls on a scratch instance.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "entrain/fact_codes.hpp"
#include "subsystem/fmi/event_iteration.hpp"
#include "subsystem/fmi/fmu_probe.hpp"
#include "subsystem/fmi/input_derivatives.hpp"
#include "subsystem/fmi/input_sampling.hpp"

namespace entrain::subsystem {
namespace {

/// Tries one ability after the other; a new instance after each call that failed, because an FMU need not work on.
class Prober {
 public:
  Prober(Fmu& fmu, const FmuPorts& ports, const std::vector<FmuStart>& starts, const FmuCaller& caller,
         const ProbeRequest& request)
      : fmu_(fmu),
        request_(request),
        ports_(ports),
        starts_(starts),
        start_(fmu.description().experiment.start.value_or(0.0)),
        step_(trial_step(fmu.description(), start_, caller.step)),
        log_(fmu.name(), request.as_seen_there(caller)),
        inputs_(start_inputs(ports_, starts)),
        result_(request.known) {}

  FmuAbilities run() {
    const auto& flags = fmu_.flags();
    if (request_.includes(ProbeStage::Begin)) result_.event_mode = flags.event_mode;
    request_.enter(ProbeStage::Begin);
    begin();
    require_functions_of_a_step();
    // An FMU that lists no states may have none or may hide them; only listed ones can be trusted.
    if (enter(ProbeStage::States)) {
      result_.states =
          !ports().states.empty() && !ports().numbered_states && prove("continuous states", &Prober::read_states);
    }
    if (enter(ProbeStage::Rollback)) {
      result_.rollback =
          flags.rollback && prove(rollback_attribute(fmu_.description().version), &Prober::save_and_restore);
    }
    if (enter(ProbeStage::Linearization)) result_.linearization = linearization();
    if (enter(ProbeStage::Reset)) result_.reset = can_reset();
    if (enter(ProbeStage::InputDegree)) result_.input_degree = input_degree();
    if (enter(ProbeStage::OutputDerivatives)) {
      result_.output_derivatives = flags.output_derivative_order > 0 && !ports().outputs.empty() && ports().plain &&
                                   prove("maxOutputDerivativeOrder", &Prober::read_output_derivatives);
    }
    if (enter(ProbeStage::InputsAfterStep) && !is_three() && (result_.states || result_.output_derivatives)) {
      find_inputs_after_step();
    }
    return std::move(result_);
  }

 private:
  const FmuPorts& ports() const { return ports_; }
  bool is_three() const { return fmu_.description().version == FmiVersion::Three; }

  bool enter(ProbeStage stage) const {
    if (!request_.includes(stage)) return false;
    request_.enter(stage);
    return true;
  }

  /// An FMU that cannot be initialised is an error, not a missing ability, unless its event mode is to blame.
  void begin() {
    try {
      return fresh();
    } catch (const Error& error) {
      if (!result_.event_mode || !request_.includes(ProbeStage::Begin)) throw;
      result_.event_mode = false;
      instance_.reset();
      fresh();
      withdraw("hasEventMode", error.message());
    }
  }

  /// Looks them up: what every run needs must be there, claimed or not.
  void require_functions_of_a_step() const {
    FmuHeldStep held;
    held.inputs = ports().inputs;
    held.outputs = ports().outputs;
    instance_->open(held);
  }

  void fresh() {
    if (request_.only && instance_) return;  // the only stage is over, and a second instance may be what it cannot bear
    instance_.reset();
    instance_ = fmu_.instantiate("probe", {FmuInterface::CoSimulation, result_.event_mode}, log_);
    initialize();
  }

  void initialize() {
    const auto& experiment = fmu_.description().experiment;
    const Time stop = std::max(experiment.stop.value_or(start_), start_ + 10.0 * step_);
    begin_initialization(*instance_, {fmu_.description(), ports_, starts_, {start_, stop}}, log_, {});
    static_cast<void>(begin_stepping(*instance_, result_.event_mode, log_, at_start()));
  }

  ErrorContext at_start() const { return {.subsystem = {}, .variable = {}, .time = start_, .remedy = {}}; }

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
  /// does nothing returns OK as well, and a state that is not listed shows in the outputs of the second step.
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
    if (!same) throw Error(ErrorCode::SubsystemFailed, {FactCode::FmuReplayDiffers});
    return freed;
  }

  FmuResult read_states() {
    std::vector<double> values(ports().table.states.size());
    const FmuResult result = instance_->get_reals(ports().real_states(), values.data());
    return result.done() ? instance_->get_reals(ports().real_derivatives(), values.data()) : result;
  }

  /// The adjoint derivative takes fewer calls when there are fewer unknowns than knowns.
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
      const char* claim = rows ? "providesAdjointDerivatives" : directional_attribute(fmu_.description().version);
      if (prove(claim, &Prober::linearize)) return tried_;
    }
    return can_differ() ? LinearizationSource::Differences : LinearizationSource::None;
  }

  FmuResult linearize() { return FmuLinearizer(ports()).linearize(*instance_, tried_, matrices_); }

  /// By differences: nothing claims that states can be set, so a refusal is no broken word. Setting must have an
  /// effect, and going back must undo it. In FMI 3 nothing may be read after an input was set in step mode.
  bool can_differ() {
    if (!result_.rollback || is_three()) return false;
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
    if (ports().single_states) return false;  // a difference of numbers of 24 bits is not conclusive
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

  /// Inputs of this degree over a trial step; each order adds 0.1 of an input in it.
  std::vector<double> polynomials(int degree) const {
    std::vector<double> coefficients = inputs_;
    for (int p = 1; p <= degree; ++p) {
      for (const double u : inputs_) coefficients.push_back(0.1 * std::max(1.0, std::abs(u)) / std::pow(step_, p));
    }
    return coefficients;
  }

  /// A step under polynomials of this degree. `made`: steps before it.
  FmuStepResult step(int degree, int made = 0) {
    coefficients_ = polynomials(degree);
    return advance(start_ + made * step_, step_, coefficients_, degree);
  }

  FmuStepResult advance(Time from, Duration size, const std::vector<double>& coefficients, int degree) {
    const InputBlock polynomials(coefficients.data(), inputs_.size(), degree);
    FmuStepCall call;
    call.from = from;
    call.size = size;
    call.may_go_back = true;
    call.inputs = ports().real_inputs();
    call.input_values = coefficients.data();
    if (!is_three()) {
      derivatives_.start(ports().inputs, degree);
      derivatives_.add_to(call, polynomials);
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

  /// Whether the trials of one stage can all begin at the start: by rollback, or on a new instance each.
  bool can_begin_again() const { return result_.rollback || !request_.only; }

  /// `start`: the state there of an FMU that can go back.
  bool begin_again(FmuInstance::State start) {
    if (result_.rollback) return instance_->set_state(start).done();
    fresh();
    return true;
  }

  /// What is reached in `count` steps with held inputs that follow the polynomials; empty when a step fails.
  std::vector<double> reached_in_parts(FmuInstance::State start, int degree, int count) {
    if (!begin_again(start)) return {};
    const std::vector<double> coefficients = polynomials(degree);
    const InputBlock followed(coefficients.data(), inputs_.size(), degree);
    const Duration size = step_ / count;
    for (int k = 0; k < count; ++k) {
      std::vector<double> held(coefficients.size(), 0.0);  // derivatives set before are taken back
      for (std::size_t i = 0; i < inputs_.size(); ++i) held[i] = followed.value(i, (k + 0.5) * size);
      const FmuStepResult part = advance(start_ + k * size, size, held, degree);
      if (!part.result.done()) return {};
    }
    return reached_;
  }

  /// One step under polynomials must end where many short steps do that follow them, and the closer the shorter those
  /// are: an FMU that takes derivatives for something else ends elsewhere, too. `ended`: by the one step. An FMU whose
  /// steps are of one size cannot be judged so, nor can one whose own integration has a larger error over the step than
  /// the inputs make a difference. States are compared; outputs may belong to the inputs at the start of a step.
  bool follows_polynomials(FmuInstance::State start, int degree, const std::vector<double>& ended) {
    if (!fmu_.flags().variable_step || fmu_.flags().fixed_internal_step) return true;
    const auto coarse = reached_in_parts(start, degree, 4);
    const auto fine = reached_in_parts(start, degree, 8);
    const auto lower = reached_in_parts(start, degree - 1, 8);
    if (coarse.empty() || fine.empty() || lower.empty()) return true;
    const std::size_t outputs = ports().table.outputs.size();
    const bool by_states = result_.states && fine.size() > outputs;
    int judged = 0;
    int agreed = 0;
    for (std::size_t i = by_states ? outputs : 0; i < (by_states ? fine.size() : outputs); ++i) {
      const double effect = std::abs(fine[i] - lower[i]);  // of the highest order
      if (!(effect > 1e-7 * std::max(1.0, std::abs(fine[i])))) continue;
      if (std::abs(coarse[i] - fine[i]) > 0.1 * effect) continue;  // by its own integration
      const double gap = std::abs(ended[i] - fine[i]);
      const bool shrinks = gap <= 0.75 * std::abs(ended[i] - coarse[i]) || gap <= 0.02 * effect;
      ++judged;
      if (gap <= 0.3 * effect && shrinks) ++agreed;
    }
    return by_states ? agreed == judged : judged == 0 || agreed > 0;
  }

  /// No flag contains a degree, and FMUs ignore what they do not know: a step with one more order in the inputs must
  /// end elsewhere than without it, and where the polynomials lead. nullopt when the FMU does not react to its inputs
  /// here.
  std::optional<int> honoured_degree() {
    std::optional<int> degree = 0;
    try {
      FmuInstance::State start = nullptr;
      if (result_.rollback && !instance_->get_state(start).done()) return 0;
      std::vector<double> before;
      for (int tried = 0; tried <= kMaxInputDegree; ++tried) {
        if (!begin_again(start)) break;
        const FmuStepResult made = step(tried);
        if (!made.result.done() || made.refused_order > 0) break;
        const std::vector<double> ended = reached_;
        if (tried > 0 && (ended == before || !follows_polynomials(start, tried, ended))) break;
        degree = tried;
        before = ended;
      }
      if (degree == 0 && begin_again(start) && step_with_other_inputs() && reached_ == before) degree = std::nullopt;
      if (result_.rollback) static_cast<void>(instance_->free_state(start));
    } catch (const Error&) {  // fmi2SetRealInputDerivatives is not in the library
    }
    log_.take_text();
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

  /// An FMU that asks for its inputs inside a step can be sent those of any polynomial.
  int asked_degree() {
    const FmuStepResult stepped = step(kMaxInputDegree);
    const bool asked = stepped.result.done() && stepped.input_requests > 0;
    fresh();
    return asked ? kMaxInputDegree : 0;
  }

  /// An FMU of which no steps can be compared is asked whether it takes derivatives at all.
  int sent_degree() {
    bool taken = false;
    try {
      const FmuStepResult stepped = step(1);
      taken = stepped.result.done() && stepped.refused_order == 0;
    } catch (const Error&) {  // fmi2SetRealInputDerivatives is not in the library
    }
    log_.take_text();
    fresh();
    return taken ? 1 : 0;
  }

  int input_degree() {
    if (inputs_.empty()) return kMaxInputDegree;
    const bool three = is_three();
    const char* claim = three ? "providesIntermediateUpdate" : "canInterpolateInputs";
    if (!(three ? fmu_.flags().intermediate_update : fmu_.flags().input_derivatives)) return 0;
    if (three && intermediate_inputs(fmu_.description()).empty()) {
      withdraw(claim, "not every input has intermediateUpdate=\"true\"");
      return 0;
    }
    const auto honoured = can_begin_again() ? honoured_degree() : std::nullopt;
    const int degree = honoured ? *honoured : three ? asked_degree() : sent_degree();
    if (degree == 0) {
      withdraw(claim, three ? "it does not ask for inputs inside a step, or ignores them"
                            : "derivatives of its inputs have no effect");
    }
    return degree;
  }

  /// The standard leaves open which inputs an FMU holds after a step with derivatives of them, and allows no reading
  /// between setting others and the next step. Many FMUs do, so those that need it are tried.
  void find_inputs_after_step() {
    const int degree = result_.input_degree;
    if (degree == 0 || inputs_.empty()) return;
    try {
      const bool stepped = step(degree).result.done();
      const InputBlock polynomials(coefficients_.data(), inputs_.size(), degree);
      if (stepped && !holds_end_of(polynomials)) {
        result_.resend_inputs = derivatives_.set(*instance_, polynomials, step_).done() && !read_unknowns().empty();
        if (!result_.resend_inputs) {
          result_.warnings.push_back({FactCode::FmuInputsOfStepStart, {fmu_.name()}});
        }
      }
    } catch (const Error&) {  // a function that is not in the library
    }
    log_.take_text();
    fresh();
  }

  bool holds_end_of(const InputBlock& polynomials) {
    std::vector<double> held(inputs_.size());
    if (!instance_->get_reals(ports().real_inputs(), held.data()).done()) return false;
    for (std::size_t i = 0; i < held.size(); ++i) {
      const double end = polynomials.value(i, step_);
      if (!(std::abs(held[i] - end) <= 1e-6 * std::abs(end - inputs_[i]))) return false;
    }
    return true;
  }

  Fmu& fmu_;
  const ProbeRequest& request_;
  const FmuPorts& ports_;
  const std::vector<FmuStart>& starts_;
  Time start_;
  Duration step_;
  FmuLog log_;
  std::vector<double> inputs_;
  std::vector<double> reached_;       ///< outputs and states after the last step
  std::vector<double> coefficients_;  ///< of the inputs in it
  InputDerivatives derivatives_;      ///< likewise, FMI 1 and 2
  std::unique_ptr<FmuInstance> instance_;
  FmuAbilities result_;
  LinearizationSource tried_ = LinearizationSource::None;
  Linearization matrices_;
};

}  // namespace

FmuAbilities tried_abilities(Fmu& fmu, const FmuPorts& ports, const std::vector<FmuStart>& starts,
                             const FmuCaller& caller, const ProbeRequest& request) {
  return Prober(fmu, ports, starts, caller, request).run();
}

}  // namespace entrain::subsystem
