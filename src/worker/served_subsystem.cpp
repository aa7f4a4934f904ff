#include "worker/served_subsystem.hpp"

#include <array>
#include <utility>

#include "subsystem/ends_initialization.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "subsystem/foreign_calls.hpp"
#include "worker/event_dependencies.hpp"

namespace entrain::worker {

ServedSubsystem::ServedSubsystem(base::SharedMemory& memory, ProcessPage& page, const base::Segment& box,
                                 std::unique_ptr<Subsystem> subsystem)
    : subsystem_(std::move(subsystem)),
      dimensions_(dimensions_of(subsystem_->variables())),
      box_(*reinterpret_cast<Mailbox*>(memory.map(box))),
      numbers_(reinterpret_cast<double*>(memory.map(box) + kMailboxSize), dimensions_),
      parcel_(memory, page.end, box_) {}

void ServedSubsystem::answer() {
  box_.threw = false;
  try {
    settle();
    (this->*handler(box_.operation))();
    note_equations();
    note_events();
  } catch (const Error& error) {
    answer_with(error);
  } catch (const std::exception& error) {
    answer_with(Error(ErrorCode::SubsystemFailed, error.what()));
  }
}

void ServedSubsystem::answer_with(const Error& error) {
  box_.threw = true;
  parcel_.write(base::ErrorRecord(error));
}

/// What was left for this call.
void ServedSubsystem::settle() {
  if (std::exchange(box_.restores, false)) facets_.rollback->restore(StateId{box_.restored});
  const std::uint32_t released = std::exchange(box_.releases, 0);
  for (std::uint32_t i = 0; i < released; ++i) facets_.rollback->release(StateId{box_.released[i]});
}

void ServedSubsystem::note_equations() {
  if (facets_.equations == nullptr) return;
  box_.stop_requested = facets_.equations->stop_requested();
  box_.indicators = facets_.equations->event_indicator_count();
}

/// What is asked between any two steps costs no call of its own.
void ServedSubsystem::note_events() {
  if (facets_.event_mode == nullptr) return;
  box_.event_waits = facets_.event_mode->event_waits();
  box_.finds_events = facets_.event_mode->finds_events();
}

ServedSubsystem::Handler ServedSubsystem::handler(Operation operation) {
  using S = ServedSubsystem;
  static constexpr std::array<Handler, static_cast<std::size_t>(Operation::Count)> kHandlers{nullptr,
                                                                                             nullptr,
                                                                                             &S::set_start,
                                                                                             &S::abilities,
                                                                                             &S::warnings,
                                                                                             &S::initialize,
                                                                                             &S::finish_initialization,
                                                                                             &S::note_used_before,
                                                                                             &S::evaluate,
                                                                                             &S::step,
                                                                                             &S::output_derivatives,
                                                                                             &S::states,
                                                                                             &S::state_derivatives,
                                                                                             &S::linearize,
                                                                                             &S::save,
                                                                                             &S::serialize,
                                                                                             &S::deserialize,
                                                                                             &S::reset,
                                                                                             &S::next_event,
                                                                                             &S::set_parameter,
                                                                                             &S::read_discrete,
                                                                                             &S::write_discrete,
                                                                                             &S::read_inner,
                                                                                             &S::refusal,
                                                                                             &S::reading,
                                                                                             &S::proof,
                                                                                             &S::share_events,
                                                                                             &S::event_dependencies,
                                                                                             &S::enter_events,
                                                                                             &S::leave_events,
                                                                                             &S::update_events,
                                                                                             &S::set_event_inputs,
                                                                                             &S::read_event_outputs,
                                                                                             &S::activate_clocks,
                                                                                             &S::read_active_clocks,
                                                                                             &S::read_clock_interval,
                                                                                             &S::read_clock_shift,
                                                                                             &S::equation_state,
                                                                                             &S::right_hand_side,
                                                                                             &S::equation_outputs,
                                                                                             &S::output_rates,
                                                                                             &S::next_discontinuity,
                                                                                             &S::event_indicators,
                                                                                             &S::handle_event,
                                                                                             &S::complete_step,
                                                                                             &S::move_to};
  return kHandlers[static_cast<std::size_t>(operation)];
}

void ServedSubsystem::set_start() {
  VariableTable::Place place{};
  Value value;
  parcel_.read(place, value);
  subsystem_->set_start(place, value);
}

void ServedSubsystem::abilities() {
  SubsystemAbilities can;
  can.capabilities = subsystem_->capabilities();
  facets_ = subsystem_->facets();
  can.rollback = facets_.rollback != nullptr;
  can.serializes = can.rollback && facets_.rollback->can_serialize();
  can.states = facets_.states != nullptr;
  can.linearizer = facets_.linearizer != nullptr;
  can.output_derivatives = facets_.output_derivatives != nullptr;
  can.events = facets_.events != nullptr;
  can.reset = facets_.reset != nullptr;
  can.tuning = facets_.tuning != nullptr;
  can.discrete = facets_.discrete != nullptr;
  can.inner = facets_.inner != nullptr;
  can.event_mode = facets_.event_mode != nullptr;
  can.equations = facets_.equations != nullptr;
  can.reads_input_derivatives = can.equations && facets_.equations->reads_input_derivatives();
  can.wants_completed_steps = can.equations && facets_.equations->wants_completed_steps();
  parcel_.write(can);
}

void ServedSubsystem::warnings() {
  parcel_.write(subsystem_->warnings());
}

void ServedSubsystem::initialize() {
  subsystem_->initialize(box_.from, box_.size);
}

void ServedSubsystem::finish_initialization() {
  subsystem::finish_initialization_of(*subsystem_, numbers_.outputs);
}

void ServedSubsystem::note_used_before() {
  subsystem::note_used_before_of(*subsystem_);
}

void ServedSubsystem::evaluate() {
  subsystem_->evaluate(numbers_.inputs.first(dimensions_.inputs), numbers_.outputs);
}

/// What cannot be read is read again, and fails, when it is asked for.
void ServedSubsystem::step() {
  box_.report = subsystem_->step(
      {box_.from, box_.size, InputBlock(numbers_.inputs.data(), dimensions_.inputs, box_.degree)}, numbers_.outputs);
  StepReadings& wanted = box_.readings;
  if (box_.report.outcome == StepOutcome::Rejected) wanted = {};
  const auto read = [](bool& whether, auto&& reading) {
    try {
      if (whether) reading();
    } catch (const std::exception&) {
      whether = false;
    }
  };
  read(wanted.output_derivatives, [this] { output_derivatives(); });
  read(wanted.states, [this] { states(); });
  read(wanted.state_derivatives, [this] { state_derivatives(); });
}

void ServedSubsystem::output_derivatives() {
  facets_.output_derivatives->output_derivatives(numbers_.slopes);
}

void ServedSubsystem::states() {
  facets_.states->states(numbers_.states);
}

void ServedSubsystem::state_derivatives() {
  facets_.states->derivatives(numbers_.derivatives);
}

void ServedSubsystem::linearize() {
  facets_.linearizer->linearize(linearization_);
  parcel_.write(linearization_);
}

void ServedSubsystem::save() {
  box_.state = static_cast<std::uint32_t>(facets_.rollback->save());
}

void ServedSubsystem::serialize() {
  parcel_.write(facets_.rollback->serialize(StateId{box_.state}));
}

void ServedSubsystem::deserialize() {
  base::Bytes bytes;
  parcel_.read(bytes);
  box_.state = static_cast<std::uint32_t>(facets_.rollback->deserialize(bytes));
}

void ServedSubsystem::reset() {
  facets_.reset->reset();
}

void ServedSubsystem::next_event() {
  box_.time = facets_.events->next_event(box_.from);
}

void ServedSubsystem::set_parameter() {
  std::size_t parameter = 0;
  Value value;
  parcel_.read(parameter, value);
  facets_.tuning->set_parameter(parameter, value);
}

void ServedSubsystem::read_discrete() {
  std::vector<std::size_t> outputs;
  parcel_.read(outputs);
  values_.resize(outputs.size());
  facets_.discrete->read(outputs, values_);
  parcel_.write(values_);
}

void ServedSubsystem::write_discrete() {
  std::vector<std::size_t> inputs;
  parcel_.read(inputs, values_);
  facets_.discrete->write(inputs, values_);
}

void ServedSubsystem::read_inner() {
  std::vector<VariableTable::Place> places;
  parcel_.read(places);
  values_.resize(places.size());
  facets_.inner->read_inner(places, values_);
  parcel_.write(values_);
}

void ServedSubsystem::refusal() {
  parcel_.write(subsystem::refusal_of(*subsystem_));
}

void ServedSubsystem::reading() {
  parcel_.write(subsystem::reading_of(*subsystem_, box_.state));
}

void ServedSubsystem::proof() {
  base::Bytes question;
  parcel_.read(question);
  parcel_.write(subsystem::fmu_proof(*subsystem_, question, box_.stage));
}

void ServedSubsystem::share_events() {
  facets_.event_mode->share_events();
}

void ServedSubsystem::event_dependencies() {
  parcel_.write(EventDependencies(subsystem_->variables(), *facets_.event_mode));
}

void ServedSubsystem::enter_events() {
  facets_.event_mode->enter();
}

void ServedSubsystem::leave_events() {
  facets_.event_mode->leave();
}

void ServedSubsystem::update_events() {
  const EventMode::Update update = facets_.event_mode->update();
  parcel_.write(update.again, update.stop_requested);
}

void ServedSubsystem::set_event_inputs() {
  facets_.event_mode->set_inputs(numbers_.inputs.first(dimensions_.inputs));
}

void ServedSubsystem::read_event_outputs() {
  facets_.event_mode->read_outputs(numbers_.outputs);
}

void ServedSubsystem::activate_clocks() {
  std::vector<std::size_t> clocks;
  parcel_.read(clocks);
  facets_.event_mode->activate(clocks);
}

void ServedSubsystem::read_active_clocks() {
  std::vector<std::size_t> clocks;
  parcel_.read(clocks);
  std::vector<std::uint8_t> active(clocks.size());
  facets_.event_mode->read_active(clocks, active);
  parcel_.write(active);
}

void ServedSubsystem::read_clock_interval() {
  std::size_t clock = 0;
  parcel_.read(clock);
  ClockInterval interval;
  const EventMode::Announced announced = facets_.event_mode->read_interval(clock, interval);
  parcel_.write(announced, interval);
}

void ServedSubsystem::read_clock_shift() {
  std::size_t clock = 0;
  parcel_.read(clock);
  parcel_.write(facets_.event_mode->shift(clock));
}

Equations::Point ServedSubsystem::point() const {
  const std::size_t inputs = dimensions_.inputs;
  return {box_.from, numbers_.x, numbers_.inputs.first(inputs), numbers_.inputs.subspan(inputs, inputs)};
}

void ServedSubsystem::equation_state() {
  facets_.equations->state(numbers_.x);
}

void ServedSubsystem::right_hand_side() {
  facets_.equations->right_hand_side(point(), numbers_.result.first(dimensions_.states));
}

void ServedSubsystem::equation_outputs() {
  facets_.equations->outputs(point(), numbers_.result.first(dimensions_.outputs));
}

void ServedSubsystem::output_rates() {
  facets_.equations->output_rates(point(), numbers_.result.first(dimensions_.outputs));
}

void ServedSubsystem::next_discontinuity() {
  box_.time = facets_.equations->next_discontinuity(box_.from);
}

void ServedSubsystem::event_indicators() {
  indicators_.resize(facets_.equations->event_indicator_count());
  facets_.equations->event_indicators(point(), indicators_);
  parcel_.write(indicators_);
}

void ServedSubsystem::handle_event() {
  box_.flag = facets_.equations->handle_event(point(), numbers_.x);
}

void ServedSubsystem::complete_step() {
  box_.flag = facets_.equations->complete_step(point());
}

void ServedSubsystem::move_to() {
  facets_.equations->move_to(point());
}

}  // namespace entrain::worker
