#include "advise/choose_method.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "advise/brief_check.hpp"
#include "advise/candidates.hpp"
#include "advise/linearized_run.hpp"
#include "advise/method_kinds.hpp"
#include "advise/pilot.hpp"
#include "coupling/trial_kind.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/system.hpp"
#include "methods/registry.hpp"
#include "session/prepare.hpp"

namespace entrain::advising {
namespace {

struct Chosen {
  Candidate candidate;
  std::vector<Fact> reasons;
};

bool eligible(const Candidate& candidate) {
  return candidate.obstacles.empty();
}

/// What may be chosen, and the registry it comes from.
struct Choices {
  const method::MethodRegistry& methods;
  std::vector<Candidate> candidates;

  const MethodTraits& traits(const Candidate& of) const { return methods.traits(of.method); }
  /// The first usable one; nullptr if there is none.
  const Candidate* find(MethodKind kind, int degree = 0) const {
    const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& of) {
      return eligible(of) && kind(traits(of)) && of.degree.value_or(0) == degree;
    });
    return found == candidates.end() ? nullptr : &*found;
  }
  /// What prevents methods of a kind from running the system, as a reason of the given code.
  Fact obstacle(FactCode code, MethodKind kind) const {
    const auto found = std::find_if(candidates.begin(), candidates.end(),
                                    [&](const Candidate& of) { return kind(traits(of)) && !of.obstacles.empty(); });
    if (found == candidates.end()) return {code, {}, {{"why", "there is no such method"}}};
    const Fact& first = found->obstacles.front();
    return {code, first.subjects, {{"of", name_of(first.code)}, {"why", render(first)}}};
  }
};

/// A forecast; nullopt where there is none, be it that the coupling equations are singular at just this step.
std::optional<analysis::Forecast> forecast_at(const Candidate& candidate, const LinearizedRun& linearized,
                                              Duration step) {
  try {
    const auto forecast = linearized.of(candidate).forecast(linearized.path, step);
    return forecast && std::isfinite(forecast->error) ? forecast : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Of a choice with a large forecast error: how large, and whether a smaller step corrects it.
void add_outlook(Fact& reason, const Candidate& candidate, const analysis::Forecast& here,
                 const LinearizedRun& linearized, const std::vector<Duration>& imposed) {
  constexpr double kLarge = 0.1;
  constexpr int kMostHalvings = 10;
  const auto does = [&](const analysis::Forecast& forecast) { return forecast.harmless() && forecast.error <= kLarge; };
  if (does(here)) return;
  reason.values.emplace_back(here.harmless() ? "large" : "grows", 1);
  Duration step = linearized.step;
  for (int k = 1; k <= kMostHalvings; ++k) {
    step = nearest_fitting(imposed, std::ldexp(linearized.step, -k));
    const auto finer = forecast_at(candidate, linearized, step);
    if (!finer || !does(*finer)) continue;
    reason.values.insert(reason.values.end(), {{"better_step", step, "s"}, {"better_error", finer->error}});
    return;
  }
  reason.values.emplace_back("smallest_step", step, "s");
}

/// A forecast assumes exact subsystems; a brief run shows whether they are.
void add_check(Fact& reason, const Candidate& candidate, const LinearizedRun& linearized, BriefCheck check) {
  constexpr double kSurprise = 3.0;
  constexpr double kNegligible = 1e-6;
  const auto measured = check.error(candidate);
  if (!measured) {
    reason.values.emplace_back("unchecked", 1);
    if (linearized.path.points.size() > 1) reason.values.emplace_back("nonlinear", 1);
    return;
  }
  analysis::RunPath part = linearized.path;
  part.stop = part.points.front().time + check.length();
  std::erase_if(part.points, [&](const analysis::OperatingPoint& point) { return point.time >= part.stop; });
  const auto forecast =
      forecast_at(candidate, {linearized.methods, part, linearized.found, linearized.step}, linearized.step);
  if (!forecast || *measured <= std::max(kNegligible, kSurprise * forecast->error)) return;
  reason.values.insert(
      reason.values.end(),
      {{"measured", *measured}, {"measured_over", check.length(), "s"}, {"measured_forecast", forecast->error}});
}

/// By the forecast errors, each at the step that costs as much as the others.
std::optional<Chosen> by_forecast(const Choices& choices, const LinearizedRun& linearized, Duration seen,
                                  const BriefCheck& check) {
  std::vector<Duration> imposed;
  for (const auto& subsystem : linearized.path.points.front().network.subsystems) {
    if (subsystem.capabilities.imposed_step) imposed.push_back(*subsystem.capabilities.imposed_step);
  }
  const Candidate* best = nullptr;
  std::optional<analysis::Forecast> best_here;
  std::pair least{true, std::numeric_limits<double>::infinity()};  // what grows comes last
  for (const auto& candidate : choices.candidates) {
    const auto here = eligible(candidate) ? forecast_at(candidate, linearized, linearized.step) : std::nullopt;
    if (!here) continue;
    const auto equal_cost = forecast_at(
        candidate, linearized, nearest_fitting(imposed, linearized.step * choices.traits(candidate).calls_per_step));
    if (!equal_cost) continue;
    const std::pair merit{!here->harmless(), equal_cost->error};
    if (!(merit < least)) continue;
    least = merit;
    best = &candidate;
    best_here = here;
  }
  if (best == nullptr) return std::nullopt;
  Fact reason{FactCode::SmallestForecastError,
              {},
              {{"seen", seen, "s"}, {"error", best_here->error}, {"radius", best_here->radius}}};
  add_check(reason, *best, linearized, check);
  add_outlook(reason, *best, *best_here, linearized, imposed);
  return Chosen{*best, {std::move(reason)}};
}

/// Whose trials are estimates, and not of what it does at events or between times of its own.
std::optional<Fact> against_iterations(CoupledSystem& system) {
  for (std::size_t s = 0; s < system.size(); ++s) {
    const auto& can = system.capabilities(SubsystemId{s});
    if (coupling::natural_trial_kind(can) == coupling::TrialKind::Rollback) continue;
    const auto& name = system.graph().name(SubsystemId{s});
    const Equations* equations = system.facets(SubsystemId{s}).equations;
    if (can.imposed_step || (equations != nullptr && equations->event_indicator_count() > 0)) {
      return Fact{FactCode::CannotBeTakenBack, {name}};
    }
  }
  return std::nullopt;
}

/// By capabilities, and a brief run where it costs next to nothing.
Chosen by_rules(const Choices& choices, CoupledSystem& system, const Fact& why_no_forecast, BriefCheck check) {
  const auto* linear = choices.find(is_sequential, 1);
  if (linear != nullptr && acts_one_way(system.graph())) {
    return {*linear, {why_no_forecast, {FactCode::ActsOneWay}}};
  }
  const auto* iterative = choices.find(is_iterative);
  auto against =
      iterative == nullptr ? choices.obstacle(FactCode::MethodObstacle, is_iterative) : against_iterations(system);
  if (!against && linear != nullptr && !check.agree(*linear, *iterative).value_or(true)) {
    against =
        Fact{FactCode::IterationsDisagree, {iterative->title(), linear->title()}, {{"length", check.length(), "s"}}};
  }
  if (iterative != nullptr && !against) {
    return {*iterative, {why_no_forecast, {FactCode::IterationsPossible}}};
  }
  if (linear != nullptr) {
    std::vector<Fact> reasons{why_no_forecast};
    // One obstacle may concern both.
    const bool same = !against->text("why").empty() && against->text("why") == why_no_forecast.text("why");
    if (!same) reasons.push_back(*against);
    reasons.push_back({FactCode::InputsContinuedLinearly});
    return {*linear, std::move(reasons)};
  }
  return {*choices.find(is_asynchronous), {choices.obstacle(FactCode::NoOtherMethod, is_plain)}};
}

Chosen choose(const SystemDescription& description, session::Prepared& look, const Extensions& extensions) {
  CoupledSystem& system = *look.system;
  const method::MethodRegistry methods(extensions);
  const Choices choices{methods, candidates_for(methods, system, look.settings)};
  const auto* plain = choices.find(is_plain);
  if (const auto why = nothing_to_couple(description, system.graph()); why && plain != nullptr) return {*plain, {*why}};
  const auto rules = [&](const Fact& why) {
    return by_rules(choices, system, why, BriefCheck(description, extensions));
  };
  const auto* estimating = choices.find(is_estimating);
  if (estimating == nullptr) {
    return rules(choices.obstacle(FactCode::NoPilotRun, is_estimating));
  }
  for (std::size_t s = 0; s < system.size(); ++s) {
    if (system.capabilities(SubsystemId{s}).linearization) continue;
    return rules({FactCode::NoLinearization, {system.graph().name(SubsystemId{s})}});
  }
  // A forecast costs the cube of this; beyond, it would take more than the run deserves.
  constexpr std::size_t kMostSignals = 60;
  const std::size_t signals = system.states() + system.graph().outputs() + system.graph().inputs();
  if (signals > kMostSignals) {
    return {*estimating, {{FactCode::TooManySignals, {}, {{"signals", signals}}}}};
  }
  constexpr double kShare = 0.02;
  const auto pilot_method = methods.make(estimating->method);
  auto pilot = run_pilot(system, *pilot_method, look.settings, {.share = kShare, .points = 2});
  if (!pilot.path) return rules(pilot.obstacles.front());
  if (pilot.failed) return rules(pilot.remarks.front());
  if (!pilot.driven.empty()) {
    return {*estimating, {pilot.driven.front(), {FactCode::LinearizationUsed}}};
  }
  if (!pilot.rates_known) return rules({FactCode::RatesUnknown});
  pilot.path->ranges = analysis::ranges_along(*pilot.path);
  const auto sequence = found_sequence(system);
  std::map<std::string, double> ranges;
  for (std::size_t y = 0; y < pilot.path->ranges.size(); ++y) {
    ranges[system.graph().name(OutputId{y})] = pilot.path->ranges[y];
  }
  const auto chosen = by_forecast(choices, {methods, *pilot.path, sequence, look.settings.step},
                                  kShare * (look.settings.stop - look.settings.start),
                                  BriefCheck(description, extensions, std::move(ranges)));
  return chosen ? *chosen : rules({FactCode::NoErrorForecast});
}

}  // namespace

SystemDescription to_look_at(SystemDescription description) {
  if (description.method.value == method::kAuto)
    description.method.value = method::built_in_methods().undemanding().name;
  return description;
}

MethodChoice choose_method(const SystemDescription& written, const Extensions& extensions) {
  if (written.method.value != method::kAuto) return {written, std::nullopt, {}};
  MethodChoice choice{to_look_at(written), std::nullopt, {}};
  std::vector<Problem> problems;
  session::Prepared look = session::prepare(choice.description, 1, extensions, problems);
  if (!look.system) return choice;
  Chosen chosen;
  try {
    chosen = choose(resolved(choice.description, extensions), look, extensions);
  } catch (const Error& error) {  // an initialisation or a loop that fails: the run will report it, with all details
    choice.note = {FactCode::MethodNotChosen, {choice.description.method.value}, {{"why", error.what()}}};
    return choice;
  }
  const auto& candidate = chosen.candidate;
  const auto options = choice.description.method_options.find(candidate.method);
  const bool has_options = options != choice.description.method_options.end() && !options->second.empty();
  choice.description = with_config(method::MethodRegistry(extensions), std::move(choice.description), candidate);
  std::vector<std::string_view> codes;
  std::vector<std::string> subjects{candidate.title()};
  for (const Fact& reason : chosen.reasons) {
    codes.push_back(name_of(reason.code));
    subjects.insert(subjects.end(), reason.subjects.begin(), reason.subjects.end());
  }
  choice.note = {FactCode::MethodChosen,
                 std::move(subjects),
                 {{"why", render(chosen.reasons, "; ")}, {"reasons", fmt::format("{}", fmt::join(codes, " "))}}};
  if (has_options) choice.note->values.emplace_back("options_of", candidate.method);
  choice.reasons = std::move(chosen.reasons);
  return choice;
}

}  // namespace entrain::advising
