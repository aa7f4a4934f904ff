#include "worker/isolated_subsystem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/fault_text.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/ends_initialization.hpp"
#include "subsystem/foreign_calls.hpp"
#include "worker/event_dependencies.hpp"
#include "worker/line.hpp"

namespace entrain::worker {
namespace {

std::string code_of(const SubsystemDescription& description) {
  if (!description.fmu.empty()) return fmt::format("FMU '{}'", description.fmu);
  if (!description.csv.empty()) return fmt::format("table '{}'", description.csv);
  return fmt::format("model '{}'", description.model);
}

Caller caller_of(const SubsystemDescription& description, const Logging& log) {
  Caller caller{description.name, code_of(description), log, {}};
  if (description.timeout && description.timeout->value > 0.0) caller.timeout = description.timeout->value;
  return caller;
}

bool has_size(const Matrix& matrix, std::size_t rows, std::size_t cols) {
  return matrix.rows == rows && matrix.cols == cols && matrix.values.size() == rows * cols;
}

class IsolatedSubsystem final : public Subsystem,
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
                                private SplitStep {
 public:
  IsolatedSubsystem(std::shared_ptr<WorkerProcess> process, const WorkerProcess::Made& made, Line::Setup setup)
      : name_(setup.caller.subsystem),
        failed_at_end_(setup.caller.log.failed_at_end),
        variables_(made.subsystem.variables),
        line_(std::move(process), made, std::move(setup)) {}
  ~IsolatedSubsystem() override;

  std::string_view name() const noexcept override { return name_; }
  const VariableTable& variables() const noexcept override { return variables_; }
  const Capabilities& capabilities() const override;
  Facets facets() noexcept override;
  std::vector<Fact> warnings() const override;
  void set_start(VariableTable::Place place, const Value& value) override;
  void initialize(Time start, Time stop) override;
  void evaluate(std::span<const double> inputs, std::span<double> outputs) override;
  StepReport step(const Step& step, std::span<double> outputs) override;
  void finish_initialization(std::span<double> outputs) override;
  void note_used_before() override { line_.call(Operation::NoteUsedBefore); }
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
  // EventMode
  void share_events() override { line_.call(Operation::ShareEvents); }
  bool finds_events() const override;
  bool event_waits() const override;
  void enter() override { change_events(Operation::EnterEvents); }
  void leave() override { change_events(Operation::LeaveEvents); }
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
  bool stop_requested() const override { return line_.box().stop_requested; }
  void move_to(const Point& at) override;

  void call_at(Operation operation, const Point& at);
  void change_events(Operation operation);
  void reading_of_step(bool StepReadings::*which, Operation operation, std::span<const double> from,
                       std::span<double> to);
  /// Whatever was read belongs to another point from now on.
  void moved() { known_ = {}; }
  template <class Function>
  std::string text_of(Operation operation, Function&& prepare) const;

  std::string name_;
  std::function<void(const Error&)> failed_at_end_;
  VariableTable variables_;
  mutable Line line_;
  mutable std::optional<SubsystemAbilities> abilities_;
  mutable bool outdated_ = true;  ///< a start value can change the abilities
  mutable std::vector<Fact> warnings_;
  mutable std::optional<EventDependencies> dependencies_;
  std::size_t restarts_seen_ = 0;  ///< another process has another mailbox
  StepReadings known_;             ///< what the mailbox holds of the point reached
  StepReadings wanted_;            ///< what was read after the latest step: the next one brings it along
};

IsolatedSubsystem::~IsolatedSubsystem() {
  if (line_.has_ended()) return;  // which was reported
  try {
    line_.close();
  } catch (const Error& error) {
    if (failed_at_end_) failed_at_end_(error);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory for the call; the process ends anyway
  }
}

const Capabilities& IsolatedSubsystem::capabilities() const {
  if (!outdated_) return abilities_->capabilities;
  line_.call(Operation::Abilities);
  SubsystemAbilities found;
  line_.read(found);
  const Feedthrough& feedthrough = found.capabilities.feedthrough;
  const bool fits = feedthrough.inputs() == variables_.inputs.size() &&
                    (feedthrough.inputs() == 0 || feedthrough.outputs() == variables_.outputs.size());
  if (!fits) line_.refuse_answer();
  found.capabilities.once_per_process = false;  // another run has another process
  line_.may_serialize(found.serializes);
  abilities_ = std::move(found);
  outdated_ = false;
  return abilities_->capabilities;
}

Facets IsolatedSubsystem::facets() noexcept {
  if (!abilities_) return {};  // nothing is promised before capabilities() was asked
  const SubsystemAbilities& can = *abilities_;
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
  facets.split = this;
  return facets;
}

std::vector<Fact> IsolatedSubsystem::warnings() const {
  try {
    line_.call(Operation::Warnings);
    std::vector<Fact> found;
    line_.read(found);
    for (const auto& fact : found) require_known(fact);
    warnings_ = std::move(found);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): of a process that ended, those known before
  }
  auto all = warnings_;
  all.insert(all.end(), line_.restarts().begin(), line_.restarts().end());
  return all;
}

void IsolatedSubsystem::set_start(VariableTable::Place place, const Value& value) {
  outdated_ = true;
  line_.call_with(Operation::SetStart, place, value);
}

void IsolatedSubsystem::initialize(Time start, Time stop) {
  moved();
  line_.box().from = start;
  line_.box().size = stop;
  line_.call(Operation::Initialize);
}

void IsolatedSubsystem::finish_initialization(std::span<double> outputs) {
  moved();
  std::copy(outputs.begin(), outputs.end(), line_.numbers().outputs.begin());
  line_.call(Operation::FinishInitialization);
  std::copy_n(line_.numbers().outputs.begin(), outputs.size(), outputs.begin());
}

void IsolatedSubsystem::evaluate(std::span<const double> inputs, std::span<double> outputs) {
  moved();
  std::copy(inputs.begin(), inputs.end(), line_.numbers().inputs.begin());
  line_.call(Operation::Evaluate);
  std::copy(line_.numbers().outputs.begin(), line_.numbers().outputs.end(), outputs.begin());
}

StepReport IsolatedSubsystem::step(const Step& step, std::span<double> outputs) {
  post(step, {});
  return wait(outputs);
}

void IsolatedSubsystem::post(const Step& step, const StepReadings& readings) {
  Mailbox& box = line_.box();
  box.from = step.from;
  box.size = step.size;
  box.degree = step.inputs.degree();
  for (int p = 0; p <= step.inputs.degree(); ++p) {
    const auto order = step.inputs.order(p);
    std::copy(order.begin(), order.end(), line_.numbers().inputs.begin() + p * std::ssize(order));
  }
  box.readings = {readings.output_derivatives || wanted_.output_derivatives, readings.states || wanted_.states,
                  readings.state_derivatives || wanted_.state_derivatives};
  wanted_ = {};
  moved();
  line_.post(Operation::Step);
}

StepReport IsolatedSubsystem::wait(std::span<double> outputs) {
  line_.wait();
  std::copy(line_.numbers().outputs.begin(), line_.numbers().outputs.end(), outputs.begin());
  known_ = line_.box().readings;
  const StepReport report = line_.box().report;
  if (report.outcome > StepOutcome::Rejected) line_.refuse_answer();
  return report;
}

std::string IsolatedSubsystem::refusal() const {
  return text_of(Operation::Refusal, [] {});
}

std::string IsolatedSubsystem::reading(std::size_t output) const {
  return text_of(Operation::Reading, [&] { line_.box().state = static_cast<std::uint32_t>(output); });
}

/// For a message about something else: without it, when the process has ended.
template <class Function>
std::string IsolatedSubsystem::text_of(Operation operation, Function&& prepare) const {
  std::string text;
  try {
    prepare();
    line_.call(operation);
    line_.read(text);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): see above
  }
  return text;
}

StateId IsolatedSubsystem::save() {
  return StateId{line_.save()};
}

/// With the next call, which is mostly the step to be tried.
void IsolatedSubsystem::restore(StateId id) {
  moved();
  line_.restore(static_cast<std::uint32_t>(id));
}

/// With the next call.
void IsolatedSubsystem::release(StateId id) {
  line_.release(static_cast<std::uint32_t>(id));
}

std::vector<std::byte> IsolatedSubsystem::serialize(StateId id) {
  return line_.serialize(static_cast<std::uint32_t>(id));
}

StateId IsolatedSubsystem::deserialize(std::span<const std::byte> bytes) {
  return StateId{line_.deserialize(base::Bytes(bytes.begin(), bytes.end()))};
}

void IsolatedSubsystem::reading_of_step(bool StepReadings::*which, Operation operation, std::span<const double> from,
                                        std::span<double> to) {
  wanted_.*which = true;
  if (std::exchange(restarts_seen_, line_.restarts().size()) != line_.restarts().size()) moved();
  if (!(known_.*which)) line_.call(operation);
  known_.*which = true;
  std::copy_n(from.begin(), to.size(), to.begin());
}

void IsolatedSubsystem::states(std::span<double> x) {
  reading_of_step(&StepReadings::states, Operation::States, line_.numbers().states, x);
}

void IsolatedSubsystem::derivatives(std::span<double> dx) {
  reading_of_step(&StepReadings::state_derivatives, Operation::StateDerivatives, line_.numbers().derivatives, dx);
}

void IsolatedSubsystem::output_derivatives(std::span<double> dy) {
  reading_of_step(&StepReadings::output_derivatives, Operation::OutputDerivatives, line_.numbers().slopes, dy);
}

void IsolatedSubsystem::linearize(Linearization& result) {
  line_.call(Operation::Linearize);
  line_.read(result);
  const auto [inputs, outputs, states] = dimensions_of(variables_);
  if (!has_size(result.A, states, states) || !has_size(result.B, states, inputs) ||
      !has_size(result.C, outputs, states) || !has_size(result.D, outputs, inputs)) {
    line_.refuse_answer();
  }
}

Time IsolatedSubsystem::next_event(Time t) {
  line_.box().from = t;
  line_.call(Operation::NextEvent);
  return line_.box().time;
}

void IsolatedSubsystem::reset() {
  moved();
  line_.call(Operation::Reset);
}

void IsolatedSubsystem::set_parameter(std::size_t parameter, const Value& value) {
  moved();
  line_.call_with(Operation::SetParameter, parameter, value);
}

void IsolatedSubsystem::read(std::span<const std::size_t> outputs, std::span<Value> values) {
  line_.call_with(Operation::ReadDiscrete, std::vector<std::size_t>(outputs.begin(), outputs.end()));
  std::vector<Value> found;
  line_.read(found);
  if (found.size() != values.size()) line_.refuse_answer();
  std::move(found.begin(), found.end(), values.begin());
}

void IsolatedSubsystem::write(std::span<const std::size_t> inputs, std::span<const Value> values) {
  moved();
  line_.call_with(Operation::WriteDiscrete, std::vector<std::size_t>(inputs.begin(), inputs.end()),
                  std::vector<Value>(values.begin(), values.end()));
}

void IsolatedSubsystem::read_inner(std::span<const VariableTable::Place> places, std::span<Value> values) {
  line_.call_with(Operation::ReadInner, std::vector<VariableTable::Place>(places.begin(), places.end()));
  std::vector<Value> found;
  line_.read(found);
  if (found.size() != values.size()) line_.refuse_answer();
  std::move(found.begin(), found.end(), values.begin());
}

bool IsolatedSubsystem::finds_events() const {
  line_.settle();
  return line_.box().finds_events;
}

bool IsolatedSubsystem::event_waits() const {
  line_.settle();
  return line_.box().event_waits;
}

void IsolatedSubsystem::change_events(Operation operation) {
  moved();
  line_.call(operation);
}

EventMode::Update IsolatedSubsystem::update() {
  change_events(Operation::UpdateEvents);
  Update update;
  line_.read(update.again, update.stop_requested);
  return update;
}

void IsolatedSubsystem::set_inputs(std::span<const double> inputs) {
  std::copy(inputs.begin(), inputs.end(), line_.numbers().inputs.begin());
  change_events(Operation::SetEventInputs);
}

void IsolatedSubsystem::read_outputs(std::span<double> outputs) {
  line_.call(Operation::ReadEventOutputs);
  std::copy_n(line_.numbers().outputs.begin(), outputs.size(), outputs.begin());
}

void IsolatedSubsystem::activate(std::span<const std::size_t> clocks) {
  moved();
  line_.call_with(Operation::ActivateClocks, std::vector<std::size_t>(clocks.begin(), clocks.end()));
}

void IsolatedSubsystem::read_active(std::span<const std::size_t> clocks, std::span<unsigned char> active) {
  line_.call_with(Operation::ReadActiveClocks, std::vector<std::size_t>(clocks.begin(), clocks.end()));
  std::vector<std::uint8_t> found;
  line_.read(found);
  if (found.size() != active.size()) line_.refuse_answer();
  std::copy(found.begin(), found.end(), active.begin());
}

EventMode::Announced IsolatedSubsystem::read_interval(std::size_t clock, ClockInterval& interval) {
  line_.call_with(Operation::ReadClockInterval, clock);
  auto announced = Announced::NotYet;
  line_.read(announced, interval);
  if (announced > Announced::Changed) line_.refuse_answer();
  return announced;
}

ClockInterval IsolatedSubsystem::shift(std::size_t clock) {
  line_.call_with(Operation::ReadClockShift, clock);
  ClockInterval shift;
  line_.read(shift);
  return shift;
}

bool IsolatedSubsystem::depends(Port output_kind, std::size_t output, Port input_kind, std::size_t input) const {
  if (!dependencies_) {
    line_.call(Operation::EventDependencies);
    EventDependencies found;
    line_.read(found);
    if (!found.fits(variables_)) line_.refuse_answer();
    dependencies_ = std::move(found);
  }
  return dependencies_->depends(variables_, {output_kind, output}, {input_kind, input});
}

void IsolatedSubsystem::call_at(Operation operation, const Point& at) {
  line_.box().from = at.t;
  std::copy(at.x.begin(), at.x.end(), line_.numbers().x.begin());
  std::copy(at.u.begin(), at.u.end(), line_.numbers().inputs.begin());
  std::copy(at.du.begin(), at.du.end(), line_.numbers().inputs.begin() + std::ssize(variables_.inputs));
  line_.call(operation);
}

void IsolatedSubsystem::state(std::span<double> x) {
  line_.call(Operation::EquationState);
  std::copy_n(line_.numbers().x.begin(), x.size(), x.begin());
}

void IsolatedSubsystem::right_hand_side(const Point& at, std::span<double> dx) {
  call_at(Operation::RightHandSide, at);
  std::copy_n(line_.numbers().result.begin(), dx.size(), dx.begin());
}

void IsolatedSubsystem::outputs(const Point& at, std::span<double> y) {
  call_at(Operation::EquationOutputs, at);
  std::copy_n(line_.numbers().result.begin(), y.size(), y.begin());
}

void IsolatedSubsystem::output_rates(const Point& at, std::span<double> dy) {
  call_at(Operation::OutputRates, at);
  std::copy_n(line_.numbers().result.begin(), dy.size(), dy.begin());
}

Time IsolatedSubsystem::next_discontinuity(Time t) const {
  line_.box().from = t;
  line_.call(Operation::NextDiscontinuity);
  return line_.box().time;
}

std::size_t IsolatedSubsystem::event_indicator_count() const {
  constexpr std::uint64_t kMost = 1 << 24;  // a buffer of that many can be made
  const std::uint64_t count = line_.box().indicators;
  if (count > kMost) line_.refuse_answer();
  return count;
}

void IsolatedSubsystem::event_indicators(const Point& at, std::span<double> values) {
  call_at(Operation::EventIndicators, at);
  std::vector<double> found;
  line_.read(found);
  if (found.size() != values.size()) line_.refuse_answer();
  std::copy(found.begin(), found.end(), values.begin());
}

bool IsolatedSubsystem::handle_event(const Point& at, std::span<double> x) {
  moved();
  call_at(Operation::HandleEvent, at);
  std::copy_n(line_.numbers().x.begin(), x.size(), x.begin());
  return line_.box().flag;
}

bool IsolatedSubsystem::complete_step(const Point& at) {
  call_at(Operation::CompleteStep, at);
  return line_.box().flag;
}

void IsolatedSubsystem::move_to(const Point& at) {
  moved();
  call_at(Operation::MoveTo, at);
}

}  // namespace

std::shared_ptr<WorkerProcess> Workers::of_group(const std::string& group, const Confinement& confinement) {
  if (group.empty()) return std::make_shared<WorkerProcess>(confinement);
  auto& known = groups_[{group, confinement}];
  auto process = known.lock();
  if (!process) known = process = std::make_shared<WorkerProcess>(confinement);
  return process;
}

std::unique_ptr<Subsystem> make_isolated(std::shared_ptr<WorkerProcess> process, const MakeRequest& request,
                                         const Logging& log, std::vector<Problem>& problems) {
  Line::Setup setup{request, caller_of(request.description, log)};
  const auto& restart = request.description.restart;
  const auto& isolate = request.description.isolate;
  const bool alone = !isolate || std::holds_alternative<bool>(isolate->value);
  setup.confinement = process->confinement();
  if (restart && alone) setup.restarts = static_cast<int>(restart->value);
  auto made = process->make(request, setup.caller);
  problems.insert(problems.end(), made.subsystem.problems.begin(), made.subsystem.problems.end());
  if (made.memory == nullptr) return nullptr;
  return std::make_unique<IsolatedSubsystem>(std::move(process), std::move(made), std::move(setup));
}

namespace {

/// "crashed in fmi2SetFMUstate (SIGSEGV: ...)", "did not return from fmi2DoStep within 5 s".
std::string what_it_did(const Fact& fault) {
  const auto limit = fault.number("timeout");
  return fmt::format("{} {}{}{}", fault.text("action"), fault.text("function"), fault.text("cause"),
                     limit ? fmt::format(" within {} s", *limit) : "");
}

}  // namespace

base::ChildOutcome prove_apart(const MakeRequest& request, const Logging& log, const base::Bytes& question) {
  Logging quiet = log;
  quiet.handler = {};  // scratch instances have nothing to say about the run
  const auto process = std::make_shared<WorkerProcess>();
  const Caller caller = caller_of(request.description, quiet);
  const auto made = process->make(request, caller);
  if (made.memory == nullptr) throw Error(made.subsystem.problems);
  Line line(process, made, {request, caller});
  base::ChildOutcome outcome;
  try {
    line.call_with(Operation::Proof, question);
    line.read(outcome.answer);
    outcome.answered = true;
  } catch (const Error& error) {
    outcome.stage = line.box().stage.load();
    const bool by_itself = process->has_reported_end() && error.fact().code == FactCode::CodeFault;
    if (!by_itself || outcome.stage == 0) throw;
    outcome.late = error.fact().text("fault") == base::text_of(base::Fault::Timeout).name;
    outcome.failure = what_it_did(error.fact());
  }
  return outcome;
}

}  // namespace entrain::worker
