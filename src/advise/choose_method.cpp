#include "advise/choose_method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "advise/brief_check.hpp"
#include "advise/candidates.hpp"
#include "advise/insight.hpp"
#include "advise/method_kinds.hpp"
#include "advise/pilot.hpp"
#include "coupling/trial_kind.hpp"
#include "entrain/error.hpp"
#include "entrain/system.hpp"
#include "methods/registry.hpp"
#include "session/prepare.hpp"

namespace entrain {
namespace {

struct Chosen {
  Candidate candidate;
  std::string reason;
};

bool eligible(const Candidate& candidate) {
  return candidate.obstacles.empty();
}

/// What may be chosen, and the registry it comes from.
struct Choices {
  const MethodRegistry& methods;
  std::vector<Candidate> candidates;

  const MethodTraits& traits(const Candidate& of) const { return methods.traits(of.method); }
  /// The first usable one; nullptr if there is none.
  const Candidate* find(MethodKind kind, int degree = 0) const {
    const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& of) {
      return eligible(of) && kind(traits(of)) && of.degree.value_or(0) == degree;
    });
    return found == candidates.end() ? nullptr : &*found;
  }
  /// What hinders methods of a kind that cannot run the system.
  std::string obstacle(MethodKind kind) const {
    const auto found = std::find_if(candidates.begin(), candidates.end(),
                                    [&](const Candidate& of) { return kind(traits(of)) && !of.obstacles.empty(); });
    return found == candidates.end() ? "there is no such method" : found->obstacles.front();
  }
};

/// A forecast; nullopt where there is none, be it that the coupling equations are singular at just this step.
std::optional<Forecast> foretold(const Candidate& candidate, const LinearizedRun& linearized, Duration step) {
  try {
    const auto forecast = linearized.of(candidate).forecast(linearized.path, step);
    return forecast && std::isfinite(forecast->error) ? forecast : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// What there is to say of a choice that does not promise well, and whether a smaller step mends it.
std::string warning(const Candidate& candidate, const Forecast& here, const LinearizedRun& linearized,
                    const std::vector<Duration>& imposed) {
  constexpr double kLarge = 0.1;
  constexpr int kMostHalvings = 10;
  const auto does = [&](const Forecast& forecast) { return forecast.harmless() && forecast.error <= kLarge; };
  if (does(here)) return {};
  const std::string what = here.harmless() ? "; that is much" : "; it grows, as every other does that can be foretold";
  Duration step = linearized.step;
  for (int k = 1; k <= kMostHalvings; ++k) {
    step = nearest_fitting(imposed, std::ldexp(linearized.step, -k));
    const auto finer = foretold(candidate, linearized, step);
    if (finer && does(*finer)) return what + fmt::format(": with {:.3g} s it would be {:.2g}", step, finer->error);
  }
  return what + fmt::format(", and no step down to {:.3g} s mends it", step);
}

/// A forecast takes the subsystems to be exact; whether they are, a brief run tells.
std::string checked(const Candidate& candidate, const LinearizedRun& linearized, BriefCheck check) {
  constexpr double kSurprise = 3.0;
  constexpr double kNegligible = 1e-6;
  const auto measured = check.error(candidate);
  if (!measured) {
    return linearized.path.points.size() > 1
               ? ", as far as the subsystems integrate exactly and the system stays what it is at the start"
               : ", as far as the subsystems integrate exactly";
  }
  RunPath part = linearized.path;
  part.stop = part.points.front().time + check.length();
  std::erase_if(part.points, [&](const OperatingPoint& point) { return point.time >= part.stop; });
  const auto forecast =
      foretold(candidate, {linearized.methods, part, linearized.found, linearized.step}, linearized.step);
  if (!forecast || *measured <= std::max(kNegligible, kSurprise * forecast->error)) return {};
  return fmt::format(
      " (but in a run over {:.3g} s half the step changes {:.2g} where {:.2g} is foretold: the subsystems do not "
      "integrate as exactly as a forecast assumes, and the error will be larger)",
      check.length(), *measured, forecast->error);
}

/// By the errors foretold, each at the step that costs as much as the others.
std::optional<Chosen> by_forecast(const Choices& choices, const LinearizedRun& linearized, Duration seen,
                                  const BriefCheck& check) {
  std::vector<Duration> imposed;
  for (const auto& subsystem : linearized.path.points.front().network.subsystems) {
    if (subsystem.capabilities.imposed_step) imposed.push_back(*subsystem.capabilities.imposed_step);
  }
  const Candidate* best = nullptr;
  std::optional<Forecast> best_here;
  std::pair least{true, std::numeric_limits<double>::infinity()};  // what grows comes last
  for (const auto& candidate : choices.candidates) {
    const auto here = eligible(candidate) ? foretold(candidate, linearized, linearized.step) : std::nullopt;
    if (!here) continue;
    const auto equal_cost = foretold(
        candidate, linearized, nearest_fitting(imposed, linearized.step * choices.traits(candidate).calls_per_step));
    if (!equal_cost) continue;
    const std::pair merit{!here->harmless(), equal_cost->error};
    if (!(merit < least)) continue;
    least = merit;
    best = &candidate;
    best_here = here;
  }
  if (best == nullptr) return std::nullopt;
  return Chosen{*best, fmt::format("smallest foretold error for its cost, by the motion of the first {:.3g} s: {:.2g} "
                                   "of the range of the worst output at this step{}, spectral radius {:.6g}{}",
                                   seen, best_here->error, checked(*best, linearized, check), best_here->radius,
                                   warning(*best, *best_here, linearized, imposed))};
}

/// Whose trials are estimates, and not of what it does at events or between times of its own.
std::optional<std::string> against_iterations(CoupledSystem& system) {
  for (std::size_t s = 0; s < system.size(); ++s) {
    const auto& can = system.capabilities(SubsystemId{s});
    if (natural_trial_kind(can) == TrialKind::Rollback) continue;
    const auto& name = system.graph().name(SubsystemId{s});
    const Equations* equations = system.facets(SubsystemId{s}).equations;
    if (can.imposed_step || (equations != nullptr && equations->event_indicator_count() > 0)) {
      return fmt::format("'{}' cannot be taken back, and estimates do not show what it does at events of its own",
                         name);
    }
  }
  return std::nullopt;
}

/// By capabilities, and a brief run where it costs next to nothing.
Chosen by_rules(const Choices& choices, CoupledSystem& system, const std::string& why_no_forecast, BriefCheck check) {
  const auto* linear = choices.find(is_sequential, 1);
  if (linear != nullptr && acts_one_way(system.graph())) {
    return {*linear, why_no_forecast + "; nobody acts back on those that feed it, so each is called after its sources"};
  }
  const auto* iterative = choices.find(is_iterative);
  auto against = iterative == nullptr ? choices.obstacle(is_iterative) : against_iterations(system);
  if (!against && linear != nullptr && !check.agree(*linear, *iterative).value_or(true)) {
    against = fmt::format("in a run over {:.3g} s {} does not agree with finer steps of {}", check.length(),
                          iterative->title(), linear->title());
  }
  if (iterative != nullptr && !against) {
    return {*iterative, why_no_forecast + "; every subsystem can be tried, so iterations make the coupling consistent"};
  }
  if (linear != nullptr) {
    const bool said = why_no_forecast.find(*against) != std::string::npos;
    return {*linear,
            why_no_forecast + (said ? "" : "; " + *against) + "; inputs are carried on in a line, or its mean"};
  }
  return {*choices.find(is_asynchronous), "no other method can: " + choices.obstacle(is_plain)};
}

Chosen choose(const SystemDescription& description, Prepared& look, const Extensions& extensions) {
  CoupledSystem& system = *look.system;
  const MethodRegistry methods(extensions);
  const Choices choices{methods, candidates_for(methods, system, look.settings)};
  const auto* plain = choices.find(is_plain);
  if (const auto why = nothing_to_couple(description, system.graph()); why && plain != nullptr) return {*plain, *why};
  const auto rules = [&](const std::string& why) {
    return by_rules(choices, system, why, BriefCheck(description, extensions));
  };
  const auto* estimating = choices.find(is_estimating);
  if (estimating == nullptr) {
    return rules("no pilot run for a forecast: " + choices.obstacle(is_estimating));
  }
  for (std::size_t s = 0; s < system.size(); ++s) {
    if (system.capabilities(SubsystemId{s}).linearization) continue;
    return rules(fmt::format("'{}' tells no linearization", system.graph().name(SubsystemId{s})));
  }
  // A forecast costs the cube of this; beyond, it would take more than the run deserves.
  constexpr std::size_t kMostSignals = 60;
  const std::size_t signals = system.states() + system.graph().outputs() + system.graph().inputs();
  if (signals > kMostSignals) {
    return {*estimating, fmt::format("every subsystem tells its linearization; {} states, inputs and outputs are too "
                                     "many for a forecast in no time",
                                     signals)};
  }
  constexpr double kShare = 0.02;
  const auto pilot_method = methods.make(estimating->method);
  auto pilot = run_pilot(system, *pilot_method, look.settings, {.share = kShare, .points = 2});
  if (!pilot.path) return rules(pilot.obstacles.front());
  if (pilot.failed) return rules(pilot.remarks.front());
  if (!pilot.driven.empty()) {
    return {*estimating, pilot.driven.front() + ", so no errors are foretold; every subsystem tells its linearization"};
  }
  if (!pilot.rates_known) return rules("not everybody tells the rates of its states");
  pilot.path->ranges = ranges_along(*pilot.path);
  const auto sequence = found_sequence(system);
  std::map<std::string, double> ranges;
  for (std::size_t y = 0; y < pilot.path->ranges.size(); ++y) {
    ranges[system.graph().name(OutputId{y})] = pilot.path->ranges[y];
  }
  const auto chosen = by_forecast(choices, {methods, *pilot.path, sequence, look.settings.step},
                                  kShare * (look.settings.stop - look.settings.start),
                                  BriefCheck(description, extensions, std::move(ranges)));
  return chosen ? *chosen : rules("no error could be foretold");
}

}  // namespace

SystemDescription to_look_at(SystemDescription description) {
  if (description.method.value == kAuto) description.method.value = built_in_methods().undemanding().name;
  return description;
}

MethodChoice choose_method(const SystemDescription& written, const Extensions& extensions) {
  if (written.method.value != kAuto) return {written, {}};
  MethodChoice choice{to_look_at(written), {}};
  std::vector<Problem> problems;
  Prepared look = prepare(choice.description, 1, extensions, problems);
  if (!look.system) return choice;
  Chosen chosen;
  try {
    chosen = choose(resolved(choice.description, extensions), look, extensions);
  } catch (const Error& error) {  // an initialisation or a loop that fails: the run will say so, with all its means
    choice.note =
        fmt::format("auto: {}, because nothing could be foretold: {}", choice.description.method.value, error.what());
    return choice;
  }
  const auto& [candidate, reason] = chosen;
  const auto options = choice.description.method_options.find(candidate.method);
  const bool has_options = options != choice.description.method_options.end() && !options->second.empty();
  choice.description = with_config(MethodRegistry(extensions), std::move(choice.description), candidate);
  choice.note = fmt::format("auto: {}, because: {}", candidate.title(), reason);
  if (has_options) choice.note += fmt::format("; the options of {} in the file are left out", candidate.method);
  return choice;
}

}  // namespace entrain
