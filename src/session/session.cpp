#include "session/session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "base/looking.hpp"
#include "base/suggest.hpp"
#include "base/values.hpp"
#include "coupling/engine.hpp"
#include "description/system_file.hpp"
#include "entrain/entrain.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/learning.hpp"
#include "entrain/ranks.hpp"
#include "entrain/system.hpp"
#include "ranks/rank_link.hpp"
#include "session/learned.hpp"

namespace entrain::session {

namespace {

Fact correction_note(const CorrectionSummary& correction) {
  return {FactCode::CorrectionUsed,
          correction.inputs,
          {{"file", correction.file.empty() ? "a learned correction" : correction.file}, {"error", correction.error}}};
}

}  // namespace

}  // namespace entrain::session

namespace entrain {

std::string_view version() noexcept {
  return ENTRAIN_VERSION;
}

}  // namespace entrain

namespace entrain::session {

Session::Session(SystemDescription description, RunOptions options, const Extensions& extensions,
                 std::vector<Fact> choice)
    : description_(std::move(description)),
      extensions_(extensions),
      options_(std::move(options)),
      choice_(std::move(choice)) {
  if (options_.learned != nullptr) learned_ = *options_.learned;
  make();
}

const SystemIdentity& Session::known_identity() {
  if (!identity_) identity_ = identity_of(description_, extensions_, learned_ ? &*learned_ : nullptr);
  return *identity_;
}

/// Everything from the description, as the first time.
void Session::make() {
  std::vector<Problem> problems;
  Logging log = options_.log;
  log.interrupted = [flag = options_.interrupt, stop = options_.stop, ranks = options_.ranks] {
    if (ranks != nullptr && ranks->link().is_interrupted_here()) return true;
    return stop.stop_requested() || (flag != nullptr && flag->load(std::memory_order_relaxed));
  };
  log.long_call = [longest = longest_](const Fact& call) { longest->keep(call); };
  const bool everything = options_.tries_everything || options_.learned != nullptr || learned_;
  Prepared made =
      prepare(description_, std::max(1, options_.threads), extensions_, problems, log, everything, options_.ranks);
  if (!made.system || has_errors(problems)) throw Error(std::move(problems));  // an earlier one stays as it is
  forget_checkpoints();
  runner_.reset();
  changes_.reset();
  prepared_ = std::move(made);
  for (const auto& problem : problems) {
    const bool note = kind_of(problem.fact.code) == FactKind::Note;
    (note ? prepared_.summary.notes : prepared_.summary.warnings).push_back(fact_of(problem));
  }
  for (const auto& fact : choice_) prepared_.summary.notes.push_back(fact);
  if (learned_) {
    corrections_ = scheduled(*learned_, description_, *prepared_.system, prepared_.settings);
    if (auto guard = guard_of(*learned_, *prepared_.system, options_.real_time.has_value())) {
      corrections_->set_guard(std::move(*guard));
    }
    prepared_.summary.correction = {learned_->file, learned_->inputs, learned_->error};
    prepared_.summary.notes.push_back(correction_note(*prepared_.summary.correction));
  }
  changes_.emplace(*prepared_.system, [this](SubsystemId s, std::size_t parameter) { return start_of(s, parameter); });
  make_runner();
}

void Session::make_runner() {
  const int processors = std::max(1, options_.threads) * (options_.ranks != nullptr ? options_.ranks->size() : 1);
  runner_ = std::make_unique<running::Runner>(*prepared_.system, *prepared_.method, prepared_.settings,
                                              prepared_.summary, options_.interrupt, processors);
  runner_->stop_on(options_.stop);
  if (corrections_) runner_->correct(&*corrections_);
  for (auto* observer : observers_) runner_->observe(*observer);
  for (auto* watcher : watchers_) runner_->watch(*watcher);
  if (options_.threads == 0) {
    thread_choice_.emplace(most_threads(), [this](int threads, double without, double with) {
      runner_->share(threads);
      runner_->note(
          {FactCode::ThreadsChosen, {}, {{"threads", threads}, {"without", without, "s"}, {"with", with, "s"}}});
    });
    runner_->watch(*thread_choice_);
  }
  runner_->control(control_);
  if (description_.correct_drift && description_.correct_drift->value) runner_->correct_drift();
  if (!prepared_.constraints.empty()) runner_->constrain(prepared_.constraints);
  if (options_.real_time) runner_->pace(*options_.real_time);
}

/// Where the number is left to the run: one if it is paced, because a trial may miss deadlines, and if several
/// processes share the subsystems and the processors.
int Session::most_threads() const {
  const bool several = options_.ranks != nullptr && options_.ranks->size() > 1;
  if (options_.real_time || several) return 1;
  std::vector<std::filesystem::path> fmus;
  for (const auto& subsystem : description_.subsystems) {
    std::error_code unknown;
    const std::filesystem::path file = subsystem.fmu;
    fmus.push_back(file.empty() ? file : std::filesystem::weakly_canonical(file, unknown));
  }
  return std::min(base::processors(), running::threads_allowed(*prepared_.system, fmus));
}

bool Session::can_be_reset() {
  auto& system = *prepared_.system;
  if (runner_->summary().termination == Termination::Failed) return false;
  for (std::size_t s = 0; s < system.size(); ++s) {
    if (system.facets(SubsystemId{s}).reset == nullptr) return false;
  }
  return true;
}

std::optional<Value> Session::start_of(SubsystemId s, std::size_t parameter) const {
  const auto& variable = prepared_.system->variables(s).parameters[parameter];
  const auto& subsystem = description_.subsystems[s];
  for (const auto& [name, written] : subsystem.start) {
    if (is_called(variable, name)) return base::converted(written.value, variable);
  }
  for (const auto& [name, given] : subsystem.optional_start) {
    if (is_called(variable, name)) return base::converted(given.value, variable);
  }
  return variable.start;
}

void Session::require_outside(const char* what) const {
  if (runner_->is_inside()) {
    throw Error(ErrorCode::InvalidSystem, {FactCode::NotFromObserver, {}, {{"what", what}}});
  }
}

void Session::observe(Observer& observer) {
  observers_.push_back(&observer);
  runner_->observe(observer);
}

void Session::prescribe(std::vector<std::vector<Time>> times) {
  prepared_.settings.prescribed = std::move(times);
  make_runner();
}

void Session::watch(running::StepWatcher& watcher) {
  watchers_.push_back(&watcher);
  runner_->watch(watcher);
}

void Session::control(running::ControlHook* hook) {
  control_ = hook;
  runner_->control(hook);
}

const RunSummary& Session::run() {
  return run_until(kNever);
}

const RunSummary& Session::run_until(Time t) {
  runner_->run_until(t);
  note_longest_call();
  return summary();
}

const RunSummary& Session::advance() {
  runner_->advance();
  note_longest_call();
  return summary();
}

/// Once the run has ended.
void Session::note_longest_call() {
  if (summary().termination == Termination::Running) return;
  if (auto call = longest_->take()) runner_->note(std::move(*call));
}

void Session::set(std::string_view variable, const Value& value) {
  const auto termination = summary().termination;
  if (termination != Termination::NotStarted && termination != Termination::Running) {
    throw Error(ErrorCode::InvalidSystem, {FactCode::SetAfterEnd, {std::string(variable)}},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Call reset first"});
  }
  const bool running = termination == Termination::Running;
  if (running && !runner_->is_initialized()) {
    throw Error(
        ErrorCode::InvalidSystem, {FactCode::SetWhileBeginning, {std::string(variable)}},
        {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Set it before the run, or at its first sample"});
  }
  changes_->set(variable, value, running);
  if (running) runner_->note_change({summary().reached, std::string(variable), value});
}

void Session::reset() {
  require_outside("a reset");
  longest_->take();
  if (options_.stop.stop_requested()) options_.stop = {};  // it cannot be taken back, and has done its work
  if (can_be_reset()) {
    forget_checkpoints();
    changes_->rewind();
    prepared_.system->engine().reset();
    make_runner();
    return;
  }
  for (std::size_t s = 0; s < prepared_.system->size(); ++s) {
    if (!prepared_.system->capabilities(SubsystemId{s}).once_per_process) continue;
    throw Error(
        ErrorCode::MissingCapability, {FactCode::NotRunAgain},
        {.subsystem = prepared_.system->graph().name(SubsystemId{s}), .variable = {}, .time = {}, .remedy = {}});
  }
  const running::Changes::InForce at_start = changes_->at_start();
  make();
  changes_->resume_start(at_start);
}

const RunSummary& Session::abandon(const Error& fault) {
  runner_->abandon(fault);
  note_longest_call();
  return summary();
}

const RunSummary& Session::summary() const noexcept {
  return runner_->summary();
}
const std::vector<Signal>& Session::signals() const noexcept {
  return runner_->signals();
}

double Session::value(std::string_view signal) const {
  const auto& all = signals();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_called(all[i], signal)) return runner_->value(i);
    names.push_back(all[i].name);
  }
  throw Error(ErrorCode::InvalidSystem, {FactCode::SignalUnknown, {std::string(signal)}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = suggestion(signal, names)});
}

std::unique_ptr<const Session::Checkpoint> Session::checkpoint() {
  auto& system = *prepared_.system;
  for (std::size_t s = 0; s < system.size(); ++s) {
    if (system.facets(SubsystemId{s}).rollback != nullptr) continue;
    throw Error(ErrorCode::MissingCapability, {FactCode::NeedsRollback},
                {.subsystem = system.graph().name(SubsystemId{s}), .variable = {}, .time = {}, .remedy = {}});
  }
  return std::make_unique<const Checkpoint>(system, runner_->position(), changes_->in_force(), checkpoints_hold_);
}

void Session::restore(const Checkpoint& checkpoint) {
  require_outside("going back to a checkpoint");
  if (!checkpoint.is_held()) {
    throw Error(ErrorCode::InvalidSystem, {FactCode::CheckpointReleased});
  }
  // First the values, then the state: what a subsystem saved is more exact than what follows from its parameters.
  changes_->restore(checkpoint.changes());
  runner_->restore(checkpoint.position());
}

void Session::require_serialization() const {
  auto& system = *prepared_.system;
  std::vector<std::string> cannot;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const SubsystemId id{s};
    const Rollback* rollback = system.facets(id).rollback;
    if (rollback != nullptr && rollback->can_serialize()) continue;
    cannot.push_back(fmt::format(
        "'{}' ({}, {})", system.graph().name(id), summary().subsystems[s].source,
        rollback == nullptr ? "which cannot save its state" : "which can save its state, but not to a file"));
  }
  if (cannot.empty()) return;
  throw Error(ErrorCode::MissingCapability, {FactCode::NeedsSerialization, cannot, {{"several", cannot.size()}}});
}

void Session::save(const std::filesystem::path& file, const std::string& directory) {
  const auto termination = summary().termination;
  if (termination == Termination::NotStarted || termination == Termination::Failed) {
    throw Error(
        ErrorCode::InvalidSystem,
        {FactCode::CheckpointWithoutRun, {}, {{"state", termination == Termination::Failed ? "failed" : "not begun"}}});
  }
  require_serialization();
  CheckpointContent content;
  content.info = {std::string(version()), description_.name, system_text(resolved(description_, extensions_)),
                  directory, summary().reached};
  content.identity = known_identity();
  content.changes = base::to_bytes(changes_->at_start(), changes_->in_force());
  content.run = runner_->save();
  if (options_.ranks == nullptr || options_.ranks->is_first()) write_checkpoint(file, content);
}

CheckpointContent Session::fitting_checkpoint(const std::filesystem::path& file) {
  if (runner_->summary().termination != Termination::NotStarted) {
    throw Error(ErrorCode::InvalidSystem, {FactCode::ResumeAfterStart},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Call reset first"});
  }
  if (!changes_->at_start().empty()) {
    throw Error(ErrorCode::InvalidSystem, {FactCode::ResumeAfterSet},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Set them after it is resumed"});
  }
  auto content = read_checkpoint(file);
  const auto what = difference(content.identity, known_identity());
  if (what.empty()) return content;
  throw Error(ErrorCode::InvalidSystem, {FactCode::CheckpointOtherSystem, {file.string()}, {{"difference", what}}});
}

void Session::check_resume(const std::filesystem::path& file) {
  (void)fitting_checkpoint(file);
  require_serialization();
}

void Session::resume(const std::filesystem::path& file) {
  const CheckpointContent content = fitting_checkpoint(file);
  require_serialization();
  running::Changes::InForce at_start;
  running::Changes::InForce in_force;
  base::from_bytes(content.changes, at_start, in_force);
  changes_->resume_start(at_start);
  runner_->resume(content.run, {content.info.directory, content.info.time}, [&] { changes_->resume(in_force); });
}

}  // namespace entrain::session
