#include "entrain/simulation.hpp"

#include <utility>

#include "advise/choose_method.hpp"
#include "api/together.hpp"
#include "entrain/ranks.hpp"
#include "ranks/rank_link.hpp"
#include "session/session.hpp"

namespace entrain {

struct Simulation::Impl : session::Session {
  using session::Session::Session;
};

class Simulation::Checkpoint {
 public:
  explicit Checkpoint(std::unique_ptr<const session::Session::Checkpoint> of) : of_(std::move(of)) {}
  const session::Session::Checkpoint& of() const { return *of_; }

 private:
  std::unique_ptr<const session::Session::Checkpoint> of_;
};

// NOLINTNEXTLINE(performance-unnecessary-value-param): the signature is public
Simulation::Simulation(const SystemDescription& written, RunOptions options, const Extensions& extensions) {
  advising::SearchBudget budget;
  budget.interrupt = options.interrupt;
  if (options.ranks != nullptr) options.interrupt = &options.ranks->link().interrupt();  // the same for all of them
  auto choice = api::choose_together(written, extensions, budget, options);
  if (!options.real_time && written.real_time && written.real_time->value > 0.0) {
    options.real_time = RealTimeOptions{.factor = written.real_time->value};
    if (written.overrun) options.real_time->overrun = written.overrun->value;
  }
  if (options.real_time && !choice.description.real_time) {
    choice.description.real_time = {options.real_time->factor, {}};
  }
  impl_ =
      std::make_unique<Impl>(std::move(choice.description), std::move(options), extensions, std::move(choice.notes));
}

Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

session::Session& Simulation::session() {
  return *impl_;
}
void Simulation::observe(Observer& observer) {
  impl_->observe(observer);
}
const RunSummary& Simulation::run() {
  return impl_->run();
}
const RunSummary& Simulation::run_until(Time t) {
  return impl_->run_until(t);
}
const RunSummary& Simulation::advance() {
  return impl_->advance();
}
void Simulation::set(std::string_view variable, const Value& value) {
  impl_->set(variable, value);
}
void Simulation::reset() {
  impl_->reset();
}
const RunSummary& Simulation::abandon(const Error& fault) {
  return impl_->abandon(fault);
}

const RunSummary& Simulation::summary() const noexcept {
  return impl_->summary();
}
const std::vector<Signal>& Simulation::signals() const noexcept {
  return impl_->signals();
}
double Simulation::value(std::string_view signal) const {
  return impl_->value(signal);
}

std::shared_ptr<const Simulation::Checkpoint> Simulation::checkpoint() {
  return std::make_shared<const Checkpoint>(impl_->checkpoint());
}
void Simulation::restore(const Checkpoint& checkpoint) {
  impl_->restore(checkpoint.of());
}

void Simulation::require_serialization() const {
  impl_->require_serialization();
}
void Simulation::save(const std::filesystem::path& file, const std::string& directory) {
  impl_->save(file, directory);
}
void Simulation::resume(const std::filesystem::path& file) {
  impl_->resume(file);
}
void Simulation::check_resume(const std::filesystem::path& file) const {
  impl_->check_resume(file);
}

}  // namespace entrain
