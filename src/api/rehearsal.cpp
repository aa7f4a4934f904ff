#include "api/rehearsal.hpp"

#include <algorithm>
#include <chrono>

#include "description/subsystem_keys.hpp"
#include "entrain/coupled_system.hpp"
#include "entrain/fact_codes.hpp"
#include "session/session.hpp"

namespace entrain::api {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostSteps = 400;
constexpr std::size_t kFewestSteps = 20;
constexpr double kLongest = 0.5;  // s of wall clock time

Fact not_measured(const std::string& why) {
  return {FactCode::PaceNotMeasured, {}, {{"why", why}}};
}

/// Why it cannot be run before the run; empty = it can.
std::string obstacle(const SystemDescription& description, const CoupledSystem& system) {
  for (std::size_t s = 0; s < system.size(); ++s) {
    const auto& subsystem = description.subsystems[s];
    if (description::is_outside(subsystem)) return "'" + subsystem.name + "' lies outside the computer";
    if (description::acts_outside(subsystem)) return "'" + subsystem.name + "' has side effects";
    if (system.capabilities(SubsystemId{s}).once_per_process) {
      return "'" + subsystem.name + "' can be made once in a process only";
    }
  }
  return {};
}

}  // namespace

std::vector<Fact> rehearse(const SystemDescription& description, const CoupledSystem& system, const RunOptions& options,
                           const Extensions& extensions) {
  if (const auto why = obstacle(description, system); !why.empty()) return {not_measured(why)};
  RunOptions quick = options;
  quick.real_time.reset();
  quick.log = {};
  session::Session trial(description, quick, extensions);
  trial.advance();  // the start alone
  std::vector<double> steps;
  const auto began = Clock::now();
  const auto& summary = trial.summary();
  const Time start = summary.reached;
  double spent = 0.0;
  while (steps.size() < kMostSteps && spent < kLongest && summary.termination == Termination::Running) {
    const auto from = Clock::now();
    trial.advance();
    steps.push_back(std::chrono::duration<double>(Clock::now() - from).count());
    spent = std::chrono::duration<double>(Clock::now() - began).count();
  }
  if (summary.termination == Termination::Failed) return {};  // the run will report it, with all details
  const bool slow = spent >= kLongest;
  if (steps.size() < kFewestSteps && !slow) return {not_measured("the run has too few steps")};
  const Duration simulated = (summary.reached - start) / static_cast<double>(steps.size());
  const double allows = simulated / options.real_time->factor;
  // The median: what other programs did meanwhile is no property of the system.
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  const double needs = *middle;
  if (!(needs > allows)) return {};
  trial.run_until(summary.reached);  // refreshes what is counted
  const auto& subsystems = trial.summary().subsystems;
  const auto slowest = std::max_element(subsystems.begin(), subsystems.end(),
                                        [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  const double share = slowest->seconds / static_cast<double>(steps.size());
  return {{FactCode::PaceNotKept,
           {slowest->name},
           {{"needs", needs, "s"}, {"allows", allows, "s"}, {"share", share, "s"}}}};
}

}  // namespace entrain::api
