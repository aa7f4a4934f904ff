#include "subsystem/fmi/fmu_subsystem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/grid.hpp"
#include "entrain/error.hpp"
#include "subsystem/fmi/event_iteration.hpp"
#include "subsystem/fmi/fmu.hpp"
#include "subsystem/fmi/input_derivatives.hpp"

namespace entrain {
namespace {

constexpr int kMostEventsInPlace = 100;
constexpr int kMostHalvings = 20;  // a millionth of the step

class FmuSubsystem final : public Subsystem,
                           private Rollback,
                           private States,
                           private Linearizer,
                           private OutputDerivatives,
                           private Events,
                           private Reset {
 public:
  FmuSubsystem(std::string name, std::shared_ptr<Fmu> fmu, std::optional<Duration> timeout);
  ~FmuSubsystem() override;

  std::string_view name() const noexcept override { return name_; }
  const VariableTable& variables() const noexcept override { return ports_.table; }
  const Capabilities& capabilities() const override;
  Facets facets() noexcept override;
  std::vector<std::string> warnings() const override;

  void set_start(VariableTable::Place place, const Value& value) override;
  void initialize(Time start, Time stop) override;
  void evaluate(std::span<const double> inputs, std::span<double> outputs) override;
  StepReport step(const Step& step, std::span<double> outputs) override;

 private:
  enum class Phase { Created, Initializing, Stepping, Failed };

  /// What the inputs did in the last step: with the state of the FMU, all that the facets depend on.
  struct End {
    Time time = 0.0;
    Duration size = 0.0;
    int degree = 0;
    bool told = true;  ///< the FMU has the inputs as they ended
    std::vector<double> coefficients;
    Time next_event = kNever;  ///< announced
  };
  struct Saved {
    FmuInstance::State state = nullptr;
    End end;
  };

  StateId save() override;
  void restore(StateId id) override;
  void release(StateId id) override { free_.push_back(id); }
  void states(std::span<double> x) override;
  void derivatives(std::span<double> dx) override;
  void linearize(Linearization& result) override;
  void output_derivatives(std::span<double> dy) override;
  Time next_event(Time t) override;
  void reset() override;

  const FmuAbilities& proven() const;
  void require(const FmuResult& result);
  void note_warning(const FmuResult& result, Time t);
  void leave_initialization();
  void keep_end(const InputBlock& inputs, Duration size);
  void tell_inputs_at_end();
  StepReport unusual(const Step& step, const FmuStepResult& result, std::span<double> outputs);
  void handle_event(std::span<double> outputs);
  StepReport discarded(const Step& step, const FmuStepResult& result, std::span<double> outputs);
  [[noreturn]] void throw_endless_events();
  ErrorContext context() const { return {.subsystem = name_, .variable = {}, .time = end_.time, .remedy = {}}; }
  void free_saved();

  std::string name_;
  std::shared_ptr<Fmu> fmu_;
  std::shared_ptr<const std::string> claim_;
  const FmuPorts& ports_;
  const bool by_intermediate_update_;  ///< how polynomial inputs are told; else by their derivatives
  std::vector<FmuStart> starts_;
  mutable std::optional<Capabilities> capabilities_;
  mutable const FmuAbilities* proven_ = nullptr;  ///< once capabilities_ is known

  FmuLog log_;
  std::unique_ptr<FmuInstance> instance_;
  Phase phase_ = Phase::Created;
  Time stop_ = kNever;
  bool stop_requested_ = false;  ///< by an event, to be told with the next step
  int events_in_place_ = 0;      ///< since the last one that advanced
  int halvings_ = 0;             ///< of a step that was discarded
  FmuStepCall call_;
  End end_;
  InputDerivatives derivatives_;
  std::vector<double> end_slopes_;
  std::vector<int> first_orders_;
  std::vector<double> dx_;
  FmuLinearizer linearizer_;
  Linearization here_;

  std::vector<Saved> saved_;
  std::vector<StateId> free_;
  std::uint64_t warnings_returned_ = 0;
  std::string first_warning_;
};

FmuSubsystem::FmuSubsystem(std::string name, std::shared_ptr<Fmu> fmu, std::optional<Duration> timeout)
    : name_(std::move(name)),
      fmu_(std::move(fmu)),
      claim_(fmu_->claim(name_)),
      ports_(fmu_->ports()),
      by_intermediate_update_(fmu_->description().version == FmiVersion::Three),
      log_(fmu_->name(), {name_, timeout}),
      end_slopes_(ports_.inputs.size()),
      first_orders_(ports_.outputs.size(), 1),
      dx_(ports_.states.size()),
      linearizer_(ports_) {
  call_.inputs = ports_.inputs;
  call_.outputs = ports_.outputs;
}

FmuSubsystem::~FmuSubsystem() {
  free_saved();
}

const Capabilities& FmuSubsystem::capabilities() const {
  if (capabilities_) return *capabilities_;
  const FmuAbilities& abilities = proven();
  Capabilities can;
  can.rollback = abilities.rollback;
  can.input_degree = abilities.input_degree;
  can.states = abilities.states;
  can.state_derivatives = abilities.states;
  const bool linearizes = abilities.linearization != LinearizationSource::None;
  can.linearization = linearizes;
  can.output_derivative_order = abilities.output_derivatives || linearizes ? 1 : 0;
  can.reset = abilities.reset;
  can.announces_events = abilities.event_mode;
  can.imposed_step = abilities.imposed_step;
  can.internal_step = abilities.internal_step;
  can.feedthrough = ports_.feedthrough;
  proven_ = &abilities;
  capabilities_ = std::move(can);
  return *capabilities_;
}

/// Proven on a scratch instance; what goes wrong there is told as ours.
const FmuAbilities& FmuSubsystem::proven() const {
  try {
    return fmu_->abilities(starts_, {name_, log_.code().owner().timeout});
  } catch (const Error& error) {
    ErrorContext context = error.context();
    context.subsystem = name_;
    throw Error(error.code(), error.message(), context);
  }
}

Facets FmuSubsystem::facets() noexcept {
  if (!capabilities_) return {};  // nothing is promised before capabilities() was asked
  const Capabilities& can = *capabilities_;
  Facets facets;
  if (can.rollback) facets.rollback = this;
  if (can.states) facets.states = this;
  if (can.linearization) facets.linearizer = this;
  if (can.output_derivative_order > 0) facets.output_derivatives = this;
  if (can.announces_events) facets.events = this;
  if (can.reset) facets.reset = this;
  return facets;
}

std::vector<std::string> FmuSubsystem::warnings() const {
  std::vector<std::string> all = ports_.warnings;
  const auto& withdrawn = proven().warnings;
  all.insert(all.end(), withdrawn.begin(), withdrawn.end());
  if (warnings_returned_ > 0) {
    all.push_back(fmt::format("'{}' returned a warning {} times, first {}", name_, warnings_returned_, first_warning_));
  }
  return all;
}

void FmuSubsystem::set_start(VariableTable::Place place, const Value& value) {
  assert(place.causality != Causality::Output);
  const std::size_t variable = ports_.variable_of(place);
  const auto known =
      std::find_if(starts_.begin(), starts_.end(), [&](const FmuStart& start) { return start.variable == variable; });
  if (known != starts_.end()) {
    known->value = value;
  } else {
    starts_.push_back({variable, value});
  }
}

void FmuSubsystem::require(const FmuResult& result) {
  if (result.status == FmuStatus::Warning) note_warning(result, end_.time);
  if (result.done()) return;
  phase_ = Phase::Failed;
  require_done(result, log_, context());
}

void FmuSubsystem::note_warning(const FmuResult& result, Time t) {
  if (warnings_returned_++ > 0) return;
  first_warning_ = fmt::format("from {} at t = {} s{}", result.function, t, log_.take_text());
}

void FmuSubsystem::initialize(Time start, Time stop) {
  const int degree = capabilities().input_degree;
  const std::size_t count = ports_.inputs.size();
  derivatives_.start(ports_.inputs, degree);
  end_ = {start, 0.0, 0, true, std::vector<double>(count * static_cast<std::size_t>(degree + 1)), kNever};
  stop_requested_ = false;
  call_.derivative_inputs = {};
  stop_ = stop;
  call_.may_go_back = false;
  if (!instance_) instance_ = fmu_->instantiate(name_, proven_->event_mode, log_);
  phase_ = Phase::Failed;
  begin_initialization(*instance_, fmu_->description(), starts_, start, stop, log_, name_);
  phase_ = Phase::Initializing;
}

void FmuSubsystem::leave_initialization() {
  phase_ = Phase::Failed;
  const EventOutcome begun = begin_stepping(*instance_, proven_->event_mode, log_, context());
  phase_ = Phase::Stepping;
  end_.next_event = begun.next_event;
  stop_requested_ = begun.terminate;
}

void FmuSubsystem::evaluate(std::span<const double> inputs, std::span<double> outputs) {
  end_.degree = 0;
  if (!inputs.empty()) require(instance_->set_reals(ports_.inputs, inputs.data()));
  if (!outputs.empty()) require(instance_->get_reals(ports_.outputs, outputs.data()));
}

StepReport FmuSubsystem::step(const Step& step, std::span<double> outputs) {
  if (phase_ == Phase::Initializing) leave_initialization();
  call_.from = step.from;
  call_.size = step.size;
  // An FMU refuses to pass the stop time, be it by a rounding; at an event that it announced it must be stopped.
  const Time latest = std::min(stop_, end_.next_event);
  if (step.from + step.size > latest && latest > step.from) call_.size = latest - step.from;
  call_.input_values = step.inputs.order(0).data();
  const int degree = ports_.inputs.empty() ? 0 : step.inputs.degree();
  if (by_intermediate_update_) {
    call_.polynomials = degree > 0 ? &step.inputs : nullptr;
  } else if (degree > 0 || !call_.derivative_inputs.empty()) {
    derivatives_.add_to(call_, step.inputs);
  }
  const FmuStepResult result = instance_->step(call_, outputs.data());
  end_.time = result.reached;
  end_.degree = 0;
  if (degree > 0) keep_end(step.inputs, result.reached - step.from);
  const bool usual = result.result.status == FmuStatus::Ok && !result.terminated && !result.event && !stop_requested_;
  if (usual && result.reached == call_.from + call_.size && result.reached < end_.next_event) {
    return {result.reached};
  }
  return unusual(step, result, outputs);
}

StepReport FmuSubsystem::unusual(const Step& step, const FmuStepResult& result, std::span<double> outputs) {
  const FmuStatus status = result.result.status;
  const Time from = step.from;
  if (status >= FmuStatus::Error) {
    phase_ = Phase::Failed;
    require_done(result.result, log_, {.subsystem = name_, .variable = {}, .time = from, .remedy = {}});
  }
  if (status == FmuStatus::Warning) note_warning(result.result, from);
  StepReport report{result.reached, StepOutcome::Completed, result.terminated};
  if (status == FmuStatus::Discard) return discarded(step, result, outputs);
  const bool moved = result.reached > from && !same_time(result.reached, from);
  const bool at_event = result.event || reached(result.reached, end_.next_event);
  if (at_event && !report.stop_requested) handle_event(outputs);
  report.stop_requested = report.stop_requested || stop_requested_;
  if (!moved && at_event && !report.stop_requested) {  // an event where the step began: now it can be made
    if (++events_in_place_ > kMostEventsInPlace) throw_endless_events();
    return this->step(step, outputs);
  }
  events_in_place_ = 0;
  const Time end = std::min(from + step.size, std::max(stop_, from));
  if (!moved) {
    report.outcome = StepOutcome::Rejected;
  } else if (!reached(result.reached, end)) {
    report.outcome = StepOutcome::EndedEarly;
  } else {
    report.reached = end_.time = end;
  }
  return report;
}

/// FMI 2 allows no further step after a discarded one, only going back. In FMI 3 the FMU is where it was before and may
/// be asked for a shorter step.
StepReport FmuSubsystem::discarded(const Step& step, const FmuStepResult& result, std::span<double> outputs) {
  if (fmu_->description().version == FmiVersion::Two) {
    const bool ended = result.terminated && result.reached > step.from;
    return {result.reached, ended ? StepOutcome::EndedEarly : StepOutcome::Rejected, result.terminated};
  }
  if (!fmu_->flags().variable_step || halvings_ == kMostHalvings) {
    halvings_ = 0;
    return {step.from, StepOutcome::Rejected, result.terminated};
  }
  ++halvings_;
  StepReport report = this->step({step.from, 0.5 * step.size, step.inputs}, outputs);
  if (report.outcome == StepOutcome::Completed) report.outcome = StepOutcome::EndedEarly;
  halvings_ = 0;
  return report;
}

/// What the outputs were before the event is not asked for: signals have one value per time.
void FmuSubsystem::handle_event(std::span<double> outputs) {
  require(instance_->enter_event_mode());
  phase_ = Phase::Failed;
  const EventOutcome settled = settle_discrete_states(*instance_, log_, context());
  phase_ = Phase::Stepping;
  end_.next_event = settled.next_event;
  stop_requested_ = stop_requested_ || settled.terminate;
  require(instance_->enter_step_mode());
  if (!outputs.empty()) require(instance_->get_reals(ports_.outputs, outputs.data()));
}

void FmuSubsystem::throw_endless_events() {
  phase_ = Phase::Failed;
  ErrorContext where = context();
  where.remedy = "The fault is in this FMU: it reports an event again and again without advancing";
  throw Error(ErrorCode::SubsystemFailed,
              fmt::format("{} events at the same time{}", kMostEventsInPlace, log_.take_text()), where);
}

void FmuSubsystem::keep_end(const InputBlock& inputs, Duration size) {
  end_.size = size;
  end_.degree = inputs.degree();
  end_.told = false;
  const double* from = inputs.order(0).data();
  std::copy(from, from + inputs.count() * static_cast<std::size_t>(inputs.degree() + 1), end_.coefficients.begin());
}

/// The standard leaves open whether an FMU that was given derivatives holds, after the step, the inputs of its start or
/// of its end. What follows (derivatives, linearization) must belong to the end.
void FmuSubsystem::tell_inputs_at_end() {
  if (phase_ == Phase::Initializing) leave_initialization();
  if (end_.degree == 0) {
    std::fill(end_slopes_.begin(), end_slopes_.end(), 0.0);
    return;
  }
  const InputBlock inputs(end_.coefficients.data(), ports_.inputs.size(), end_.degree);
  for (std::size_t i = 0; i < inputs.count(); ++i) end_slopes_[i] = inputs.slope(i, end_.size);
  // In FMI 3 the FMU has asked; nothing may be read after an input was set in step mode.
  if (by_intermediate_update_ || std::exchange(end_.told, true)) return;
  require(derivatives_.tell(*instance_, inputs, end_.size));
}

StateId FmuSubsystem::save() {
  if (phase_ == Phase::Initializing) leave_initialization();
  call_.may_go_back = true;
  if (free_.empty()) {
    saved_.emplace_back();
    free_.reserve(saved_.size());  // so that release never allocates
    free_.push_back(static_cast<StateId>(saved_.size() - 1));
  }
  const StateId id = free_.back();
  free_.pop_back();
  Saved& saved = saved_[static_cast<std::size_t>(id)];
  require(instance_->get_state(saved.state));
  saved.end = end_;
  return id;
}

void FmuSubsystem::restore(StateId id) {
  const Saved& saved = saved_[static_cast<std::size_t>(id)];
  require(instance_->set_state(saved.state));
  end_ = saved.end;
}

void FmuSubsystem::free_saved() {
  for (auto& saved : saved_) {
    if (phase_ == Phase::Failed || !log_.code().usable() || saved.state == nullptr) continue;
    try {
      const FmuResult freed = instance_->free_state(saved.state);
      if (freed.status >= FmuStatus::Error) phase_ = Phase::Failed;
    } catch (const Error&) {  // the function is not in the library: nothing can be freed
      break;
    }
  }
  saved_.clear();
  free_.clear();
}

void FmuSubsystem::states(std::span<double> x) {
  if (phase_ == Phase::Initializing) leave_initialization();
  if (!x.empty()) require(instance_->get_reals(ports_.states, x.data()));
}

void FmuSubsystem::derivatives(std::span<double> dx) {
  tell_inputs_at_end();
  if (!dx.empty()) require(instance_->get_reals(ports_.derivatives, dx.data()));
}

void FmuSubsystem::linearize(Linearization& result) {
  tell_inputs_at_end();
  require(linearizer_.linearize(*instance_, proven_->linearization, result));
}

/// From the FMU, else along the motion: C f + D u'.
void FmuSubsystem::output_derivatives(std::span<double> dy) {
  if (dy.empty()) return;
  tell_inputs_at_end();
  if (proven_->output_derivatives) {
    require(instance_->get_output_derivatives(ports_.outputs, first_orders_.data(), dy.data()));
    return;
  }
  linearize(here_);
  derivatives(dx_);
  for (std::size_t i = 0; i < dy.size(); ++i) {
    dy[i] = 0.0;
    for (std::size_t j = 0; j < dx_.size(); ++j) dy[i] += here_.C(i, j) * dx_[j];
    for (std::size_t j = 0; j < end_slopes_.size(); ++j) dy[i] += here_.D(i, j) * end_slopes_[j];
  }
}

Time FmuSubsystem::next_event(Time t) {
  if (phase_ == Phase::Initializing) leave_initialization();
  return entrain::reached(t, end_.next_event) ? kNever : end_.next_event;
}

void FmuSubsystem::reset() {
  free_saved();
  if (!instance_) return;
  require(instance_->reset());
  phase_ = Phase::Created;
}

}  // namespace

std::unique_ptr<Subsystem> make_fmu_subsystem(std::string name, const std::filesystem::path& file,
                                              std::optional<Duration> timeout) {
  return std::make_unique<FmuSubsystem>(std::move(name), Fmu::open(file), timeout);
}

std::shared_ptr<Fmu> hold_fmu(const std::filesystem::path& file) {
  return Fmu::open(file);
}

std::string fmu_title(const std::filesystem::path& file) {
  return Fmu::open(file)->title();
}

DefaultExperiment fmu_experiment(const std::filesystem::path& file) {
  return Fmu::open(file)->description().experiment;
}

}  // namespace entrain
