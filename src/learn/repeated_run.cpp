#include "learn/repeated_run.hpp"

#include <utility>

#include "base/grid.hpp"
#include "coupling/engine.hpp"
#include "entrain/fact_codes.hpp"
#include "run/runner.hpp"

namespace entrain::learning {

RepeatedRun::RepeatedRun(SystemDescription description, const Extensions& extensions, Settings settings)
    : description_(std::move(description)), extensions_(extensions), settings_(settings) {
  make();
  require_that_it_can_be_repeated();
}

void RepeatedRun::make() {
  std::vector<Problem> problems;
  prepared_ = {};  // first: an FMU may allow one instance at a time
  prepared_ = session::prepare(description_, settings_.threads, extensions_, problems,
                               session::interruptible(settings_.interrupt));
  if (!prepared_.system) throw Error(std::move(problems));
  for (std::size_t s = 0; s < system().size(); ++s) {
    Remote* remote = system().facets(SubsystemId{s}).remote;
    if (remote != nullptr) remote->keep_answers(base::Grid(settings().start, settings().stop, settings().step).steps());
  }
}

bool RepeatedRun::has_parts_outside() {
  for (std::size_t s = 0; s < system().size(); ++s) {
    if (system().facets(SubsystemId{s}).remote != nullptr) return true;
  }
  return false;
}

void RepeatedRun::rewind() {
  if (!std::exchange(used_, true)) return;
  if (all_can_be_reset() && !std::exchange(rebuild_, false)) {
    system().engine().reset();
  } else {
    make();
  }
}

bool RepeatedRun::all_can_be_reset() {
  for (std::size_t s = 0; s < system().size(); ++s) {
    if (system().facets(SubsystemId{s}).reset == nullptr) return false;
  }
  return true;
}

/// Before the first run: a reset alone is not enough, because after a failed run all are made anew.
void RepeatedRun::require_that_it_can_be_repeated() {
  std::vector<Problem> problems;
  for (std::size_t s = 0; s < system().size(); ++s) {
    if (!system().capabilities(SubsystemId{s}).once_per_process) continue;
    problems.push_back(problem_of(Fact{FactCode::OncePerProcess, {system().graph().name(SubsystemId{s})}},
                                  "export it again without canBeInstantiatedOnlyOncePerProcess",
                                  description_.subsystems[s].fmu_where));
  }
  if (!problems.empty()) throw Error(std::move(problems));
}

void RepeatedRun::set_option(const std::string& name, OptionValue value) {
  auto& written = description_.method_options[description_.method.value];
  written[name] = {std::move(value), {}};
  std::vector<Problem> problems;
  read_options(*prepared_.method, written, description_.method.value, problems);
  if (has_errors(problems)) throw Error(std::move(problems));
}

RunSummary RepeatedRun::run(Time horizon, running::CorrectionSchedule* corrections, Observer& observer) {
  rewind();
  running::Runner runner(system(), *prepared_.method, prepared_.settings, prepared_.summary, settings_.interrupt,
                         settings_.threads);
  runner.correct(corrections);
  if (settings_.real_time) runner.pace(*settings_.real_time);
  runner.observe(observer);
  runner.run_until(horizon);
  if (runner.summary().termination == Termination::Failed) require_rebuild();
  return runner.summary();
}

void RepeatedRun::initialize() {
  rewind();
  system().engine().initialize(settings().start, settings().stop);
}

}  // namespace entrain::learning
