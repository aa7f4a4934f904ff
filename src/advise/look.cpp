#include "advise/look.hpp"

#include <algorithm>
#include <cmath>

#include "advise/choose_method.hpp"
#include "advise/method_kinds.hpp"
#include "coupling/calls_made.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/system.hpp"
#include "entrain/verdict.hpp"

namespace entrain::advising {
namespace {

/// Methods that the user does not want.
void exclude(const SystemDescription& description, std::vector<Candidate>& candidates) {
  if (!description.exclude) return;
  for (auto& candidate : candidates) {
    const bool excluded = std::any_of(description.exclude->begin(), description.exclude->end(),
                                      [&](const Written<std::string>& of) { return of.value == candidate.method; });
    if (excluded) candidate.obstacles = {{FactCode::MethodExcluded}};
  }
}

/// Runs before the run would do what must happen once, or leave no instance for it.
std::optional<Fact> why_untried(const SystemDescription& description, const CoupledSystem& system) {
  for (std::size_t s = 0; s < system.size(); ++s) {
    const auto& written = description.subsystems[s];
    const auto& can = system.capabilities(SubsystemId{s});
    const bool outside = written.udp || written.shm;
    const bool effects = outside || (written.side_effects && written.side_effects->value);
    if (!effects && (!can.once_per_process || can.reset)) continue;
    return Fact{FactCode::NotTried,
                {written.name},
                {{"why", "'" + written.name +
                             (outside   ? "' lies outside the computer"
                              : effects ? "' has side effects"
                                        : "' can be made once in a process only")}}};
  }
  return std::nullopt;
}

/// The smallest tolerance of any output.
double tolerance_of(const SystemDescription& description) {
  const auto tolerances = tolerances_of(description);
  double least = tolerances.usual;
  for (const auto& [output, tolerance] : tolerances.single) least = std::min(least, tolerance);
  return least;
}

/// The path of a system that is linear, as far as a few macro steps show.
std::optional<analysis::RunPath> linear_path(Look& look, session::Prepared& prepared,
                                             const method::MethodRegistry& methods) {
  CoupledSystem& system = *prepared.system;
  // A forecast costs the cube of this; beyond, it would take more than the run deserves.
  constexpr std::size_t kMostSignals = 60;
  constexpr double kPilotSteps = 5.0;
  if (system.states() + system.graph().outputs() + system.graph().inputs() > kMostSignals) return std::nullopt;
  for (std::size_t s = 0; s < system.size(); ++s) {
    if (!system.capabilities(SubsystemId{s}).linearization) return std::nullopt;
  }
  const auto estimating = std::find_if(look.candidates.begin(), look.candidates.end(), [&](const Candidate& of) {
    const bool can = of.obstacles.empty() || of.obstacles.front().code == FactCode::MethodExcluded;
    return can && is_estimating(methods.traits(of.method));
  });
  if (estimating == look.candidates.end()) return std::nullopt;
  const auto method = methods.make(estimating->method);
  const coupling::CallCount counted(system, look.pilot_calls);
  try {
    auto pilot = run_pilot(system, *method, prepared.settings,
                           {.share = std::min(1.0, kPilotSteps * look.step / look.whole_run()), .points = 2});
    const bool serves = pilot.path && !pilot.failed && pilot.driven.empty() && pilot.rates_known;
    if (!serves || pilot.path->points.size() > 1) return std::nullopt;
    pilot.path->ranges = analysis::ranges_along(*pilot.path);
    for (std::size_t y = 0; y < pilot.path->ranges.size(); ++y) {
      look.ranges[system.graph().name(OutputId{y})] = pilot.path->ranges[y];
    }
    return std::move(pilot.path);
  } catch (const Error&) {  // an initialisation or a loop that fails: the run will report it, with all details
    return std::nullopt;
  }
}

}  // namespace

Look look_at(const SystemDescription& written, session::Prepared& prepared, const method::MethodRegistry& methods,
             const Extensions& extensions) {
  Look look;
  look.description = resolved(to_look_at(written), extensions);
  const CoupledSystem& system = *prepared.system;
  look.sequence = found_sequence(system);
  look.subsystems = system.size();
  for (std::size_t s = 0; s < system.size(); ++s) {
    if (const auto& imposed = system.capabilities(SubsystemId{s}).imposed_step) look.imposed.push_back(*imposed);
  }
  look.tolerance = tolerance_of(look.description);
  const bool proposed = written.step && written.step->where.file.starts_with(kProposed);
  look.step_given = written.step && !proposed;
  look.step =
      look.step_given ? look.description.step->value : fitting_below(look.imposed, look.description.step->value);
  prepared.settings.step = look.step;
  look.candidates = candidates_for(methods, *prepared.system, prepared.settings);
  exclude(look.description, look.candidates);
  look.one_way = acts_one_way(system.graph());
  look.uncoupled = nothing_to_couple(look.description, system.graph());
  look.untried = why_untried(look.description, system);
  if (!look.uncoupled && !look.untried) look.linear = linear_path(look, prepared, methods);
  return look;
}

}  // namespace entrain::advising
