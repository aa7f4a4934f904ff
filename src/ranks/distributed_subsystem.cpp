#include "ranks/distributed_subsystem.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "entrain/fact_codes.hpp"
#include "entrain/run_summary.hpp"
#include "subsystem/ends_initialization.hpp"
#include "subsystem/foreign_calls.hpp"
#include "worker/event_dependencies.hpp"
#include "worker/messages.hpp"

namespace entrain {

template <class Visitor>
void visit_fields(Visitor& visit, DatagramCounters& of) {
  visit(of.sent, of.received, of.late, of.lost, of.doubled, of.reordered, of.invalid, of.foreign, of.held);
}

}  // namespace entrain

namespace entrain::ranks {
namespace {

enum class Call : std::uint8_t {
  Make,
  Abilities,
  Warnings,
  SetStart,
  Initialize,
  FinishInitialization,
  NoteUsedBefore,
  Evaluate,
  Step,
  Refusal,
  Reading,
  Save,
  Restore,
  Release,
  Serialize,
  Deserialize,
  States,
  Derivatives,
  OutputDerivatives,
  Linearize,
  NextEvent,
  Reset,
  SetParameter,
  ReadDiscrete,
  WriteDiscrete,
  ReadInner,
  ShareEvents,
  EnterEvents,
  LeaveEvents,
  UpdateEvents,
  SetEventInputs,
  ReadEventOutputs,
  Activate,
  ReadActive,
  ReadInterval,
  ReadShift,
  Dependencies,
  EquationState,
  RightHandSide,
  EquationOutputs,
  OutputRates,
  NextDiscontinuity,
  IndicatorCount,
  Indicators,
  HandleEvent,
  CompleteStep,
  MoveTo,
  Datagrams,
};

/// Before what a call brought.
struct CallHead {
  Call call{};
  std::uint8_t threw = 0;
  std::uint8_t state = 0;   ///< kEventWaits, ...
  std::uint8_t report = 0;  ///< of a step
  std::uint32_t size = 0;   ///< of what follows
};
constexpr std::uint8_t kEventWaits = 1, kFindsEvents = 2, kStopRequested = 4;
constexpr std::uint8_t kStopInReport = 4, kEventInReport = 8;

worker::SubsystemAbilities abilities_of(Subsystem& subsystem) {
  worker::SubsystemAbilities can;
  can.capabilities = subsystem.capabilities();
  const Facets facets = subsystem.facets();
  can.rollback = facets.rollback != nullptr;
  can.serializes = can.rollback && facets.rollback->can_serialize();
  can.states = facets.states != nullptr;
  can.linearizer = facets.linearizer != nullptr;
  can.output_derivatives = facets.output_derivatives != nullptr;
  can.events = facets.events != nullptr;
  can.reset = facets.reset != nullptr;
  can.tuning = facets.tuning != nullptr;
  can.discrete = facets.discrete != nullptr;
  can.inner = facets.inner != nullptr;
  can.event_mode = facets.event_mode != nullptr;
  can.remote = facets.remote != nullptr;
  can.equations = facets.equations != nullptr;
  can.reads_input_derivatives = can.equations && facets.equations->reads_input_derivatives();
  can.wants_completed_steps = can.equations && facets.equations->wants_completed_steps();
  // What is known of events travels with records alone.
  can.held = !can.event_mode && facets.split == nullptr && subsystem.held_step().function != nullptr;
  return can;
}

class DistributedSubsystem final : public Subsystem,
                                   public subsystem::ForeignCalls,
                                   public subsystem::EndsInitialization,
                                   private Rollback,
                                   private States,
                                   private Linearizer,
                                   private OutputDerivatives,
                                   private Equations,
                                   private Events,
                                   private Reset,
                                   private Tuning,
                                   private DiscreteValues,
                                   private InnerValues,
                                   private EventMode,
                                   private Remote,
                                   private SplitStep {
 public:
  DistributedSubsystem(std::shared_ptr<DistributedSystem> system, SubsystemId s, std::string name,
                       std::unique_ptr<Subsystem> inner)
      : system_(std::move(system)), id_(s), name_(std::move(name)), inner_(std::move(inner)) {}

  /// Everywhere, first of all: whether there is one.
  bool make(std::vector<Problem>& problems);

  std::string_view name() const noexcept override { return name_; }
  const VariableTable& variables() const noexcept override { return variables_; }
  const Capabilities& capabilities() const override;
  Facets facets() noexcept override;
  std::vector<Fact> warnings() const override;
  void set_start(VariableTable::Place place, const Value& value) override;
  void initialize(Time start, Time stop) override;
  void evaluate(std::span<const double> inputs, std::span<double> outputs) override;
  StepReport step(const Step& step, std::span<double> outputs) override;
  HeldStep held_step() noexcept override;
  void finish_initialization(std::span<double> outputs) override;
  void note_used_before() override;
  std::string refusal() const override;
  std::string reading(std::size_t output) const override;

 private:
  // SplitStep
  void post(const Step& step, const StepReadings& readings) override;
  StepReport wait(std::span<double> outputs) override;
  // Rollback
  StateId save() override;
  void restore(StateId id) override;
  void release(StateId id) override;
  bool can_serialize() const override { return abilities_->serializes; }
  std::vector<std::byte> serialize(StateId id) override;
  StateId deserialize(std::span<const std::byte> bytes) override;
  // What is read after a step
  void states(std::span<double> x) override;
  void derivatives(std::span<double> dx) override;
  void output_derivatives(std::span<double> dy) override;
  void linearize(Linearization& result) override;
  Time next_event(Time t) override;
  void reset() override;
  void set_parameter(std::size_t parameter, const Value& value) override;
  void read(std::span<const std::size_t> outputs, std::span<Value> values) override;
  void write(std::span<const std::size_t> inputs, std::span<const Value> values) override;
  void read_inner(std::span<const VariableTable::Place> places, std::span<Value> values) override;
  DatagramCounters datagrams() override;
  // EventMode
  void share_events() override;
  bool finds_events() const override { return has(kFindsEvents); }
  bool event_waits() const override { return has(kEventWaits); }
  void enter() override;
  void leave() override;
  Update update() override;
  void set_inputs(std::span<const double> inputs) override;
  void read_outputs(std::span<double> outputs) override;
  void activate(std::span<const std::size_t> clocks) override;
  void read_active(std::span<const std::size_t> clocks, std::span<unsigned char> active) override;
  Announced read_interval(std::size_t clock, ClockInterval& interval) override;
  ClockInterval shift(std::size_t clock) override;
  bool depends(Port output_kind, std::size_t output, Port input_kind, std::size_t input) const override;
  // Equations
  void state(std::span<double> x) override;
  void right_hand_side(const Point& at, std::span<double> dx) override;
  void outputs(const Point& at, std::span<double> y) override;
  void output_rates(const Point& at, std::span<double> dy) override;
  bool reads_input_derivatives() const override { return abilities_->reads_input_derivatives; }
  Time next_discontinuity(Time t) const override;
  std::size_t event_indicator_count() const override;
  void event_indicators(const Point& at, std::span<double> values) override;
  bool handle_event(const Point& at, std::span<double> x) override;
  bool wants_completed_steps() const override { return abilities_->wants_completed_steps; }
  bool complete_step(const Point& at) override;
  bool stop_requested() const override { return has(kStopRequested); }
  void move_to(const Point& at) override;

  template <class Work, class... Results>
  void share(Call call, Work&& work, Results&... results) const;
  template <class Work>
  void share_numbers(Call call, Work&& work, std::span<double> numbers) const;
  template <class Work>
  StepReport share_step(Work&& work, std::span<double> outputs);
  template <class Work, class Write, class Read>
  void exchange(Call call, Work&& work, Write&& write, Read&& read) const;
  template <class Values, class Work>
  void share_values(Call call, Work&& work, Values values);

  void record_error(Call call, const Error& error) const;
  void put(CallHead head) const;
  CallHead take_head(Call call) const;
  bool has(std::uint8_t flag) const { return ((inner_ ? state_now() : state_) & flag) != 0; }
  std::uint8_t state_now() const;
  CallRecord& record() const { return system_->record(id_); }

  std::shared_ptr<DistributedSystem> system_;
  SubsystemId id_;
  std::string name_;
  VariableTable variables_;
  mutable std::optional<worker::SubsystemAbilities> abilities_;
  mutable bool outdated_ = true;    ///< a start value can change the abilities
  mutable std::uint8_t state_ = 0;  ///< elsewhere: after the latest call
  mutable std::optional<worker::EventDependencies> dependencies_;
  mutable std::vector<Fact> warnings_;
  std::exception_ptr not_posted_;
  std::unique_ptr<Subsystem> inner_;
  mutable Facets of_;  ///< of the inner one
};

std::uint8_t DistributedSubsystem::state_now() const {
  unsigned state = 0;
  if (of_.event_mode != nullptr) {
    if (of_.event_mode->event_waits()) state |= kEventWaits;
    if (of_.event_mode->finds_events()) state |= kFindsEvents;
  }
  if (of_.equations != nullptr && of_.equations->stop_requested()) state |= kStopRequested;
  return static_cast<std::uint8_t>(state);
}

void DistributedSubsystem::put(CallHead head) const {
  head.state = state_now();
  record().put(&head, sizeof head);
}

void DistributedSubsystem::record_error(Call call, const Error& error) const {
  const auto bytes = base::to_bytes(base::ErrorRecord(error));
  const CallHead head{call, 1, 0, 0, static_cast<std::uint32_t>(bytes.size())};
  record().put(&head, sizeof head);
  record().put(bytes.data(), bytes.size());
}

/// Throws what the call threw.
CallHead DistributedSubsystem::take_head(Call call) const {
  CallHead head;
  std::memcpy(&head, record().take(sizeof head).data(), sizeof head);
  if (head.call != call) refuse_record();
  state_ = head.state;
  if (head.threw == 0) return head;
  base::ErrorRecord error;
  base::from_bytes(record().take(head.size), error);
  throw error.error();
}

/// `work` is done where the subsystem lives; `write` records what it brought, `read` takes it from the record.
template <class Work, class Write, class Read>
void DistributedSubsystem::exchange(Call call, Work&& work, Write&& write, Read&& read) const {
  if (record().is_silent()) return work();
  const bool at_once = !system_->in_section();
  if (!inner_ && !record().is_here()) {
    if (at_once) system_->exchange_call(id_, static_cast<std::uint64_t>(call));
    return read();
  }
  std::exception_ptr failure;
  try {
    work();
    write();
  } catch (const Error& error) {
    record_error(call, error);
    failure = std::current_exception();
  } catch (const std::exception& error) {
    const Error known(ErrorCode::SubsystemFailed, error.what());
    record_error(call, known);
    failure = std::make_exception_ptr(known);
  }
  if (at_once) system_->exchange_call(id_, static_cast<std::uint64_t>(call));
  if (failure) std::rethrow_exception(failure);
}

template <class Work, class... Results>
void DistributedSubsystem::share(Call call, Work&& work, Results&... results) const {
  exchange(
      call, std::forward<Work>(work),
      [&] {
        const auto bytes = base::to_bytes(results...);
        put({call, 0, 0, 0, static_cast<std::uint32_t>(bytes.size())});
        record().put(bytes.data(), bytes.size());
      },
      [&] {
        const CallHead head = take_head(call);
        base::from_bytes(record().take(head.size), results...);
      });
}

template <class Work>
void DistributedSubsystem::share_numbers(Call call, Work&& work, std::span<double> numbers) const {
  exchange(
      call, std::forward<Work>(work),
      [&] {
        put({call, 0, 0, 0, static_cast<std::uint32_t>(numbers.size_bytes())});
        record().put(numbers.data(), numbers.size_bytes());
      },
      [&] {
        const CallHead head = take_head(call);
        if (head.size != numbers.size_bytes()) refuse_record();
        const auto bytes = record().take(head.size);
        if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
      });
}

template <class Work>
StepReport DistributedSubsystem::share_step(Work&& work, std::span<double> outputs) {
  StepReport report;
  exchange(
      Call::Step, [&] { report = work(); },
      [&] {
        const unsigned word = static_cast<unsigned>(report.outcome) | (report.stop_requested ? kStopInReport : 0U) |
                              (report.event ? kEventInReport : 0U);
        put({Call::Step, 0, 0, static_cast<std::uint8_t>(word),
             static_cast<std::uint32_t>(sizeof report.reached + outputs.size_bytes())});
        record().put(&report.reached, sizeof report.reached);
        record().put(outputs.data(), outputs.size_bytes());
      },
      [&] {
        const CallHead head = take_head(Call::Step);
        if (head.size != sizeof report.reached + outputs.size_bytes()) refuse_record();
        std::memcpy(&report.reached, record().take(sizeof report.reached).data(), sizeof report.reached);
        const auto bytes = record().take(outputs.size_bytes());
        if (!bytes.empty()) std::memcpy(outputs.data(), bytes.data(), bytes.size());
        report.outcome = static_cast<StepOutcome>(head.report & 3U);
        report.stop_requested = (head.report & kStopInReport) != 0;
        report.event = (head.report & kEventInReport) != 0;
      });
  return report;
}

/// Values that are no real numbers.
template <class Values, class Work>
void DistributedSubsystem::share_values(Call call, Work&& work, Values values) {
  std::vector<Value> found;
  share(
      call,
      [&] {
        work();
        found.assign(values.begin(), values.end());
      },
      found);
  if (found.size() != values.size()) refuse_record();
  std::move(found.begin(), found.end(), values.begin());
}

bool DistributedSubsystem::make(std::vector<Problem>& problems) {
  bool made = inner_ != nullptr;
  if (made) variables_ = inner_->variables();
  share(
      Call::Make, [] {}, made, variables_, problems);
  return made;
}

const Capabilities& DistributedSubsystem::capabilities() const {
  if (!outdated_) return abilities_->capabilities;
  worker::SubsystemAbilities found;
  share(
      Call::Abilities, [&] { found = abilities_of(*inner_); }, found);
  if (inner_) of_ = inner_->facets();
  abilities_ = std::move(found);
  outdated_ = false;
  return abilities_->capabilities;
}

Facets DistributedSubsystem::facets() noexcept {
  if (!abilities_) return {};  // nothing is promised before capabilities() was asked
  const worker::SubsystemAbilities& can = *abilities_;
  Facets facets;
  if (can.rollback) facets.rollback = this;
  if (can.states) facets.states = this;
  if (can.linearizer) facets.linearizer = this;
  if (can.output_derivatives) facets.output_derivatives = this;
  if (can.equations) facets.equations = this;
  if (can.events) facets.events = this;
  if (can.reset) facets.reset = this;
  if (can.tuning) facets.tuning = this;
  if (can.discrete) facets.discrete = this;
  if (can.inner) facets.inner = this;
  if (can.event_mode) facets.event_mode = this;
  if (can.remote) facets.remote = this;
  if (inner_ && of_.split != nullptr) facets.split = this;
  return facets;
}

std::vector<Fact> DistributedSubsystem::warnings() const {
  try {
    share(
        Call::Warnings, [&] { warnings_ = inner_->warnings(); }, warnings_);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): those known before
  }
  return warnings_;
}

void DistributedSubsystem::set_start(VariableTable::Place place, const Value& value) {
  outdated_ = true;
  share(Call::SetStart, [&] { inner_->set_start(place, value); });
}

void DistributedSubsystem::initialize(Time start, Time stop) {
  share(Call::Initialize, [&] { inner_->initialize(start, stop); });
}

void DistributedSubsystem::finish_initialization(std::span<double> outputs) {
  share_numbers(
      Call::FinishInitialization, [&] { subsystem::finish_initialization_of(*inner_, outputs); }, outputs);
}

void DistributedSubsystem::note_used_before() {
  share(Call::NoteUsedBefore, [&] { subsystem::note_used_before_of(*inner_); });
}

void DistributedSubsystem::evaluate(std::span<const double> inputs, std::span<double> outputs) {
  share_numbers(
      Call::Evaluate, [&] { inner_->evaluate(inputs, outputs); }, outputs);
}

StepReport DistributedSubsystem::step(const Step& step, std::span<double> outputs) {
  return share_step([&] { return inner_->step(step, outputs); }, outputs);
}

/// Made without a record: what it brings is passed on by SharedCalls::exchange_outputs. Elsewhere it is never called.
HeldStep DistributedSubsystem::held_step() noexcept {
  if (!abilities_ || !abilities_->held) return {};
  if (inner_) return inner_->held_step();
  return {[](void*, Time, Duration, const double*, double*) -> const StepReport* { return nullptr; }, nullptr};
}

/// What it throws is part of the step.
void DistributedSubsystem::post(const Step& step, const StepReadings& readings) {
  not_posted_ = nullptr;
  try {
    of_.split->post(step, readings);
  } catch (...) {
    not_posted_ = std::current_exception();
  }
}

StepReport DistributedSubsystem::wait(std::span<double> outputs) {
  return share_step(
      [&] {
        if (not_posted_) std::rethrow_exception(std::exchange(not_posted_, nullptr));
        return of_.split->wait(outputs);
      },
      outputs);
}

std::string DistributedSubsystem::refusal() const {
  std::string text;
  share(
      Call::Refusal, [&] { text = subsystem::refusal_of(*inner_); }, text);
  return text;
}

std::string DistributedSubsystem::reading(std::size_t output) const {
  std::string text;
  share(
      Call::Reading, [&] { text = subsystem::reading_of(*inner_, output); }, text);
  return text;
}

StateId DistributedSubsystem::save() {
  StateId id{};
  share(
      Call::Save, [&] { id = of_.rollback->save(); }, id);
  return id;
}

void DistributedSubsystem::restore(StateId id) {
  share(Call::Restore, [&] { of_.rollback->restore(id); });
}

void DistributedSubsystem::release(StateId id) {
  share(Call::Release, [&] { of_.rollback->release(id); });
}

std::vector<std::byte> DistributedSubsystem::serialize(StateId id) {
  std::vector<std::byte> bytes;
  share(
      Call::Serialize, [&] { bytes = of_.rollback->serialize(id); }, bytes);
  return bytes;
}

StateId DistributedSubsystem::deserialize(std::span<const std::byte> bytes) {
  StateId id{};
  share(
      Call::Deserialize, [&] { id = of_.rollback->deserialize(bytes); }, id);
  return id;
}

void DistributedSubsystem::states(std::span<double> x) {
  share_numbers(
      Call::States, [&] { of_.states->states(x); }, x);
}

void DistributedSubsystem::derivatives(std::span<double> dx) {
  share_numbers(
      Call::Derivatives, [&] { of_.states->derivatives(dx); }, dx);
}

void DistributedSubsystem::output_derivatives(std::span<double> dy) {
  share_numbers(
      Call::OutputDerivatives, [&] { of_.output_derivatives->output_derivatives(dy); }, dy);
}

void DistributedSubsystem::linearize(Linearization& result) {
  share(
      Call::Linearize, [&] { of_.linearizer->linearize(result); }, result);
}

Time DistributedSubsystem::next_event(Time t) {
  Time next = kNever;
  share(
      Call::NextEvent, [&] { next = of_.events->next_event(t); }, next);
  return next;
}

void DistributedSubsystem::reset() {
  share(Call::Reset, [&] { of_.reset->reset(); });
}

void DistributedSubsystem::set_parameter(std::size_t parameter, const Value& value) {
  share(Call::SetParameter, [&] { of_.tuning->set_parameter(parameter, value); });
}

void DistributedSubsystem::read(std::span<const std::size_t> outputs, std::span<Value> values) {
  share_values(
      Call::ReadDiscrete, [&] { of_.discrete->read(outputs, values); }, values);
}

void DistributedSubsystem::write(std::span<const std::size_t> inputs, std::span<const Value> values) {
  share(Call::WriteDiscrete, [&] { of_.discrete->write(inputs, values); });
}

void DistributedSubsystem::read_inner(std::span<const VariableTable::Place> places, std::span<Value> values) {
  share_values(
      Call::ReadInner, [&] { of_.inner->read_inner(places, values); }, values);
}

DatagramCounters DistributedSubsystem::datagrams() {
  DatagramCounters counters;
  share(
      Call::Datagrams, [&] { counters = of_.remote->datagrams(); }, counters);
  return counters;
}

void DistributedSubsystem::share_events() {
  share(Call::ShareEvents, [&] { of_.event_mode->share_events(); });
}

void DistributedSubsystem::enter() {
  share(Call::EnterEvents, [&] { of_.event_mode->enter(); });
}

void DistributedSubsystem::leave() {
  share(Call::LeaveEvents, [&] { of_.event_mode->leave(); });
}

EventMode::Update DistributedSubsystem::update() {
  Update update;
  share(
      Call::UpdateEvents, [&] { update = of_.event_mode->update(); }, update.again, update.stop_requested);
  return update;
}

void DistributedSubsystem::set_inputs(std::span<const double> inputs) {
  share(Call::SetEventInputs, [&] { of_.event_mode->set_inputs(inputs); });
}

void DistributedSubsystem::read_outputs(std::span<double> outputs) {
  share_numbers(
      Call::ReadEventOutputs, [&] { of_.event_mode->read_outputs(outputs); }, outputs);
}

void DistributedSubsystem::activate(std::span<const std::size_t> clocks) {
  share(Call::Activate, [&] { of_.event_mode->activate(clocks); });
}

void DistributedSubsystem::read_active(std::span<const std::size_t> clocks, std::span<unsigned char> active) {
  std::vector<std::uint8_t> found;
  share(
      Call::ReadActive,
      [&] {
        of_.event_mode->read_active(clocks, active);
        found.assign(active.begin(), active.end());
      },
      found);
  if (found.size() != active.size()) refuse_record();
  std::copy(found.begin(), found.end(), active.begin());
}

EventMode::Announced DistributedSubsystem::read_interval(std::size_t clock, ClockInterval& interval) {
  auto announced = Announced::NotYet;
  share(
      Call::ReadInterval, [&] { announced = of_.event_mode->read_interval(clock, interval); }, announced, interval);
  return announced;
}

ClockInterval DistributedSubsystem::shift(std::size_t clock) {
  ClockInterval shift;
  share(
      Call::ReadShift, [&] { shift = of_.event_mode->shift(clock); }, shift);
  return shift;
}

bool DistributedSubsystem::depends(Port output_kind, std::size_t output, Port input_kind, std::size_t input) const {
  if (!dependencies_) {
    worker::EventDependencies found;
    share(
        Call::Dependencies, [&] { found = worker::EventDependencies(variables_, *of_.event_mode); }, found);
    dependencies_ = std::move(found);
  }
  return dependencies_->depends(variables_, {output_kind, output}, {input_kind, input});
}

void DistributedSubsystem::state(std::span<double> x) {
  share_numbers(
      Call::EquationState, [&] { of_.equations->state(x); }, x);
}

void DistributedSubsystem::right_hand_side(const Point& at, std::span<double> dx) {
  share_numbers(
      Call::RightHandSide, [&] { of_.equations->right_hand_side(at, dx); }, dx);
}

void DistributedSubsystem::outputs(const Point& at, std::span<double> y) {
  share_numbers(
      Call::EquationOutputs, [&] { of_.equations->outputs(at, y); }, y);
}

void DistributedSubsystem::output_rates(const Point& at, std::span<double> dy) {
  share_numbers(
      Call::OutputRates, [&] { of_.equations->output_rates(at, dy); }, dy);
}

Time DistributedSubsystem::next_discontinuity(Time t) const {
  Time next = kNever;
  share(
      Call::NextDiscontinuity, [&] { next = of_.equations->next_discontinuity(t); }, next);
  return next;
}

std::size_t DistributedSubsystem::event_indicator_count() const {
  std::size_t count = 0;
  share(
      Call::IndicatorCount, [&] { count = of_.equations->event_indicator_count(); }, count);
  return count;
}

void DistributedSubsystem::event_indicators(const Point& at, std::span<double> values) {
  share_numbers(
      Call::Indicators, [&] { of_.equations->event_indicators(at, values); }, values);
}

bool DistributedSubsystem::handle_event(const Point& at, std::span<double> x) {
  bool again = false;
  std::vector<double> states;
  share(
      Call::HandleEvent,
      [&] {
        again = of_.equations->handle_event(at, x);
        states.assign(x.begin(), x.end());
      },
      again, states);
  if (states.size() != x.size()) refuse_record();
  std::copy(states.begin(), states.end(), x.begin());
  return again;
}

bool DistributedSubsystem::complete_step(const Point& at) {
  bool event = false;
  share(
      Call::CompleteStep, [&] { event = of_.equations->complete_step(at); }, event);
  return event;
}

void DistributedSubsystem::move_to(const Point& at) {
  share(Call::MoveTo, [&] { of_.equations->move_to(at); });
}

}  // namespace

std::unique_ptr<Subsystem> share_subsystem(std::shared_ptr<DistributedSystem> system, SubsystemId s,
                                           const std::string& name, std::unique_ptr<Subsystem> inner,
                                           std::vector<Problem>& problems) {
  auto made = std::make_unique<DistributedSubsystem>(std::move(system), s, name, std::move(inner));
  if (!made->make(problems)) return nullptr;
  return made;
}

}  // namespace entrain::ranks
