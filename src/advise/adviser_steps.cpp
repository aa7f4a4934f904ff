// What the adviser concludes of the step.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "advise/adviser.hpp"
#include "advise/candidates.hpp"
#include "advise/choose_method.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "verify/verification.hpp"

namespace entrain::advising {
namespace {

/// Rms of the worst output relative to its range in the finest run; nullopt when the runs show none of them. What moves
/// next to nothing decides nothing.
std::optional<double> worst_of(const Verification& runs) {
  std::optional<double> worst;
  for (const auto& output : runs.outputs) {
    if (output.verdict == OutputVerdict::NotSeen) continue;
    if (!worst) worst = 0.0;
    if (output.verdict == OutputVerdict::Negligible) continue;
    worst = std::max(*worst, output.rms_error / (output.range > 0.0 ? output.range : 1.0));
  }
  return worst;
}

}  // namespace

/// The longest step that keeps the tolerance, by powers of two around the one asked for, or of those that fit: as
/// forecast, then in runs.
void Adviser::choose_step() {
  if (!advice_.choice) return;
  const auto& best = advice_.candidates[*advice_.choice];
  if (!best.error || best.probed_error) {
    choose_step_by_runs();
    return;
  }
  constexpr double kFewestSteps = 20.0;
  constexpr int kPowers = 10;
  constexpr int kMostRefused = 8;
  const Duration longest = whole_run() / kFewestSteps;
  std::vector<Duration> steps = fitting_steps(imposed_, std::ldexp(advice_.step, -kPowers), longest);
  if (imposed_.empty()) {
    for (int k = -kPowers; k <= kPowers; ++k) steps.push_back(std::ldexp(advice_.step, k));
  }
  std::erase_if(steps, [&](Duration step) { return step > longest; });
  if (steps.empty()) return;
  int refused = 0;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    try {
      const auto forecast = forecast_of(best).forecast(*pilot_.path, *step);
      if (!forecast->harmless() || !(forecast->error <= settings_.tolerance)) continue;
      if (confirm(*step, forecast->error)) return;
    } catch (const Error&) {  // singular coupling equations at just this step, or a part of it that no run can make
      continue;
    }
    if (++refused == kMostRefused) {
      remark(
          {FactCode::NoStepKeepsForecast, {best.title()}, {{"step", *step, "s"}, {"tolerance", settings_.tolerance}}});
      return;
    }
  }
  remark({FactCode::NoStepKeepsTolerance,
          {best.title()},
          {{"step", steps.front(), "s"}, {"tolerance", settings_.tolerance}}});
}

/// Where errors are measured: the step asked for, or the next shorter ones, if runs show that it keeps the tolerance.
void Adviser::choose_step_by_runs() {
  constexpr int kHalvings = 2;
  constexpr double kMostSteps = 1e5;  // of all subsystems in a run: runs at h, h/2 and h/4 would take too long
  const auto& best = advice_.candidates[*advice_.choice];
  if (has_own_steps(best)) {
    remark({FactCode::NoStepOwnSteps, {best.title()}});
    return;
  }
  const auto subsystems = static_cast<double>(prepared_.system->size());
  Duration step = advice_.step;
  for (int k = 0; k <= kHalvings; ++k) {
    step = nearest_fitting(imposed_, std::ldexp(advice_.step, -k));
    if (subsystems * whole_run() / step > kMostSteps) {
      remark({FactCode::NoStepTooLong, {}, {{"step", step, "s"}}});
      return;
    }
    try {
      if (confirm(step, std::nullopt)) return;
    } catch (const Error& error) {
      remark({FactCode::StepNotConfirmed, {}, {{"step", step, "s"}, {"why", error.what()}}});
    }
  }
  remark({FactCode::NoStepShown,
          {},
          {{"longest", advice_.step, "s"}, {"step", step, "s"}, {"tolerance", settings_.tolerance}}});
}

/// At a step that is too long for every method they differ little: they are compared where the best of them is
/// accurate.
void Adviser::choose_at_smaller_steps() {
  if (!advice_.choice || !all_forecast() || advice_.candidates[*advice_.choice].probed_error) return;
  constexpr int kQuarters = 5;
  const auto before = *advice_.choice;
  for (int k = 1; k <= kQuarters; ++k) {
    const Duration step = std::ldexp(advice_.step, -2 * k);
    double least = settings_.tolerance;
    for (std::size_t i = 0; i < advice_.candidates.size(); ++i) {
      const auto& candidate = advice_.candidates[i];
      if (!candidate.error || !candidate.obstacles.empty() || !(candidate.equal_cost_step > 0.0)) continue;
      try {
        const double cost = candidate.equal_cost_step / advice_.step;
        const auto forecast = forecast_of(candidate).forecast(*pilot_.path, nearest_fitting(imposed_, step * cost));
        if (!forecast->harmless() || !(forecast->error < least)) continue;
        least = forecast->error;
        advice_.choice = i;
      } catch (const Error&) {  // coupling equations that are singular at just this step
        continue;
      }
    }
    if (!(least < settings_.tolerance)) continue;
    advice_.match.reset();  // that was at the step asked for
    advice_.reasons = {
        {FactCode::BetterAtSmallerStep,
         {advice_.candidates[*advice_.choice].title()},
         {{"step", advice_.step, "s"}, {"tolerance", settings_.tolerance}, {"smaller", step, "s"}, {"error", least}}}};
    choose_step();
    if (!advice_.recommended_step) advice_.choice = before;
    return;
  }
}

/// A nonlinear system does not keep to its linearizations when the step is long, and a subsystem need not integrate as
/// exactly as a forecast assumes: runs decide. Takes the step when they let it pass. Throws Error when a part of it
/// does not fit an imposed one.
bool Adviser::confirm(Duration step, std::optional<double> forecast) {
  constexpr double kSurprise = 3.0;
  auto description = with_config(methods_, description_, advice_.candidates[*advice_.choice]);
  description.record = {};
  description.step = {step, {}};
  const auto result = verifying::verify_chosen(description, {}, extensions_);
  const auto measured = worst_of(result);
  const bool sound = result.doubts.empty() && std::all_of(result.outputs.begin(), result.outputs.end(),
                                                          [](const OutputVerification& of) { return of.sound(); });
  if (result.failure || !sound || !measured || !(*measured <= settings_.tolerance)) return false;
  advice_.recommended_step = step;
  if (!result.unrefined.empty()) {
    Fact& agreed =
        advice_.reasons.emplace_back(Fact{FactCode::StepConfirmedInPart, result.unrefined, {{"error", *measured}}});
    if (forecast) agreed.values.emplace_back("forecast", *forecast);
    return true;
  }
  Fact& confirmed = advice_.reasons.emplace_back(Fact{FactCode::StepConfirmed, {}, {{"error", *measured}}});
  if (forecast && *measured > kSurprise * *forecast) {
    confirmed.code = FactCode::StepConfirmedAbove;
    confirmed.values.emplace_back("forecast", *forecast);
  }
  return true;
}

/// Methods that only the macro step keeps from running: one that every imposed step divides would do.
void Adviser::report_missing_step() {
  constexpr double kFewestSteps = 20.0;
  if (imposed_.empty()) return;
  auto settings = prepared_.settings;
  settings.step = length_of(1.0);
  if (settings.step * kFewestSteps > whole_run()) return;
  std::vector<std::string> more;
  for (const auto& there : candidates_for(methods_, *prepared_.system, settings)) {
    const bool here = std::any_of(advice_.candidates.begin(), advice_.candidates.end(), [&](const Candidate& of) {
      return of.method == there.method && of.obstacles.empty();
    });
    const bool listed = std::find(more.begin(), more.end(), there.method) != more.end();
    if (there.obstacles.empty() && !here && !listed) more.push_back(there.method);
  }
  if (more.empty()) return;
  advice_.missing.push_back({FactCode::CommonStepMissing,
                             {},
                             {{"step", settings.step, "s"}, {"methods", fmt::format("{}", fmt::join(more, " and "))}}});
}

}  // namespace entrain::advising
