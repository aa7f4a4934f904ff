#include "fmukit/instance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fmukit/describe.hpp"
#include "fmukit/guard.hpp"

namespace entrain::fmukit {
namespace {

const char* name_of(unsigned phase) {
  switch (phase) {
    case kInstantiated: return "instantiated";
    case kInitialization: return "initialization mode";
    case kStep: return "step mode";
    case kTerminated: return "terminated";
    case kEvent: return "event mode";
    case kContinuous: return "continuous-time mode";
    case kIntermediate: return "intermediate update mode";
    default: return "failed";
  }
}

double start_of(const Variable& variable) {
  return variable.start ? std::get<double>(*variable.start) : 0.0;
}

}  // namespace

Instance::Instance(const FmuDefinition& definition, Kind kind)
    : definition_(definition),
      kind_(kind),
      model_(definition.make()),
      variables_(model_->variables()),
      references_(*model_, definition.options),
      states_(variables_.states.size()),
      inputs_(variables_.inputs.size()),
      indicators_(model_->event_indicator_count()),
      now_(1 + states_ + 6 * inputs_ + 1 + model_->memory().size()),
      y_(variables_.outputs.size()),
      dx_(states_),
      dy_(y_.size()),
      z_(indicators_),
      coefficients_((kMaxInputDegree + 1) * inputs_) {
  const auto& options = definition.options;
  if (options.solver != InnerSolver::Exact && states_ > 0) {
    const bool stiff = options.solver == InnerSolver::Cvode;
    integration_.emplace(*model_, stiff ? numerics::OdeMethod::Bdf : numerics::OdeMethod::ExplicitRungeKutta,
                         options.tolerance);
  }
  reset();
}

void Instance::require(unsigned allowed, const char* function) const {
  if (definition_.options.strict && (phase_ & allowed) == 0) {
    refuse(fmt::format("{} is not allowed when the FMU is '{}'", function, name_of(phase_)));
  }
}

/// Strict FMUs only. Both versions require it of the functions that read variables (FMI 2.0.4, section 4.2.4; FMI 3.0,
/// section 4.2.1): the step calculates, not the reading. What is asked of derivatives is calculated likewise.
void Instance::require_step_since_set() const {
  if (definition_.options.strict && set_since_step_ && phase_ == kStep) {
    refuse("a value was set in step mode, so a step must follow before anything is read");
  }
}

void Instance::fail() {
  if (definition_.options.strict) phase_ = kFailed;
}

void Instance::reset() {
  phase_ = kInstantiated;
  set_since_step_ = false;
  experiment_known_ = false;
  stop_ = kNever;
  std::fill(now_.begin(), now_.end(), 0.0);
  std::transform(variables_.states.begin(), variables_.states.end(), x(), start_of);
  std::transform(variables_.inputs.begin(), variables_.inputs.end(), u(), start_of);
  next_event() = kNever;
  ahead_degree_ = 0;
  std::vector<Value> parameters;
  for (const auto& parameter : variables_.parameters) parameters.push_back(parameter.start.value_or(Value(0.0)));
  parameters_ = std::make_shared<const std::vector<Value>>(std::move(parameters));
  parameters_changed_ = true;
  forget_results();
}

void Instance::set_up_experiment(Time start, std::optional<Time> stop) {
  now_[0] = start;
  stop_ = stop.value_or(kNever);
  experiment_known_ = true;
  forget_results();
}

void Instance::enter_initialization() {
  if (definition_.options.strict && !experiment_known_) {
    refuse("initialization mode is entered before the start time was given");
  }
  phase_ = kInitialization;
}

void Instance::exit_initialization() {
  configure_if_changed();
  const bool begins_with_events = kind_ == Kind::ModelExchange || event_mode_used_;
  if (!begins_with_events) subsystem::settle_events(*model_, here(), {x(), states_});
  forget_results();
  phase_ = begins_with_events ? kEvent : kStep;
}

/// A new value during the run leaves the discrete state of the model as it is.
void Instance::configure_if_changed() {
  if (!parameters_changed_) return;
  parameters_changed_ = false;
  if (before_the_run()) return model_->configure(*parameters_);
  const Feedthrough feedthrough = model_->feedthrough();
  const auto kept = model_->memory();
  std::copy(kept.begin(), kept.end(), memory());
  model_->configure(*parameters_);
  const auto emptied = model_->memory();
  std::copy(memory(), memory() + emptied.size(), emptied.begin());
  if (model_->feedthrough() == feedthrough) return;
  refuse("the new value of a parameter changes which outputs depend directly on which inputs: give it from the start");
}

Place Instance::place_of(Reference reference) const {
  const auto place = references_.find(reference);
  if (!place) refuse(fmt::format("there is no variable with the value reference {}", reference));
  return *place;
}

void Instance::get(std::span<const Reference> references, double* values) {
  if (definition_.options.strict) {
    count(Counter::Get);
    require_step_since_set();
  }
  for (std::size_t i = 0; i < references.size(); ++i) values[i] = real(references[i]);
}

void Instance::set(std::span<const Reference> references, const double* values) {
  if (definition_.options.strict) {
    count(Counter::Set);
    note_set();
  }
  for (std::size_t i = 0; i < references.size(); ++i) set_real(references[i], values[i]);
}

double Instance::real(Reference reference) {
  const Place place = place_of(reference);
  switch (place.group) {
    case Group::Input: return u()[place.index];
    case Group::Output: return output(place.index);
    case Group::State: return x()[place.index];
    case Group::Derivative: return derivative(place.index);
    case Group::Time: return now_[0];
    case Group::Indicator: return indicator(place.index);
    case Group::Parameter:
    case Group::Counter: break;
  }
  return std::get<double>(value(reference, ValueType::Real));
}

double Instance::output(std::size_t index) {
  if (const auto state = references_.state_of_output(index)) return x()[*state];
  if (!outputs_known_) {
    configure_if_changed();
    model_->outputs(here(), y_);
    outputs_known_ = true;
  }
  return y_[index];
}

double Instance::derivative(std::size_t index) {
  if (!derivatives_known_) {
    configure_if_changed();
    model_->derivatives(here(), dx_);
    derivatives_known_ = true;
  }
  return dx_[index];
}

void Instance::set_real(Reference reference, double value) {
  const Place place = place_of(reference);
  if (place.group == Group::Input) {
    u()[place.index] = value;
    // Derivatives given before the value belong to it; those the last step ended with do not.
    du()[place.index] = ahead(1)[place.index];
    ddu()[place.index] = ahead(2)[place.index];
    forget_results();
    return;
  }
  require_settable(place, reference);
  if (place.group == Group::Parameter) {
    set_value(reference, value);
  } else {
    x()[place.group == Group::Output ? *references_.state_of_output(place.index) : place.index] = value;
    forget_results();
  }
}

void Instance::require_settable(Place place, Reference reference) const {
  const bool has_start = place.group == Group::State || place.group == Group::Parameter ||
                         (place.group == Group::Output && references_.state_of_output(place.index));
  if (!has_start) {
    refuse(fmt::format("the variable with the value reference {} is calculated and cannot be set", reference));
  }
  if (definition_.options.strict && !before_the_run() && !may_tune(place)) {
    refuse(fmt::format("the variable with the value reference {} can be set before the first step only", reference));
  }
}

/// With event mode only there; without, between two steps.
bool Instance::may_tune(Place place) const {
  if (place.group != Group::Parameter) return false;
  const bool in_time = phase_ == kEvent || (phase_ == kStep && !event_mode_used_);
  return in_time && is_tunable(variables_.parameters[place.index], definition_.options);
}

const Value& Instance::value(Reference reference, ValueType type) {
  require_step_since_set();
  const Place place = place_of(reference);
  if (place.group == Group::Counter && type == ValueType::Integer) return counter_ = calls_[place.index];
  if (place.group == Group::Parameter && variables_.parameters[place.index].type == type) {
    return (*parameters_)[place.index];
  }
  refuse(fmt::format("the variable with the value reference {} is of another type", reference));
}

void Instance::set_value(Reference reference, Value given) {
  const Place place = place_of(reference);
  require_settable(place, reference);
  if (place.group != Group::Parameter || (*parameters_)[place.index].index() != given.index()) {
    refuse(fmt::format("the variable with the value reference {} is of another type", reference));
  }
  // A new list, because saved states share the old one.
  std::vector<Value> parameters = *parameters_;
  parameters[place.index] = std::move(given);
  parameters_ = std::make_shared<const std::vector<Value>>(std::move(parameters));
  parameters_changed_ = true;
  note_set();
  forget_results();
}

void Instance::set_input_derivative(Reference reference, int order, double value) {
  const Place place = place_of(reference);
  if (place.group != Group::Input) refuse(fmt::format("the value reference {} is no input", reference));
  if (order < 1 || order > definition_.options.input_degree) {
    refuse(fmt::format("input derivatives of order {} are not supported (the highest is {})", order,
                       definition_.options.input_degree));
  }
  ahead(order)[place.index] = value;
  ahead_degree_ = std::max(ahead_degree_, order);
  if (order == 1) du()[place.index] = value;
  if (order == 2) ddu()[place.index] = value;
  forget_results();
}

double Instance::output_derivative(Reference reference, int order) {
  require_step_since_set();
  const Place place = place_of(reference);
  if (place.group != Group::Output) refuse(fmt::format("the value reference {} is no output", reference));
  if (order < 1 || order > definition_.options.output_derivative_order) {
    refuse(fmt::format("output derivatives of order {} are not supported (the highest is {})", order,
                       definition_.options.output_derivative_order));
  }
  if (!rates_known_) {
    configure_if_changed();
    model_->output_rates(here(), dy_);
    rates_known_ = true;
  }
  return dy_[place.index];
}

void Instance::directional_derivative(std::span<const Reference> unknowns, std::span<const Reference> knowns,
                                      const double* seed, double* result) {
  if (!definition_.options.directional_derivatives) refuse("directional derivatives are not supported");
  require_step_since_set();
  linearize_if_needed();
  for (std::size_t i = 0; i < unknowns.size(); ++i) {
    const Place unknown = place_of(unknowns[i]);
    result[i] = 0.0;
    for (std::size_t j = 0; j < knowns.size(); ++j) {
      result[i] += sensitivity(unknown, place_of(knowns[j])) * seed[j];
    }
  }
}

void Instance::adjoint_derivative(std::span<const Reference> unknowns, std::span<const Reference> knowns,
                                  const double* seed, double* result) {
  if (!definition_.options.adjoint_derivatives) refuse("adjoint derivatives are not supported");
  require_step_since_set();
  linearize_if_needed();
  for (std::size_t j = 0; j < knowns.size(); ++j) {
    const Place known = place_of(knowns[j]);
    result[j] = 0.0;
    for (std::size_t i = 0; i < unknowns.size(); ++i) {
      result[j] += seed[i] * sensitivity(place_of(unknowns[i]), known);
    }
  }
}

void Instance::linearize_if_needed() {
  if (linearization_known_) return;
  configure_if_changed();
  model_->linearize(here(), linearization_);
  linearization_known_ = true;
}

double Instance::sensitivity(Place unknown, Place known) const {
  std::optional<std::size_t> state;
  if (known.group == Group::State) state = known.index;
  if (known.group == Group::Output) state = references_.state_of_output(known.index);
  const bool input = known.group == Group::Input;
  const bool output = unknown.group == Group::Output;
  if ((!state && !input) || (!output && unknown.group != Group::Derivative)) {
    refuse("derivatives are those of outputs and state derivatives with respect to inputs and states");
  }
  const Matrix& matrix =
      output ? (input ? linearization_.D : linearization_.C) : (input ? linearization_.B : linearization_.A);
  return matrix(unknown.index, input ? known.index : *state);
}

void Instance::require_rollback() const {
  if (!definition_.options.rollback) refuse("the state of this FMU can be neither saved nor restored");
}

void Instance::save(Snapshot& snapshot) {
  require_rollback();
  const auto kept = model_->memory();
  std::copy(kept.begin(), kept.end(), memory());
  snapshot.phase = phase_;
  snapshot.ahead_degree = ahead_degree_;
  snapshot.stop = stop_;
  snapshot.numbers.assign(now_.begin(), now_.end());
  snapshot.parameters = parameters_;
}

void Instance::restore(const Snapshot& snapshot) {
  require_rollback();
  phase_ = snapshot.phase;
  set_since_step_ = false;
  ahead_degree_ = snapshot.ahead_degree;
  stop_ = snapshot.stop;
  std::copy(snapshot.numbers.begin(), snapshot.numbers.end(), now_.begin());
  parameters_changed_ = parameters_changed_ || parameters_ != snapshot.parameters;
  parameters_ = snapshot.parameters;
  if (const auto kept = model_->memory(); !kept.empty()) {
    configure_if_changed();  // sets the memory back to its start
    std::copy(memory(), memory() + kept.size(), kept.begin());
  }
  forget_results();
}

std::vector<std::uint8_t> Instance::serialized(const Snapshot& snapshot) const {
  require_rollback();
  return to_bytes(snapshot, hash_of(definition_.identifier));
}

Snapshot Instance::restored_from(std::span<const std::uint8_t> bytes) const {
  require_rollback();
  Snapshot snapshot = from_bytes(bytes, hash_of(definition_.identifier));
  const auto& types = variables_.parameters;
  const auto& values = *snapshot.parameters;
  const bool fits = snapshot.numbers.size() == now_.size() && snapshot.ahead_degree >= 0 &&
                    snapshot.ahead_degree <= definition_.options.input_degree &&
                    std::equal(types.begin(), types.end(), values.begin(), values.end(),
                               [](const Variable& variable, const Value& value) {
                                 return value.index() == static_cast<std::size_t>(variable.type);
                               });
  if (!fits) refuse("the bytes are no saved state of this FMU");
  return snapshot;
}

}  // namespace entrain::fmukit
