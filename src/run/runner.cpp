#include "run/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "base/finally.hpp"
#include "base/grid.hpp"
#include "base/memory_use.hpp"
#include "base/process_state.hpp"
#include "base/values.hpp"
#include "coupling/discrete_signals.hpp"
#include "coupling/engine.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::running {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

Recordable recordable_signals(CoupledSystem& system, const Method& method) {
  std::vector<Subsystem*> subsystems;
  for (std::size_t s = 0; s < system.size(); ++s)
    subsystems.push_back(&system.engine().executor().subsystem(SubsystemId{s}));
  auto own_signals = method.own_signals(system.graph());
  for (auto& signal : bond_signals(system.engine().bonds(), system.graph())) own_signals.push_back(std::move(signal));
  return recordable(subsystems, std::move(own_signals));
}

/// Before the first step nothing is measured: a summary written then must not look as if all inputs were exact.
void forget_residuals(RunSummary& summary) {
  if (!summary.connections.empty()) summary.max_coupling_residual = kUnknown;
  for (auto& connection : summary.connections) connection.max_residual = kUnknown;
}

/// What methods and observers of users throw keeps its own words.
Error error_of(const std::exception& thrown) {
  const auto* known = dynamic_cast<const Error*>(&thrown);
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr)
    return Error(ErrorCode::SubsystemFailed, base::out_of_memory());
  return known == nullptr ? Error(ErrorCode::SubsystemFailed, thrown.what()) : *known;
}

/// What a run has done, of all that a summary contains: the rest is known again when it is prepared.
template <class Visitor>
void visit_progress(Visitor& visit, RunSummary& summary) {
  visit(summary.reached, summary.macro_steps, summary.smallest_step, summary.largest_step, summary.rejected_steps,
        summary.iterations, summary.wall_seconds, summary.changes, summary.scenario);
}

}  // namespace

}  // namespace entrain::running

namespace entrain {

template <class Visitor>
void visit_fields(Visitor& visit, ValueChange& change) {
  visit(change.time, change.name, change.value);
}

template <class Visitor>
void visit_fields(Visitor& visit, ScenarioEffect& effect) {
  visit(effect.time, effect.entry, effect.action, effect.target, effect.value, effect.until, effect.late_by,
        effect.crossed);
}

template <class Visitor>
void visit_fields(Visitor& visit, MethodMemory& memory) {
  visit(memory.step, memory.numbers, memory.bytes);
}

}  // namespace entrain

namespace entrain::running {

Runner::Runner(CoupledSystem& system, Method& method, const RunSettings& settings, RunSummary summary,
               const std::atomic<bool>* interrupt, int threads)
    : system_(system),
      method_(method),
      settings_(settings),
      summary_(std::move(summary)),
      interrupt_(interrupt),
      threads_(threads),
      residual_(system),
      energy_(system),
      recordable_(recordable_signals(system, method)),
      inner_(system, recordable_),
      values_(recordable_.signals.size(), kUnknown),
      states_(system.states(), kUnknown),
      communicated_(system.size(), 1) {}

void Runner::run_until(Time t) {
  proceed(t, Steps::All);
  if (summary_.termination == Termination::Running) refresh_summary();
}

/// The summary is not refreshed, which takes longer than a step of light subsystems.
void Runner::advance() {
  proceed(settings_.stop, Steps::One);
  if (summary_.termination != Termination::Running) return;
  seconds_before_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - resumed_).count();
}

void Runner::proceed(Time t, Steps steps) {
  if (summary_.termination != Termination::NotStarted && summary_.termination != Termination::Running) return;
  resumed_ = std::chrono::steady_clock::now();
  inside_ = true;
  const base::Finally leave([this] { inside_ = false; });
  try {
    const bool begins = summary_.termination == Termination::NotStarted;
    if (begins) begin();
    if (!begins || steps == Steps::All) advance_while_before(std::min(t, settings_.stop), steps);
  } catch (const std::exception& error) {
    fail(error);
    return;
  }
  if (summary_.termination == Termination::Running && summary_.reached >= settings_.stop) {
    finish(Termination::Completed, {});
  }
}

void Runner::abandon(const Error& fault) {
  if (summary_.termination == Termination::Running) fail(fault);
}

/// Also by the user, who had no patience with a call.
void Runner::fail(const std::exception& error) {
  if (const auto* known = dynamic_cast<const Error*>(&error);
      known != nullptr && known->fact().code == FactCode::CallInterrupted) {
    return finish(Termination::Interrupted, error.what());
  }
  summary_.failure = error_of(error);
  const bool by_user = summary_.failure->fact().code == FactCode::EndedAtOnce;
  finish(by_user ? Termination::Interrupted : Termination::Failed, summary_.failure->what());
}

void Runner::begin() {
  initialize();
  if (!observers_.empty()) notify_observers();
}

void Runner::initialize() {
  summary_.termination = Termination::Running;
  summary_.start = summary_.reached = settings_.start;
  summary_.stop = settings_.stop;
  summary_.step = settings_.step;
  forget_residuals(summary_);
  for (auto* observer : observers_) {
    observer->begin(recordable_.signals, summary_);
    needs_.states = needs_.states || observer->needs().states;
    needs_.slopes = needs_.slopes || observer->needs().slopes;
    needs_.differences = needs_.differences || observer->needs().differences;
    needs_.discrete = needs_.discrete || (observer->needs().discrete && recordable_.discrete > 0);
    inner_.ask_for(observer->needs().inner);
  }
  if (needs_.slopes) slopes_.assign(values_.size(), kUnknown);
  if (needs_.differences) {
    differences_.assign(system_.graph().connections().size(), kUnknown);
    residual_.keep_differences();
  }
  system_.engine().initialize(settings_.start, settings_.stop, method_.requirements().start_gains);
  if (needs_.discrete) system_.engine().discrete()->read(true);
  collect_warnings();
  if (corrections_ != nullptr) corrections_->apply(system_, 0);  // a method may ask what kind they are
  method_.start(system_, settings_);
  initialized_ = true;
  base::ProcessState::put_back();  // what the initialization of foreign code has changed
  for (auto& note : method_.notes(system_)) summary_.notes.push_back(std::move(note));
  for (std::size_t loop = 0; loop < system_.graph().loops().size(); ++loop) {
    LoopSummary entry;
    for (const OutputId output : system_.graph().loops()[loop].outputs) {
      entry.variables.push_back(system_.graph().name(output));
    }
    for (const InputId input : system_.graph().loops()[loop].inputs) {
      entry.variables.push_back(system_.graph().name(input));
    }
    entry.initial_residual = system_.engine().loop_residuals()[loop];
    summary_.loops.push_back(std::move(entry));
  }
  residual_.begin(settings_.start);
  energy_.begin(settings_.start);
  drift_.begin(system_, settings_);
  constraints_.begin(system_, settings_);
  if (drift_.acts() || !constraints_.empty()) own_corrections_.assign(system_.graph().inputs(), 0.0);
  for (auto* watcher : watchers_) watcher->begin(system_, settings_);
}

/// What may be asked for in a macro step, and mostly is not.
bool Runner::is_plain() const {
  const auto& engine = system_.engine();
  return control_ == nullptr && !pacer_ && corrections_ == nullptr && engine.events() == nullptr &&
         !engine.has_discrete() && !engine.has_schedule() && engine.scenario() == nullptr && drift_.empty() &&
         constraints_.empty();
}

/// False when the run has ended by it.
bool Runner::waits_for_others() {
  if (control_ != nullptr && control_->waits() && !attend()) return false;
  if (pacer_) pacer_->before_step(summary_.reached);
  return true;
}

void Runner::prepare_step() {
  if (system_.engine().scenario() != nullptr) pass_scenario();
  // Values that were set since then, or a checkpoint of the limit from the left.
  if (system_.engine().events() != nullptr) pass_instant();
  if (corrections_ != nullptr) corrections_->apply(system_, summary_.macro_steps);
  if (!own_corrections_.empty()) correct_inputs();
}

void Runner::follow_step(Time before) {
  follow_corrections();
  if (system_.engine().discrete() != nullptr) exchange_discrete();
  if (system_.engine().apply_schedule(before, summary_.reached)) method_.constants_changed(system_);
}

void Runner::advance_while_before(Time t, Steps steps) {
  // Methods land on the stop time to the last bit; a time in between is the user's, so rounding is forgiven.
  const auto there = [&] { return t < settings_.stop ? base::reached(summary_.reached, t) : summary_.reached >= t; };
  const bool plain = is_plain();
  while (!there()) {
    if (!plain && !waits_for_others()) return;
    if (is_interrupted()) {
      finish(Termination::Interrupted, fmt::format("interrupted at t = {} s", summary_.reached));
      return;
    }
    if (!plain) prepare_step();
    const MacroStepReport report = method_.advance(system_);
    auto stopper = system_.engine().stop_request();
    const Time before = std::exchange(summary_.reached, stopper ? system_.time_of(*stopper) : report.reached);
    if (summary_.reached > before) note_macro_step(summary_.reached - before);
    summary_.iterations += report.iterations;
    summary_.rejected_steps += report.rejected;
    if (!plain) follow_step(before);
    const auto communicated = plain ? method_.communicated() : std::span<const SubsystemId>();
    residual_.update(summary_.reached, communicated);
    energy_.update(summary_.reached, communicated);
    for (auto* watcher : watchers_) watcher->after_step(system_, before, summary_.reached);
    if (!observers_.empty() && summary_.reached > before) notify_observers();
    if (!plain) {
      if (system_.engine().events() != nullptr) pass_instant();
      if (pacer_ && summary_.reached > before) pacer_->after_step(before, summary_.reached);
    }
    if (!stopper) stopper = system_.engine().stop_request();  // in an event
    if (stopper) {
      finish(Termination::Completed,
             fmt::format("ended by '{}' at t = {:.12g} s", system_.graph().name(*stopper), summary_.reached));
      return;
    }
    if (steps == Steps::One) return;
  }
}

void Runner::follow_corrections() {
  if (auto* scenario = system_.engine().scenario()) scenario->follow(summary_.reached);
  drift_.update(system_, summary_.reached);
  if (!constraints_.empty()) constraints_.measure(system_);
}

/// What the run itself adds to inputs in the macro step that follows.
void Runner::correct_inputs() {
  if (!constraints_.empty()) {
    constraints_.solve(system_, summary_.reached);
    method_.constants_changed(system_);  // a force is held over the step
  }
  deliver_corrections();
}

void Runner::deliver_corrections() {
  std::fill(own_corrections_.begin(), own_corrections_.end(), 0.0);
  if (drift_.acts()) drift_.add_to(own_corrections_);
  constraints_.add_to(own_corrections_);
  system_.engine().store().set_run_corrections(own_corrections_);
}

/// False when the run has ended by it.
bool Runner::attend() {
  const std::int64_t began = pacer_ ? pacer_->now() : 0;
  const auto outcome = control_->attend();
  if (outcome == ControlHook::Outcome::Stop) {
    finish(Termination::Interrupted, fmt::format("stopped from outside at t = {} s", summary_.reached));
    return false;
  }
  if (outcome == ControlHook::Outcome::GoOnAfterPause && pacer_) pacer_->shift(pacer_->now() - began);
  return true;
}

/// Events of all subsystems at the time reached. What was recorded is the limit from the left; that from the right
/// follows with the same time.
void Runner::pass_instant() {
  coupling::EventPhase& events = *system_.engine().events();
  if (!events.is_due(summary_.reached)) return;
  events.run(summary_.reached);
  if (needs_.discrete) system_.engine().discrete()->read(true);
  method_.instant_passed(system_, summary_.reached);
  residual_.forget_differences();
  if (!observers_.empty()) notify_observers();
}

/// What the scenario changes at the time reached, likewise.
void Runner::pass_scenario() {
  coupling::Scenario& scenario = *system_.engine().scenario();
  if (scenario.is_due(summary_.reached)) {
    scenario.run(summary_.reached, summary_.scenario);
    method_.instant_passed(system_, summary_.reached);
    residual_.forget_differences();
    if (!observers_.empty()) notify_observers();
  }
  scenario.look(summary_.reached);
}

/// Entries that came too late, or not at all.
void Runner::note_scenario() {
  const coupling::Scenario* scenario = system_.engine().scenario();
  if (scenario == nullptr) return;
  for (const auto& effect : summary_.scenario) {
    if (!effect.late_by) continue;
    summary_.warnings.push_back(
        {FactCode::ScenarioLate,
         {effect.target},
         {{"action", effect.action}, {"time", effect.time - *effect.late_by, "s"}, {"late", *effect.late_by, "s"}}});
  }
  for (const auto* entry : scenario->never_true()) {
    summary_.notes.push_back({FactCode::ScenarioNeverTrue, {entry->target}, {{"action", to_word(entry->action)}}});
  }
}

bool Runner::is_interrupted() const {
  return stop_.stop_requested() || (interrupt_ != nullptr && interrupt_->load(std::memory_order_relaxed));
}

void Runner::note_change(ValueChange change) {
  change.time = summary_.reached;
  summary_.changes.push_back(std::move(change));
  method_.constants_changed(system_);
}

void Runner::note(Fact fact) {
  (kind_of(fact.code) == FactKind::Note ? summary_.notes : summary_.warnings).push_back(std::move(fact));
}

void Runner::note_macro_step(Duration size) {
  const bool first = summary_.macro_steps++ == 0;
  summary_.smallest_step = first ? size : std::min(summary_.smallest_step, size);
  summary_.largest_step = std::max(summary_.largest_step, size);
}

void Runner::exchange_discrete() {
  if (system_.engine().exchange_discrete(summary_.reached, needs_.discrete)) method_.constants_changed(system_);
}

void Runner::fill_sample_values() {
  const auto outputs = system_.outputs();
  const auto inputs = system_.inputs();
  auto next = std::copy(outputs.begin(), outputs.end(), values_.begin());
  next = std::copy(inputs.begin(), inputs.end(), next);
  const auto own = std::span(values_).last(recordable_.own_signals);
  const std::size_t of_bonds = 2 * system_.engine().bonds().size();
  method_.own_values(own.first(own.size() - of_bonds));
  energy_.values(own.last(of_bonds));
  if (needs_.discrete) {
    const auto discrete = system_.engine().discrete()->values();
    std::transform(discrete.begin(), discrete.end(), next + std::ssize(recordable_.states), base::number_of);
  }
  inner_.read(values_);
  if (!needs_.states) return;
  system_.read_states(states_);
  for (const std::size_t index : recordable_.states) *next++ = states_[index];
}

void Runner::fill_slopes() {
  system_.read_output_slopes(std::span(slopes_).first(system_.graph().outputs()));
  if (!needs_.states) return;
  system_.read_state_derivatives(states_);
  auto next = slopes_.begin() + static_cast<std::ptrdiff_t>(system_.graph().outputs() + system_.graph().inputs());
  for (const std::size_t index : recordable_.states) *next++ = states_[index];
}

Sample Runner::sample() {
  fill_sample_values();
  if (needs_.slopes) fill_slopes();
  if (system_.all_at(summary_.reached)) {
    std::fill(communicated_.begin(), communicated_.end(), 1);
  } else {
    for (std::size_t s = 0; s < system_.size(); ++s) {
      communicated_[s] = system_.time_of(SubsystemId{s}) == summary_.reached ? 1 : 0;
    }
  }
  if (needs_.differences) residual_.read_differences(summary_.reached, differences_);
  const auto discrete = needs_.discrete ? system_.engine().discrete()->values() : std::span<const Value>();
  if (auto* events = system_.engine().events()) frames_ = events->take_frames();
  frame_count_ += frames_.size();
  return {summary_.reached, values_, slopes_, communicated_, differences_, inner_.all_discrete(discrete), frames_};
}

void Runner::notify_observers() {
  const Sample now = sample();
  for (auto* observer : observers_) observer->communicated(now, summary_);
}

double Runner::value(std::size_t signal) {
  const auto asked = needs_;
  needs_.states = true;
  needs_.discrete = recordable_.discrete > 0;
  if (needs_.discrete) system_.engine().discrete()->read(true);
  fill_sample_values();
  needs_ = asked;
  InnerReader once(system_, recordable_);
  once.ask_for(std::span(&signal, 1));
  once.read(values_);
  return values_[signal];
}

void Runner::read(std::span<const std::size_t> signals, std::span<double> values) {
  const auto asked = needs_;
  for (const auto signal : signals) {
    needs_.states = needs_.states || recordable_.signals[signal].causality == Causality::State;
    needs_.discrete = needs_.discrete || recordable_.signals[signal].discrete.has_value();
  }
  if (needs_.discrete && system_.engine().discrete() != nullptr) system_.engine().discrete()->read(true);
  fill_sample_values();
  needs_ = asked;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    const auto causality = recordable_.signals[signals[i]].causality;
    const bool inner = causality == Causality::Local || causality == Causality::Parameter;
    values[i] = inner ? kUnknown : values_[signals[i]];
  }
}

void Runner::refresh_summary() {
  seconds_before_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - resumed_).count();
  resumed_ = std::chrono::steady_clock::now();
  summary_.wall_seconds = seconds_before_;
  refresh_residuals();
  summary_.bonds = energy_.summary();
  summary_.linearizations = 0;
  for (std::size_t s = 0; s < system_.size(); ++s) {
    const auto& counters = system_.counters(SubsystemId{s});
    auto& entry = summary_.subsystems[s];
    entry.steps = counters.steps;
    entry.rollbacks = counters.rollbacks;
    entry.trials = counters.trials;
    summary_.linearizations += counters.linearizations;
    entry.seconds = counters.seconds();
    entry.own_steps = method_.own_steps(SubsystemId{s});
    if (Remote* remote = system_.facets(SubsystemId{s}).remote) entry.datagrams = remote->datagrams();
  }
  if (pacer_) summary_.pacing = pacer_->summary();
  limit_seconds();
}

/// Few steps are timed, so that one in which another program had the processor counts as many. Together the subsystems
/// took no more time than there was.
void Runner::limit_seconds() {
  double sum = 0.0;
  for (const auto& subsystem : summary_.subsystems) sum += subsystem.seconds;
  const double most = summary_.wall_seconds * threads_;
  if (sum <= most) return;
  for (auto& subsystem : summary_.subsystems) subsystem.seconds *= most / sum;
}

void Runner::refresh_residuals() {
  const auto& connections = system_.graph().connections();
  bool measured = connections.empty();
  residual_.look_back();
  summary_.max_coupling_residual = 0.0;
  summary_.worst_connection.clear();
  for (std::size_t c = 0; c < summary_.connections.size(); ++c) {
    auto& entry = summary_.connections[c];
    entry.max_residual = residual_.of(connections[c]);
    entry.range = residual_.range(connections[c]);
    measured = measured || !std::isnan(entry.max_residual);
    if (!(entry.max_residual > summary_.max_coupling_residual)) continue;
    summary_.max_coupling_residual = entry.max_residual;
    summary_.worst_connection = entry.name;
  }
  if (!measured) summary_.max_coupling_residual = kUnknown;
}

/// Instances of one FMU report the same; once is enough.
void Runner::collect_warnings() {
  const auto add = [this](Fact warning) {
    const auto& known = summary_.warnings;
    if (std::find(known.begin(), known.end(), warning) == known.end()) summary_.warnings.push_back(std::move(warning));
  };
  for (std::size_t s = 0; s < system_.size(); ++s) {
    for (auto& warning : system_.engine().subsystem(SubsystemId{s}).warnings()) add(std::move(warning));
  }
  if (const auto* events = system_.engine().events()) {
    for (auto& warning : events->warnings()) add(std::move(warning));
  }
  const auto* discrete = system_.engine().discrete();
  if (discrete == nullptr || discrete->unsettled().empty()) return;
  const auto& unsettled = discrete->unsettled();
  add({FactCode::DiscreteValuesUnsettled, {unsettled.begin(), unsettled.end()}, {{"rounds", system_.size() + 1}}});
}

void Runner::finish(Termination termination, std::string message) {
  if (termination == Termination::Completed) base::ProcessState::put_back();  // else perhaps from another thread
  refresh_summary();
  if (!summary_.failure) collect_warnings();
  summary_.termination = termination;
  summary_.message = std::move(message);
  for (auto& note : method_.closing_notes(system_)) summary_.notes.push_back(std::move(note));
  for (auto& warning : method_.warnings(system_)) summary_.warnings.push_back(std::move(warning));
  for (std::size_t s = 0; s < system_.size(); ++s) {
    if (const auto early = system_.counters(SubsystemId{s}).early_returns; early > 0) {
      summary_.notes.push_back({FactCode::ReturnedEarly, {summary_.subsystems[s].name}, {{"times", early}}});
    }
  }
  for (auto& note : drift_.notes(system_.graph())) summary_.notes.push_back(std::move(note));
  for (auto& note : constraints_.notes()) summary_.notes.push_back(std::move(note));
  note_real_time();
  note_scenario();
  if (corrections_ != nullptr && corrections_->faded()) {
    const auto& faded = *corrections_->faded();
    const Time time = settings_.start + static_cast<double>(faded.step) * settings_.step;
    summary_.warnings.push_back({FactCode::CorrectionFaded,
                                 {system_.graph().name(faded.output)},
                                 {{"time", time, "s"}, {"distance", faded.distance}, {"allowed", faded.allowed}}});
  }
  if (frame_count_ > 0) summary_.notes.push_back({FactCode::FramesRecorded, {}, {{"count", frame_count_}}});
  for (auto* watcher : watchers_) watcher->end(summary_);
  for (auto* observer : observers_) {
    try {
      observer->end(summary_);
    } catch (const std::exception& error) {  // a full disk at the very end is a failure like any other
      if (summary_.termination == Termination::Completed) {
        summary_.termination = Termination::Failed;
        summary_.message = error.what();
        summary_.failure = error_of(error);
      }
    }
  }
}

/// How the pace was kept, and what passed to and from parts outside.
void Runner::note_real_time() {
  if (pacer_) {
    pacer_->end();
    if (auto granted = pacer_->granted_priority()) summary_.notes.push_back(std::move(*granted));
    const PacingSummary& pacing = *summary_.pacing;
    if (pacing.missed > 0) {
      Fact fact{FactCode::DeadlinesMissed,
                {},
                {{"missed", pacing.missed},
                 {"steps", pacing.steps},
                 {"worst", pacing.worst_overrun, "s"},
                 {"time", pacing.worst_time, "s"}}};
      if (pacing.skipped_periods > 0) fact.values.emplace_back("skipped", pacing.skipped_periods);
      summary_.warnings.push_back(std::move(fact));
    }
  }
  bool outside = false;
  for (const auto& subsystem : summary_.subsystems) outside = outside || subsystem.datagrams;
  if (pacer_ || outside) {
    for (auto& warning : energy_.warnings()) summary_.warnings.push_back(std::move(warning));
  }
  for (const auto& subsystem : summary_.subsystems) {
    if (!subsystem.datagrams) continue;
    const DatagramCounters& of = *subsystem.datagrams;
    summary_.notes.push_back(
        {FactCode::RigDatagrams, {subsystem.name}, {{"sent", of.sent}, {"received", of.received}}});
    if (of.held + of.lost + of.late + of.doubled + of.reordered + of.invalid + of.foreign == 0) continue;
    summary_.warnings.push_back({FactCode::RigDisturbed,
                                 {subsystem.name},
                                 {{"held", of.held},
                                  {"steps", subsystem.steps},
                                  {"lost", of.lost},
                                  {"late", of.late},
                                  {"doubled", of.doubled},
                                  {"reordered", of.reordered},
                                  {"invalid", of.invalid},
                                  {"foreign", of.foreign}}});
  }
}

Runner::Position Runner::position() {
  return {system_.save(), method_.memory(), residual_, energy_, drift_.memory(), constraints_.memory(), summary_};
}

base::Bytes Runner::save() {
  const auto saved = system_.save();
  const base::Finally release([&] { system_.release(saved); });
  std::vector<base::Bytes> observers;
  for (const auto* observer : observers_) observers.push_back(observer->memory());
  refresh_summary();
  base::ByteWriter write;
  write(system_.engine().serialize(saved), method_.memory(), residual_, energy_, drift_.memory(), constraints_.memory(),
        observers);
  visit_progress(write, summary_);
  return write.take();
}

void Runner::resume(std::span<const std::byte> bytes, ResumedFrom from, const std::function<void()>& set_values) {
  resumed_ = std::chrono::steady_clock::now();
  inside_ = true;
  const base::Finally leave([this] { inside_ = false; });
  try {
    summary_.resumed_from = std::move(from);
    initialize();
    set_values();
    base::Bytes system;
    MethodMemory method;
    std::vector<base::Bytes> observers;
    base::ByteReader read(bytes);
    DriftMonitor::Memory drift;
    ConstraintForces::Memory constraints;
    read(system, method, residual_, energy_, drift, constraints, observers);
    visit_progress(read, summary_);
    residual_.forget_differences();
    system_.engine().resume(system);
    method_.restore(method);
    drift_.restore(drift);
    constraints_.restore(constraints);
    if (!own_corrections_.empty()) deliver_corrections();
    seconds_before_ = summary_.wall_seconds;
    if (pacer_) pacer_->restart();
    observers.resize(observers_.size());
    const Sample now = sample();
    for (std::size_t i = 0; i < observers_.size(); ++i) observers_[i]->resume(now, summary_, observers[i]);
  } catch (const std::exception& error) {
    fail(error);
  }
}

void Runner::restore(const Position& position) {
  system_.restore(position.system);
  method_.restore(position.method);
  residual_ = position.residual;
  residual_.forget_differences();
  energy_ = position.energy;
  drift_.restore(position.drift);
  constraints_.restore(position.constraints);
  if (!own_corrections_.empty()) deliver_corrections();
  summary_ = position.summary;
  if (pacer_) pacer_->restart();
}

}  // namespace entrain::running
