#include "entrain/simulation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "advise/choose_method.hpp"
#include "base/bytes.hpp"
#include "base/suggest.hpp"
#include "base/values.hpp"
#include "description/system_file.hpp"
#include "entrain/entrain.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/learning.hpp"
#include "entrain/system.hpp"
#include "run/changes.hpp"
#include "run/runner.hpp"
#include "session/checkpoint_file.hpp"
#include "session/learned.hpp"
#include "session/prepare.hpp"

namespace entrain {

std::string_view to_string(Termination termination) {
  switch (termination) {
    case Termination::NotStarted: return "not started";
    case Termination::Running: return "running";
    case Termination::Completed: return "completed";
    case Termination::Failed: return "failed";
    case Termination::Interrupted: break;
  }
  return "interrupted";
}

namespace {

Fact correction_note(const CorrectionSummary& correction) {
  return {FactCode::CorrectionUsed,
          correction.inputs,
          {{"file", correction.file.empty() ? "a learned correction" : correction.file}, {"error", correction.error}}};
}

}  // namespace

struct Simulation::Impl {
  SystemDescription description;  // with a real method
  Extensions extensions;
  RunOptions options;
  std::optional<Learned> learned;
  std::optional<Fact> choice;  // of the method, if it was to be chosen
  Prepared prepared;
  std::optional<CorrectionSchedule> corrections;
  std::optional<Changes> changes;
  /// Checkpoints in memory belong to one run of one system.
  std::shared_ptr<const char> checkpoints_hold = std::make_shared<const char>();
  std::vector<Observer*> observers;
  std::unique_ptr<Runner> runner;
  std::optional<SystemIdentity> identity;  // once it was asked for

  const SystemIdentity& known_identity();
  CheckpointContent fitting_checkpoint(const std::filesystem::path& file);
  void make();
  void make_runner();
  bool can_be_reset();
  void forget_checkpoints() { checkpoints_hold = std::make_shared<const char>(); }
  /// Throws inside a run, where only observers can call.
  void require_outside(const char* what) const;
  std::optional<Value> start_of(SubsystemId s, std::size_t parameter) const;
};

const SystemIdentity& Simulation::Impl::known_identity() {
  if (!identity) identity = identity_of(description, extensions, learned ? &*learned : nullptr);
  return *identity;
}

/// Everything from the description, as the first time.
void Simulation::Impl::make() {
  std::vector<Problem> problems;
  Prepared made = prepare(description, options.threads, extensions, problems, options.log);
  if (!made.system) throw Error(std::move(problems));  // an earlier one stays as it is
  forget_checkpoints();
  runner.reset();
  changes.reset();
  prepared = std::move(made);
  for (const auto& problem : problems) prepared.summary.warnings.push_back(fact_of(problem));
  if (choice) prepared.summary.notes.push_back(*choice);
  if (learned) {
    corrections = scheduled(*learned, description, prepared.system->graph(), prepared.settings);
    prepared.summary.correction = {learned->file, learned->inputs, learned->error};
    prepared.summary.notes.push_back(correction_note(*prepared.summary.correction));
  }
  changes.emplace(*prepared.system, [this](SubsystemId s, std::size_t parameter) { return start_of(s, parameter); });
  make_runner();
}

void Simulation::Impl::make_runner() {
  runner = std::make_unique<Runner>(*prepared.system, *prepared.method, prepared.settings, prepared.summary,
                                    options.interrupt, options.threads);
  runner->stop_on(options.stop);
  if (corrections) runner->correct(&*corrections);
  for (auto* observer : observers) runner->observe(*observer);
}

bool Simulation::Impl::can_be_reset() {
  auto& system = *prepared.system;
  if (runner->summary().termination == Termination::Failed) return false;
  for (std::size_t s = 0; s < system.size(); ++s) {
    if (system.facets(SubsystemId{s}).reset == nullptr) return false;
  }
  return true;
}

std::optional<Value> Simulation::Impl::start_of(SubsystemId s, std::size_t parameter) const {
  const auto& variable = prepared.system->variables(s).parameters[parameter];
  const auto& subsystem = description.subsystems[s];
  for (const auto& [name, written] : subsystem.start) {
    if (is_called(variable, name)) return converted(written.value, variable);
  }
  for (const auto& [name, given] : subsystem.optional_start) {
    if (is_called(variable, name)) return converted(given.value, variable);
  }
  return variable.start;
}

void Simulation::Impl::require_outside(const char* what) const {
  if (runner->is_inside()) {
    throw Error(ErrorCode::InvalidSystem,
                fmt::format("{} is not possible from an observer, while the run goes on", what));
  }
}

class Simulation::Checkpoint {
 public:
  Checkpoint(CoupledSystem& system, Runner::Position position, Changes::InForce changes, std::weak_ptr<const char> held)
      : system_(system), position_(std::move(position)), changes_(std::move(changes)), held_(std::move(held)) {}
  ~Checkpoint() {
    if (is_held()) system_.release(position_.system);
  }
  /// The system is still there, and has not been reset.
  bool is_held() const { return !held_.expired(); }
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;
  const Runner::Position& position() const { return position_; }
  const Changes::InForce& changes() const { return changes_; }

 private:
  CoupledSystem& system_;
  Runner::Position position_;
  Changes::InForce changes_;
  std::weak_ptr<const char> held_;
};

// NOLINTNEXTLINE(performance-unnecessary-value-param): the signature is public
Simulation::Simulation(const SystemDescription& written, RunOptions options, const Extensions& extensions)
    : impl_(std::make_unique<Impl>()) {
  auto [description, choice, reasons] = choose_method(written, extensions);
  impl_->description = std::move(description);
  impl_->choice = std::move(choice);
  impl_->extensions = extensions;
  impl_->options = options;
  if (options.learned != nullptr) impl_->learned = *options.learned;
  impl_->make();
}

Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

void Simulation::observe(Observer& observer) {
  impl_->observers.push_back(&observer);
  impl_->runner->observe(observer);
}

const RunSummary& Simulation::run() {
  return run_until(kNever);
}

const RunSummary& Simulation::run_until(Time t) {
  impl_->runner->run_until(t);
  return summary();
}

void Simulation::set(std::string_view variable, const Value& value) {
  const auto termination = summary().termination;
  if (termination != Termination::NotStarted && termination != Termination::Running) {
    throw Error(ErrorCode::InvalidSystem, fmt::format("'{}' cannot be set: the run has ended", variable),
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Call reset first"});
  }
  const bool running = termination == Termination::Running;
  if (running && !impl_->runner->is_initialized()) {
    throw Error(
        ErrorCode::InvalidSystem, fmt::format("'{}' cannot be set while the run begins", variable),
        {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Set it before the run, or at its first sample"});
  }
  impl_->changes->set(variable, value, running);
  if (running) impl_->runner->note_change({summary().reached, std::string(variable), value});
}

void Simulation::reset() {
  auto& impl = *impl_;
  impl.require_outside("a reset");
  if (impl.options.stop.stop_requested()) impl.options.stop = {};  // it cannot be taken back, and has done its work
  if (impl.can_be_reset()) {
    impl.forget_checkpoints();
    impl.changes->rewind();
    impl.prepared.system->reset();
    impl.make_runner();
    return;
  }
  for (std::size_t s = 0; s < impl.prepared.system->size(); ++s) {
    if (!impl.prepared.system->capabilities(SubsystemId{s}).once_per_process) continue;
    throw Error(
        ErrorCode::MissingCapability, "it cannot be run again: it can be made once per process only",
        {.subsystem = impl.prepared.system->graph().name(SubsystemId{s}), .variable = {}, .time = {}, .remedy = {}});
  }
  const Changes::InForce at_start = impl.changes->at_start();
  impl.make();
  impl.changes->resume_start(at_start);
}

const RunSummary& Simulation::abandon(const Error& fault) {
  impl_->runner->abandon(fault.what());
  return summary();
}

const RunSummary& Simulation::summary() const noexcept {
  return impl_->runner->summary();
}
const std::vector<Signal>& Simulation::signals() const noexcept {
  return impl_->runner->signals();
}

double Simulation::value(std::string_view signal) const {
  const auto& all = signals();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_called(all[i], signal)) return impl_->runner->value(i);
    names.push_back(all[i].name);
  }
  throw Error(ErrorCode::InvalidSystem, fmt::format("unknown signal '{}'; {}", signal, suggestion(signal, names)));
}

std::shared_ptr<const Simulation::Checkpoint> Simulation::checkpoint() {
  auto& system = *impl_->prepared.system;
  for (std::size_t s = 0; s < system.size(); ++s) {
    if (system.facets(SubsystemId{s}).rollback != nullptr) continue;
    throw Error(ErrorCode::MissingCapability, "a checkpoint needs rollback in every subsystem; this one has none",
                {.subsystem = system.graph().name(SubsystemId{s}), .variable = {}, .time = {}, .remedy = {}});
  }
  return std::make_shared<const Checkpoint>(system, impl_->runner->position(), impl_->changes->in_force(),
                                            impl_->checkpoints_hold);
}

void Simulation::restore(const Checkpoint& checkpoint) {
  impl_->require_outside("going back to a checkpoint");
  if (!checkpoint.is_held()) {
    throw Error(ErrorCode::InvalidSystem, "the checkpoint is of a run before the reset, or of another simulation");
  }
  // First the values, then the state: what a subsystem saved is more exact than what follows from its parameters.
  impl_->changes->restore(checkpoint.changes());
  impl_->runner->restore(checkpoint.position());
}

void Simulation::require_serialization() const {
  auto& system = *impl_->prepared.system;
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
  throw Error(ErrorCode::MissingCapability,
              fmt::format("a checkpoint file needs the state of every subsystem, and {} cannot give it: {}",
                          cannot.size() == 1 ? "this one" : "these", fmt::join(cannot, ", ")));
}

void Simulation::save(const std::filesystem::path& file, const std::string& directory) {
  const auto termination = summary().termination;
  if (termination == Termination::NotStarted || termination == Termination::Failed) {
    throw Error(ErrorCode::InvalidSystem, fmt::format("no checkpoint can be written: the run has {}",
                                                      termination == Termination::Failed ? "failed" : "not begun"));
  }
  require_serialization();
  CheckpointContent content;
  content.info = {std::string(version()), impl_->description.name,
                  system_text(resolved(impl_->description, impl_->extensions)), directory, summary().reached};
  content.identity = impl_->known_identity();
  content.changes = to_bytes(impl_->changes->at_start(), impl_->changes->in_force());
  content.run = impl_->runner->save();
  write_checkpoint(file, content);
}

CheckpointContent Simulation::Impl::fitting_checkpoint(const std::filesystem::path& file) {
  if (runner->summary().termination != Termination::NotStarted) {
    throw Error(ErrorCode::InvalidSystem, "a run that has begun cannot go on from a checkpoint file",
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Call reset first"});
  }
  if (!changes->at_start().empty()) {
    throw Error(ErrorCode::InvalidSystem, "values were set before the run; a checkpoint file brings its own",
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Set them after it is resumed"});
  }
  auto content = read_checkpoint(file);
  const auto what = difference(content.identity, known_identity());
  if (what.empty()) return content;
  throw Error(ErrorCode::InvalidSystem,
              fmt::format("the checkpoint '{}' is of another system: {}", file.string(), what));
}

void Simulation::check_resume(const std::filesystem::path& file) const {
  (void)impl_->fitting_checkpoint(file);
  require_serialization();
}

void Simulation::resume(const std::filesystem::path& file) {
  const CheckpointContent content = impl_->fitting_checkpoint(file);
  require_serialization();
  Changes::InForce at_start;
  Changes::InForce in_force;
  from_bytes(content.changes, at_start, in_force);
  impl_->changes->resume_start(at_start);
  impl_->runner->resume(content.run, {content.info.directory, content.info.time},
                        [&] { impl_->changes->resume(in_force); });
}

}  // namespace entrain
