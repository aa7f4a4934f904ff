#include "subsystem/native/native_subsystem.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <new>
#include <optional>
#include <utility>

#include "base/bytes.hpp"
#include "base/grid.hpp"
#include "base/memory_use.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/native/event_integration.hpp"

namespace entrain::subsystem {
namespace {

double number_or_zero(const Variable& variable) {
  return variable.start ? std::get<double>(*variable.start) : 0.0;
}

std::vector<double> start_numbers(const std::vector<Variable>& variables) {
  std::vector<double> numbers(variables.size());
  std::transform(variables.begin(), variables.end(), numbers.begin(), number_or_zero);
  return numbers;
}

class NativeSubsystem final : public Subsystem,
                              private Rollback,
                              private States,
                              private Linearizer,
                              private OutputDerivatives,
                              private Equations,
                              private Events,
                              private Reset,
                              private Tuning,
                              private DiscreteValues,
                              private EventMode {
 public:
  NativeSubsystem(std::string name, std::unique_ptr<Model> model);

  std::string_view name() const noexcept override { return name_; }
  const VariableTable& variables() const noexcept override { return model_->variables(); }
  const Capabilities& capabilities() const override;
  Facets facets() noexcept override;

  void set_start(VariableTable::Place place, const Value& value) override;
  void initialize(Time start, Time stop) override;
  void evaluate(std::span<const double> inputs, std::span<double> outputs) override;
  StepReport step(const Step& step, std::span<double> outputs) override;
  HeldStep held_step() noexcept override { return {step_held, this}; }

 private:
  static const StepReport* step_held(void* context, Time from, Duration size, const double* inputs, double* outputs);
  void advance(const Step& step, std::span<double> outputs);
  StateId save() override;
  void restore(StateId id) override;
  void release(StateId id) override;
  bool can_serialize() const override { return true; }
  base::Bytes serialize(StateId id) override;
  StateId deserialize(std::span<const std::byte> bytes) override;
  StateId keep(std::span<const double> state);
  void states(std::span<double> x) override;
  void derivatives(std::span<double> dx) override;
  void linearize(Linearization& result) override;
  void output_derivatives(std::span<double> dy) override;
  void right_hand_side(const Equations::Point& at, std::span<double> dx) override;
  void outputs(const Equations::Point& at, std::span<double> y) override;
  void output_rates(const Equations::Point& at, std::span<double> dy) override;
  bool reads_input_derivatives() const override { return model_->reads_input_derivatives(); }
  std::size_t event_indicator_count() const override { return model_->event_indicator_count(); }
  void event_indicators(const Equations::Point& at, std::span<double> z) override;
  bool handle_event(const Equations::Point& at, std::span<double> x) override;
  void state(std::span<double> x) override { states(x); }
  void move_to(const Equations::Point& at) override;
  Time next_discontinuity(Time t) const override { return model_->next_discontinuity(t); }
  Time next_event(Time t) override { return model_->next_discontinuity(t); }
  void reset() override;
  void set_parameter(std::size_t parameter, const Value& value) override;
  void read(std::span<const std::size_t> outputs, std::span<Value> values) override;
  void write(std::span<const std::size_t>, std::span<const Value>) override {}  // there are no such inputs

  // Of models with state events. There is no mode of their own: what waits is handled by update().
  void share_events() override { shares_events_ = true; }
  bool finds_events() const override { return shares_events_; }
  bool event_waits() const override { return event_waits_; }
  void enter() override {}
  void leave() override { event_waits_ = false; }
  Update update() override;
  void set_inputs(std::span<const double> inputs) override;
  void read_outputs(std::span<double> outputs) override;
  void activate(std::span<const std::size_t>) override {}  // there are no clocks
  void read_active(std::span<const std::size_t>, std::span<unsigned char>) override {}
  Announced read_interval(std::size_t, ClockInterval&) override { return Announced::NotYet; }
  ClockInterval shift(std::size_t) override { return {}; }
  bool depends(Port output_kind, std::size_t output, Port input_kind, std::size_t input) const override;
  StepReport step_to_event(const Step& step, std::span<double> outputs);

  void configure_if_changed() const;
  void keep_inputs_at_end(const InputBlock& inputs, Duration size);
  template <class Call>
  void guarded(Time t, Call&& call) const;

  /// With those of second order.
  void clear_slopes() {
    if (slopes_are_zero_) return;
    std::fill(du(), du() + 2 * inputs_, 0.0);
    slopes_are_zero_ = true;
  }

  double* x() { return now_.data() + 1; }
  double* u() { return x() + states_; }
  double* du() { return u() + inputs_; }
  double* ddu() { return du() + inputs_; }
  double* memory() { return ddu() + inputs_; }
  Model::Point here() { return {now_[0], {x(), states_}, {u(), inputs_}, {du(), inputs_}, {ddu(), inputs_}}; }
  Model::Point model_point(const Equations::Point& at) const { return {at.t, at.x, at.u, at.du, no_curvature_}; }

  // What a step touches comes first, so that it lies in few cache lines.
  std::unique_ptr<Model> model_;
  std::size_t states_;
  std::size_t inputs_;
  std::size_t outputs_;
  bool slopes_are_zero_ = false;
  /// Everything a step depends on: time reached, states, the inputs, their slopes and curvatures as they ended, and
  /// room for the model's memory when it is saved. In one piece, so that saving is one copy.
  std::vector<double> now_;
  std::string name_;
  std::vector<Value> parameters_;
  std::vector<double> start_states_;
  std::vector<double> start_inputs_;
  mutable bool parameters_changed_ = true;
  mutable Capabilities capabilities_;
  std::vector<double> saved_;  ///< saved states one after the other, each of the size of now_
  std::vector<StateId> free_;
  std::vector<bool> saved_waits_;  ///< by id
  bool shares_events_ = false;
  bool event_waits_ = false;
  std::optional<EventIntegration> to_event_;  ///< from the derivatives, whatever `integrate` of the model does
  StepReport report_;                         ///< of the last held step that found an event
  std::vector<Value> discrete_;               ///< outputs, as read last
  std::vector<double> no_curvature_;          ///< Equations take no second derivatives of the inputs
};

NativeSubsystem::NativeSubsystem(std::string name, std::unique_ptr<Model> model)
    : model_(std::move(model)),
      states_(variables().states.size()),
      inputs_(variables().inputs.size()),
      outputs_(variables().outputs.size()),
      now_(1 + states_ + 3 * inputs_ + model_->memory().size()),
      name_(std::move(name)),
      start_states_(start_numbers(variables().states)),
      start_inputs_(start_numbers(variables().inputs)),
      no_curvature_(inputs_) {
  for (const auto& parameter : variables().parameters) parameters_.push_back(parameter.start.value_or(Value(0.0)));
  capabilities_.rollback = true;
  capabilities_.input_degree = kMaxInputDegree;
  capabilities_.output_derivative_order = 1;
  capabilities_.states = true;
  capabilities_.state_derivatives = true;
  capabilities_.linearization = true;
  capabilities_.output_refresh = true;
  capabilities_.equations = true;
  capabilities_.reset = true;
  capabilities_.function = model_->is_function();
  capabilities_.feedthrough = Feedthrough(variables().outputs.size(), inputs_);
}

/// Feedthrough and events may depend on the parameters, so the model must have seen them.
const Capabilities& NativeSubsystem::capabilities() const {
  configure_if_changed();
  return capabilities_;
}

void NativeSubsystem::configure_if_changed() const {
  if (!parameters_changed_) return;
  guarded(now_[0], [&] {
    model_->configure(parameters_);
    capabilities_.feedthrough = model_->feedthrough();
    capabilities_.announces_events = model_->next_discontinuity(std::numeric_limits<Time>::lowest()) < kNever;
  });
  parameters_changed_ = false;
}

Facets NativeSubsystem::facets() noexcept {
  try {
    configure_if_changed();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): thrown again by initialize, where it is expected
  }
  Facets facets;
  facets.rollback = this;
  facets.states = this;
  facets.linearizer = this;
  facets.output_derivatives = this;
  facets.equations = this;
  if (capabilities_.announces_events) facets.events = this;
  facets.reset = this;
  facets.tuning = this;
  if (!variables().discrete_outputs.empty()) facets.discrete = this;
  if (model_->event_indicator_count() > 0) facets.event_mode = this;
  return facets;
}

void NativeSubsystem::read(std::span<const std::size_t> outputs, std::span<Value> values) {
  discrete_.resize(variables().discrete_outputs.size());
  guarded(now_[0], [&] { model_->discrete_outputs(here(), discrete_); });
  for (std::size_t i = 0; i < outputs.size(); ++i) values[i] = discrete_[outputs[i]];
}

void NativeSubsystem::set_start(VariableTable::Place place, const Value& value) {
  assert(value.index() == static_cast<std::size_t>(variables().at(place).type));
  switch (place.causality) {
    case Causality::Parameter:
      parameters_[place.index] = value;
      parameters_changed_ = true;
      break;
    case Causality::State: start_states_[place.index] = std::get<double>(value); break;
    case Causality::Input: start_inputs_[place.index] = std::get<double>(value); break;
    case Causality::Output:
    case Causality::DiscreteInput:
    case Causality::DiscreteOutput:
    case Causality::Local:
    case Causality::Method: assert(false); break;
  }
}

void NativeSubsystem::initialize(Time start, Time) {
  event_waits_ = false;
  std::fill(now_.begin(), now_.end(), 0.0);
  now_[0] = start;
  std::copy(start_states_.begin(), start_states_.end(), x());
  std::copy(start_inputs_.begin(), start_inputs_.end(), u());
  parameters_changed_ = parameters_changed_ || !model_->memory().empty();  // back to its start
  configure_if_changed();
  guarded(start, [&] { settle_events(*model_, here(), {x(), states_}); });
}

void NativeSubsystem::evaluate(std::span<const double> inputs, std::span<double> outputs) {
  set_inputs(inputs);
  read_outputs(outputs);
}

void NativeSubsystem::set_inputs(std::span<const double> inputs) {
  std::copy(inputs.begin(), inputs.end(), u());
  clear_slopes();
}

void NativeSubsystem::read_outputs(std::span<double> outputs) {
  guarded(now_[0], [&] { model_->outputs(here(), outputs); });
}

EventMode::Update NativeSubsystem::update() {
  Update update;
  guarded(now_[0], [&] { update.again = model_->handle_event(here(), {x(), states_}); });
  return update;
}

bool NativeSubsystem::depends(Port output_kind, std::size_t output, Port input_kind, std::size_t input) const {
  return output_kind == Port::Real && input_kind == Port::Real && capabilities_.feedthrough(output, input);
}

/// The other subsystems take part in the event, so the step ends there.
StepReport NativeSubsystem::step_to_event(const Step& step, std::span<double> outputs) {
  guarded(step.from, [&] {
    if (!to_event_) to_event_.emplace(*model_);
    const auto made = to_event_->integrate_to_event(*model_, step.from, step.size, step.inputs, {x(), states_});
    event_waits_ = made.event;
    now_[0] = step.from + made.size;
    keep_inputs_at_end(step.inputs, made.size);
    model_->outputs(here(), outputs);
  });
  const bool whole = base::reached(now_[0], step.from + step.size);
  if (whole) now_[0] = step.from + step.size;
  return {.reached = now_[0],
          .outcome = whole ? StepOutcome::Completed : StepOutcome::EndedEarly,
          .stop_requested = false,
          .event = event_waits_};
}

StepReport NativeSubsystem::step(const Step& step, std::span<double> outputs) {
  if (shares_events_) return step_to_event(step, outputs);
  advance(step, outputs);
  return {now_[0]};
}

const StepReport* NativeSubsystem::step_held(void* context, Time from, Duration size, const double* inputs,
                                             double* outputs) {
  auto& self = *static_cast<NativeSubsystem*>(context);
  if (self.shares_events_) {
    self.report_ = self.step_to_event({from, size, InputBlock(inputs, self.inputs_, 0)}, {outputs, self.outputs_});
    return self.event_waits_ ? &self.report_ : nullptr;
  }
  self.advance({from, size, InputBlock(inputs, self.inputs_, 0)}, {outputs, self.outputs_});
  return nullptr;
}

void NativeSubsystem::advance(const Step& step, std::span<double> outputs) {
  guarded(step.from, [&] {
    model_->integrate(step.from, step.size, step.inputs, {x(), states_});
    now_[0] = step.from + step.size;
    keep_inputs_at_end(step.inputs, step.size);
    model_->outputs(here(), outputs);
  });
}

void NativeSubsystem::keep_inputs_at_end(const InputBlock& inputs, Duration size) {
  if (inputs.degree() == 0) {
    // One by one: a call of a library function costs more than the few numbers there are.
    const double* values = inputs.order(0).data();
    double* to = u();
    for (std::size_t i = 0; i < inputs_; ++i) to[i] = values[i];
    clear_slopes();
    return;
  }
  slopes_are_zero_ = false;
  for (std::size_t i = 0; i < inputs_; ++i) {
    u()[i] = inputs.value(i, size);
    du()[i] = inputs.slope(i, size);
    ddu()[i] = inputs.curvature(i, size);
  }
}

StateId NativeSubsystem::save() {
  const auto kept = model_->memory();
  std::copy(kept.begin(), kept.end(), memory());
  const StateId id = keep(now_);
  saved_waits_[static_cast<std::size_t>(id)] = event_waits_;
  return id;
}

StateId NativeSubsystem::keep(std::span<const double> state) {
  if (free_.empty()) {
    const auto count = saved_.size() / now_.size();
    saved_.insert(saved_.end(), state.begin(), state.end());
    free_.reserve(count + 1);  // so that release never allocates
    saved_waits_.resize(count + 1);
    return static_cast<StateId>(count);
  }
  const StateId id = free_.back();
  free_.pop_back();
  std::copy(state.begin(), state.end(), saved_.data() + static_cast<std::size_t>(id) * now_.size());
  saved_waits_[static_cast<std::size_t>(id)] = false;
  return id;
}

base::Bytes NativeSubsystem::serialize(StateId id) {
  const double* from = saved_.data() + static_cast<std::size_t>(id) * now_.size();
  return base::to_bytes(std::vector<double>(from, from + now_.size()));
}

StateId NativeSubsystem::deserialize(std::span<const std::byte> bytes) {
  std::vector<double> state;
  base::from_bytes(bytes, state);
  if (state.size() == now_.size()) return keep(state);
  throw Error(ErrorCode::FileFailed, {FactCode::SavedStateForeign}, {name_, "", std::nullopt, ""});
}

void NativeSubsystem::restore(StateId id) {
  const double* from = saved_.data() + static_cast<std::size_t>(id) * now_.size();
  std::copy(from, from + now_.size(), now_.begin());
  slopes_are_zero_ = false;  // not known
  event_waits_ = saved_waits_[static_cast<std::size_t>(id)];
  const auto kept = model_->memory();
  std::copy(memory(), memory() + kept.size(), kept.begin());
}

void NativeSubsystem::release(StateId id) {
  free_.push_back(id);
}

void NativeSubsystem::states(std::span<double> result) {
  std::copy(x(), x() + states_, result.begin());
}

void NativeSubsystem::derivatives(std::span<double> dx) {
  guarded(now_[0], [&] { model_->derivatives(here(), dx); });
}

void NativeSubsystem::linearize(Linearization& result) {
  guarded(now_[0], [&] { model_->linearize(here(), result); });
}

void NativeSubsystem::output_derivatives(std::span<double> dy) {
  guarded(now_[0], [&] { model_->output_rates(here(), dy); });
}

void NativeSubsystem::right_hand_side(const Equations::Point& at, std::span<double> dx) {
  guarded(at.t, [&] { model_->derivatives(model_point(at), dx); });
}

void NativeSubsystem::outputs(const Equations::Point& at, std::span<double> y) {
  guarded(at.t, [&] { model_->outputs(model_point(at), y); });
}

void NativeSubsystem::output_rates(const Equations::Point& at, std::span<double> dy) {
  guarded(at.t, [&] { model_->output_rates(model_point(at), dy); });
}

void NativeSubsystem::event_indicators(const Equations::Point& at, std::span<double> z) {
  guarded(at.t, [&] { model_->event_indicators(model_point(at), z); });
}

bool NativeSubsystem::handle_event(const Equations::Point& at, std::span<double> x) {
  bool again = false;
  guarded(at.t, [&] { again = model_->handle_event(model_point(at), x); });
  return again;
}

void NativeSubsystem::move_to(const Equations::Point& at) {
  now_[0] = at.t;
  std::copy(at.x.begin(), at.x.end(), x());
  std::copy(at.u.begin(), at.u.end(), u());
  std::copy(at.du.begin(), at.du.end(), du());
  std::fill(ddu(), ddu() + inputs_, 0.0);
  slopes_are_zero_ = false;
}

void NativeSubsystem::reset() {
  saved_.clear();
  free_.clear();
  std::fill(now_.begin(), now_.end(), 0.0);
}

/// The discrete state stays, though `configure` puts it back to its start.
void NativeSubsystem::set_parameter(std::size_t parameter, const Value& value) {
  parameters_[parameter] = value;
  const auto kept = model_->memory();
  std::copy(kept.begin(), kept.end(), memory());
  guarded(now_[0], [&] { model_->configure(parameters_); });
  const auto emptied = model_->memory();
  std::copy(memory(), memory() + emptied.size(), emptied.begin());
  if (model_->feedthrough() == capabilities_.feedthrough) return;
  throw Error(ErrorCode::SubsystemFailed, {FactCode::FeedthroughChanges},
              {name_, variables().parameters[parameter].name, now_[0], "Give it this value from the start"});
}

/// Whatever a model throws leaves as an Error that names this subsystem.
template <class Call>
void NativeSubsystem::guarded(Time t, Call&& call) const {
  try {
    call();
  } catch (const Error& error) {
    if (!error.problems().empty() || !error.context().subsystem.empty()) throw;
    ErrorContext context = error.context();
    context.subsystem = name_;
    if (!context.time && error.code() != ErrorCode::InvalidSystem) context.time = t;
    throw Error(error.code(), error.fact(), std::move(context));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::SubsystemFailed, base::out_of_memory(), {name_, "", t, ""});
  } catch (const std::exception& exception) {
    throw Error(ErrorCode::SubsystemFailed, exception.what(), {name_, "", t, ""});
  } catch (...) {
    throw Error(ErrorCode::SubsystemFailed, {FactCode::ModelThrew}, {name_, "", t, ""});
  }
}

}  // namespace

std::unique_ptr<Subsystem> make_native_subsystem(std::string name, std::unique_ptr<Model> model) {
  return std::make_unique<NativeSubsystem>(std::move(name), std::move(model));
}

}  // namespace entrain::subsystem
