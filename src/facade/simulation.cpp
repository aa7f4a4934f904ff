#include "entrain/simulation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/suggest.hpp"
#include "facade/choose_method.hpp"
#include "facade/learned.hpp"
#include "facade/prepare.hpp"
#include "run/runner.hpp"

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

std::string correction_note(const CorrectionSummary& correction) {
  return fmt::format("{} corrected by {}, learned to {:.2g} of the range", fmt::join(correction.inputs, ", "),
                     correction.file.empty() ? "a learned correction" : correction.file, correction.error);
}

}  // namespace

struct Simulation::Impl {
  Prepared prepared;
  std::optional<CorrectionSchedule> corrections;
  std::unique_ptr<Runner> runner;
};

class Simulation::Checkpoint {
 public:
  Checkpoint(CoupledSystem& system, Runner::Position position) : system_(system), position_(std::move(position)) {}
  ~Checkpoint() { system_.release(position_.system); }
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;
  const Runner::Position& position() const { return position_; }

 private:
  CoupledSystem& system_;
  Runner::Position position_;
};

// NOLINTNEXTLINE(performance-unnecessary-value-param): the signature is public
Simulation::Simulation(const SystemDescription& written, RunOptions options, const Extensions& extensions)
    : impl_(std::make_unique<Impl>()) {
  const auto [description, choice] = choose_method(written, extensions);
  std::vector<Problem> problems;
  impl_->prepared = prepare(description, options.threads, extensions, problems, options.log);
  if (!impl_->prepared.system) throw Error(std::move(problems));
  auto& prepared = impl_->prepared;
  for (const auto& problem : problems) prepared.summary.warnings.push_back(to_string(problem));
  if (!choice.empty()) prepared.summary.notes.push_back(choice);
  if (options.learned != nullptr) {
    const Learned& learned = *options.learned;
    impl_->corrections = scheduled(learned, description, prepared.system->graph(), prepared.settings);
    prepared.summary.correction = {learned.file, learned.inputs, learned.error};
    prepared.summary.notes.push_back(correction_note(*prepared.summary.correction));
  }
  impl_->runner = std::make_unique<Runner>(*prepared.system, *prepared.method, prepared.settings,
                                           std::move(prepared.summary), options.interrupt, options.threads);
  if (impl_->corrections) impl_->runner->correct(&*impl_->corrections);
}

Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

void Simulation::observe(Observer& observer) {
  impl_->runner->observe(observer);
}

const RunSummary& Simulation::run() {
  return run_until(kNever);
}

const RunSummary& Simulation::run_until(Time t) {
  impl_->runner->run_until(t);
  return summary();
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
  return std::make_shared<const Checkpoint>(system, impl_->runner->position());
}

void Simulation::restore(const Checkpoint& checkpoint) {
  impl_->runner->restore(checkpoint.position());
}

}  // namespace entrain
