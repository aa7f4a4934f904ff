#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "subsystem/fmi/fmu.hpp"

namespace entrain {
namespace {

std::optional<Duration> imposed_step_of(const FmuDescription& description) {
  const auto& flags = *description.co_simulation;
  if (flags.variable_step) return std::nullopt;
  return flags.fixed_internal_step ? flags.fixed_internal_step : description.experiment.step;
}

/// Some step that the FMU should be able to do.
Duration trial_step(const FmuDescription& description, Time start) {
  if (const auto imposed = imposed_step_of(description)) return *imposed;
  if (description.experiment.step) return *description.experiment.step;  // positive, like all steps read
  if (description.experiment.stop && *description.experiment.stop > start) {
    return (*description.experiment.stop - start) / 1000.0;
  }
  return 1e-3;
}

/// Tries one ability after the other; a new instance after each call that failed, because an FMU need not work on.
class Prober {
 public:
  Prober(Fmu& fmu, const std::vector<FmuStart>& starts, const FmuCaller& caller)
      : fmu_(fmu),
        starts_(starts),
        start_(fmu.description().experiment.start.value_or(0.0)),
        step_(trial_step(fmu.description(), start_)),
        log_(fmu.name(), caller) {
    for (const auto& input : ports().table.inputs) {
      inputs_.push_back(input.start ? std::get<double>(*input.start) : 0.0);
    }
    for (const auto& start : starts_) {
      const auto& list = ports().input_variables;
      const auto place = std::find(list.begin(), list.end(), start.variable);
      if (place != list.end()) inputs_[static_cast<std::size_t>(place - list.begin())] = std::get<double>(start.value);
    }
  }

  FmuAbilities run() {
    const auto& flags = fmu_.flags();
    fresh();  // an FMU that cannot be initialised is an error, not a missing ability
    result_.rollback = flags.rollback && prove("canGetAndSetFMUstate", &Prober::save_and_restore);
    // An FMU that lists no states may have none or may hide them; only listed ones can be trusted.
    result_.states = !ports().states.empty() && prove("continuous states", &Prober::read_states);
    result_.linearization = result_.states && flags.directional_derivatives &&
                            prove("providesDirectionalDerivative", &Prober::differentiate);
    result_.reset = can_reset();
    result_.input_degree = input_degree();
    result_.output_derivatives = flags.output_derivative_order > 0 && !ports().outputs.empty() &&
                                 prove("maxOutputDerivativeOrder", &Prober::read_output_derivatives);
    return std::move(result_);
  }

 private:
  const FmuPorts& ports() const { return fmu_.ports(); }

  void fresh() {
    instance_.reset();
    instance_ = fmu_.instantiate("probe", log_);
    initialize();
  }

  void initialize() {
    const auto& experiment = fmu_.description().experiment;
    const Time stop = std::max(experiment.stop.value_or(start_), start_ + 10.0 * step_);
    begin_initialization(*instance_, fmu_.description(), starts_, start_, stop, log_, {});
    require_done(instance_->exit_initialization(), log_, {});
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
    result_.warnings.push_back(
        fmt::format("FMU '{}': it claims '{}', but {}: this is not used", fmu_.name(), claim, why));
    fresh();
    return false;
  }

  /// Proven when the same step from the restored state ends in the same bits: a function that does nothing returns OK
  /// as well.
  FmuResult save_and_restore() {
    FmuInstance::State state = nullptr;
    FmuResult result = instance_->get_state(state);
    if (!result.done()) return result;
    std::vector<double> first;
    for (int round = 0; round < 2 && result.done(); ++round) {
      result = step({}).result;
      if (round == 0) first = reached_;
      if (result.done()) result = instance_->set_state(state);
    }
    const bool same = reached_ == first;
    const FmuResult freed = instance_->free_state(state);
    if (!result.done()) return result;
    if (!same) throw Error(ErrorCode::SubsystemFailed, "the same step from the restored state ends elsewhere");
    return freed;
  }

  FmuResult read_states() {
    std::vector<double> values(ports().states.size());
    const FmuResult result = instance_->get_reals(ports().states, values.data());
    return result.done() ? instance_->get_reals(ports().derivatives, values.data()) : result;
  }

  FmuResult differentiate() {
    std::vector<double> column(ports().unknowns.size());
    FmuResult result;
    for (const auto* knowns : {&ports().states, &ports().inputs}) {
      for (const ValueReference known : *knowns) {
        if (column.empty() || !result.done()) return result;
        result = instance_->directional_derivative(ports().unknowns, known, column.data());
      }
    }
    return result;
  }

  /// No flag claims it, so there is nothing to withdraw. Proven when a step was made, and after the reset the outputs
  /// are again those of the start.
  bool can_reset() {
    bool done = false;
    try {
      const std::vector<double> at_start = outputs();
      const bool stepped = step({}).result.done();
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
    std::vector<double> values(ports().outputs.size());
    if (!values.empty() && !instance_->get_reals(ports().outputs, values.data()).done()) values.clear();
    return values;
  }

  FmuResult read_output_derivatives() {
    const FmuStepResult stepped = step({});
    if (!stepped.result.done()) return stepped.result;
    const std::vector<int> orders(ports().outputs.size(), 1);
    std::vector<double> rates(orders.size());
    return instance_->get_output_derivatives(ports().outputs, orders.data(), rates.data());
  }

  /// One step from the start with derivatives of the orders given; 0.1 is what each adds to an input in that step.
  FmuStepResult step(std::span<const int> orders) {
    std::vector<ValueReference> references;
    std::vector<int> all_orders;
    std::vector<double> values;
    for (const int order : orders) {
      const double scale = std::tgamma(order + 1.0) / std::pow(step_, order);
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        references.push_back(ports().inputs[i]);
        all_orders.push_back(order);
        values.push_back(0.1 * std::max(1.0, std::abs(inputs_[i])) * scale);
      }
    }
    FmuStepCall call;
    call.from = start_;
    call.size = step_;
    call.may_go_back = true;
    call.inputs = ports().inputs;
    call.input_values = inputs_.data();
    call.derivative_inputs = references;
    call.derivative_orders = all_orders.data();
    call.derivative_values = values.data();
    call.outputs = ports().outputs;
    reached_.assign(ports().outputs.size() + ports().states.size(), 0.0);
    FmuStepResult result = instance_->step(call, reached_.data());
    if (result.result.done() && result_.states && !ports().states.empty()) {
      result.result = instance_->get_reals(ports().states, reached_.data() + ports().outputs.size());
    }
    return result;
  }

  /// The flag of FMI 2 tells no degree, and FMUs ignore what they do not know: two steps from one state, the second
  /// with one more order in the inputs, must differ if that order is honoured.
  int input_degree() {
    if (inputs_.empty()) return kMaxInputDegree;
    if (!fmu_.flags().input_derivatives || fmu_.description().version != FmiVersion::Two) return 0;
    if (!result_.rollback) return 1;
    constexpr std::array<int, kMaxInputDegree> kOrders{1, 2, 3};
    int degree = 0;
    try {
      FmuInstance::State state = nullptr;
      if (!instance_->get_state(state).done()) return 0;
      std::vector<double> before;
      for (std::size_t orders = 0; orders <= kOrders.size(); ++orders) {
        if (!instance_->set_state(state).done() || !step(std::span(kOrders).first(orders)).result.done()) break;
        if (orders > 0 && reached_ == before) break;
        degree = static_cast<int>(orders);
        before = reached_;
      }
      if (!instance_->free_state(state).done()) log_.take_text();
    } catch (const Error&) {  // fmi2SetRealInputDerivatives is not in the library
    }
    fresh();
    if (degree == 0) {
      result_.warnings.push_back(
          fmt::format("FMU '{}': it claims 'canInterpolateInputs', but derivatives of its inputs have no effect: it "
                      "gets constant inputs",
                      fmu_.name()));
    }
    return degree;
  }

  Fmu& fmu_;
  const std::vector<FmuStart>& starts_;
  Time start_;
  Duration step_;
  FmuLog log_;
  std::vector<double> inputs_;
  std::vector<double> reached_;  ///< outputs and states after the last step
  std::unique_ptr<FmuInstance> instance_;
  FmuAbilities result_;
};

/// A second instance in the life of the process is what such an FMU does not allow: its flags must do.
FmuAbilities claimed_abilities(const Fmu& fmu) {
  const auto& flags = fmu.flags();
  FmuAbilities result;
  result.rollback = flags.rollback;
  result.states = !fmu.ports().states.empty();
  result.linearization = result.states && flags.directional_derivatives;
  result.output_derivatives = flags.output_derivative_order > 0;
  result.input_degree = flags.input_derivatives && fmu.description().version == FmiVersion::Two ? 1 : 0;
  result.warnings.push_back(fmt::format(
      "FMU '{}': it allows one instance per process, so what it claims was not tried before the run", fmu.name()));
  return result;
}

}  // namespace

FmuAbilities proven_abilities(Fmu& fmu, const std::vector<FmuStart>& starts, const FmuCaller& caller) {
  FmuAbilities result = fmu.flags().once_per_process ? claimed_abilities(fmu) : Prober(fmu, starts, caller).run();
  result.imposed_step = imposed_step_of(fmu.description());
  if (!fmu.flags().variable_step && !result.imposed_step) {
    result.warnings.push_back(fmt::format(
        "FMU '{}': it wants steps of one size, but does not tell which: it gets the macro step", fmu.name()));
  }
  return result;
}

}  // namespace entrain
