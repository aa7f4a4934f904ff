// What the adviser concludes: the choice, and a closer look at it.

#include <algorithm>
#include <cmath>
#include <limits>

#include "advise/adviser.hpp"
#include "advise/candidates.hpp"
#include "advise/choose_method.hpp"
#include "advise/parameter_study.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::advising {

/// The numbers of those of which something is known, the best first.
std::vector<std::size_t> Adviser::ranking() const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < advice_.candidates.size(); ++i) {
    const auto& candidate = advice_.candidates[i];
    if (!candidate.obstacles.empty() || !candidate.merit() || !std::isfinite(*candidate.merit())) continue;
    order.push_back(i);
  }
  // However small the error over the run: what grows comes last.
  const auto key = [&](std::size_t i) {
    const auto& of = advice_.candidates[i];
    return std::pair(of.radius.has_value() && !of.harmless, *of.merit());
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

void Adviser::choose() {
  const auto order = ranking();
  if (order.empty()) {
    choose_undemanding();
    return;
  }
  advice_.choice = best_of_alike(order);
  const auto& best = advice_.candidates[*advice_.choice];
  const char* basis = best.probed_error       ? "error at equal cost"
                      : best.equal_cost_error ? "forecast error at equal cost"
                                              : "forecast error";
  Fact reason{FactCode::SmallestError, {best.title()}, {{"basis", basis}, {"error", *best.merit()}}};
  if (best.probed_error) reason.values.emplace_back("length", runs_->length(), "s");
  if (*advice_.choice != order.front()) {
    const auto& first = advice_.candidates[order.front()];
    reason.subjects = {first.title()};
    reason.values.emplace_back("other", *first.merit());
    if (best.probed_defect) {
      reason.code = FactCode::SmallErrorAndDefect;
      reason.values.emplace_back("defect", *best.probed_defect);
      reason.values.emplace_back("other_defect", *first.probed_defect);
    } else {
      reason.code = FactCode::SmallErrorAndForecast;
      reason.values.emplace_back("coupling", *best.equal_cost_error);
      reason.values.emplace_back("other_coupling", *first.equal_cost_error);
    }
    advice_.reasons = {std::move(reason)};
  } else {
    advice_.reasons = {std::move(reason)};
    if (order.size() > 1) {
      const auto& next = advice_.candidates[order[1]];
      advice_.reasons.push_back({FactCode::NextBest, {next.title()}, {{"error", *next.merit()}}});
    }
  }
  if (advice_.match) take_match_into_account(best);
}

void Adviser::take_match_into_account(const Candidate& best) {
  const auto& match = *advice_.match;
  // Below the doubt it is the reference that is measured.
  Fact compared{FactCode::EqualCostRuns,
                {advice_.candidates[match.candidate].title(), best.title()},
                {{"length", match.length, "s"},
                 {"error", std::max(match.error, match.doubt)},
                 {"step", match.rival_step, "s"},
                 {"other", std::max(match.rival_error, match.doubt)}}};
  if (!(match.error > match.doubt)) compared.values.emplace_back("at_most", 1);
  if (!(match.rival_error > match.doubt)) compared.values.emplace_back("other_at_most", 1);
  if (match.won()) {
    compared.values.emplace_back("won", 1);
    advice_.choice = match.candidate;
    advice_.reasons.clear();
  }
  advice_.reasons.push_back(std::move(compared));
}

/// The best, or one that is nearly as good in short runs and better in what these do not show: with imposed steps,
/// which all of them have in common, the defect of what is handed over for them; else the forecast of the coupling
/// where the errors that subsystems make by themselves hide it.
std::size_t Adviser::best_of_alike(const std::vector<std::size_t>& order) const {
  const auto& best = advice_.candidates[order.front()];
  const bool by_defect = best.probed_defect.has_value();
  if (!best.probed_error || (!by_defect && !best.equal_cost_error)) return order.front();
  const double alike = by_defect ? 2.0 : 1.25;
  const auto hidden = [&](std::size_t i) {
    const auto& of = advice_.candidates[i];
    return (by_defect ? of.probed_defect : of.equal_cost_error).value_or(std::numeric_limits<double>::infinity());
  };
  std::size_t chosen = order.front();
  for (const std::size_t i : order) {
    const auto& of = advice_.candidates[i];
    if (!of.probed_error || *of.probed_error > alike * *best.probed_error) continue;
    if (hidden(i) < 0.5 * hidden(chosen)) chosen = i;
  }
  return chosen;
}

/// Where one method is as good as another: the first that can.
void Adviser::choose_plainest(const Fact& why) {
  const auto plainest = std::find_if(advice_.candidates.begin(), advice_.candidates.end(), [](const Candidate& of) {
    return of.obstacles.empty() && of.calls_per_step.has_value();
  });
  if (plainest == advice_.candidates.end()) {
    choose_undemanding();
    return;
  }
  advice_.choice = static_cast<std::size_t>(plainest - advice_.candidates.begin());
  advice_.reasons = {why};
}

/// Where nothing is known of any: one that asks nothing of the subsystems and chooses its steps, if it comes through.
void Adviser::choose_undemanding() {
  const auto& candidates = advice_.candidates;
  const auto find = [&](bool undemanding) {
    return std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& of) {
      return of.obstacles.empty() && of.calls_per_step && has_own_steps(of) == undemanding;
    });
  };
  const auto chosen = find(true);
  const auto other = find(false);
  if (chosen == candidates.end() && other == candidates.end()) {
    advice_.reasons = {{FactCode::NoMethodCompleted}};
    for (const auto& candidate : candidates) {
      if (advice_.remarks.empty() && !candidate.obstacles.empty()) {
        remark(candidate.obstacles.front());
      }
    }
    return;
  }
  const std::vector<FactValue> run{{"length", runs_->length(), "s"}, {"step", advice_.step, "s"}};
  if (chosen == candidates.end() || !runs_->refine(*chosen, advice_.step)) {
    advice_.reasons = {{FactCode::NoMethodFinite, {}, run}};
    return;
  }
  advice_.choice = static_cast<std::size_t>(chosen - candidates.begin());
  const auto hindered =
      std::find_if(candidates.begin(), candidates.end(), [](const Candidate& of) { return !of.obstacles.empty(); });
  if (other != candidates.end()) {
    advice_.reasons = {{FactCode::OnlyOwnSteps, {chosen->title()}, run}};
  } else if (hindered != candidates.end()) {
    advice_.reasons = {{FactCode::NoOtherMethod, {}, {{"why", render(hindered->obstacles.front())}}}};
  } else {
    advice_.reasons = {{FactCode::NoOtherCompleted}};
  }
}

/// Growth is reported, and an error as large as the signals is no recommendation.
void Adviser::doubt_the_choice() {
  bool any_stable = false;
  bool any_step = false;
  bool any_known = false;
  for (const auto& candidate : advice_.candidates) {
    if (!candidate.radius || !candidate.obstacles.empty()) continue;
    any_known = true;
    any_stable = any_stable || candidate.harmless;
    any_step = any_step || !candidate.steps_searched || !candidate.stable_steps.empty();
  }
  if (any_known && !any_stable) {
    Fact grows{FactCode::GrowsWithEveryMethod};
    if (!any_step) grows.values.emplace_back("smallest", advice_.step / 64.0, "s");
    remark(std::move(grows));
  }
  if (!advice_.choice || advice_.recommended_step) return;
  const auto& best = advice_.candidates[*advice_.choice];
  // By so much rounding grows to the size of the signals.
  constexpr double kHopeless = 1e15;
  constexpr double kUseless = 0.5;
  const bool grows = best.radius && !best.stable && best.stable_steps.empty() &&
                     std::log(*best.radius) * whole_run() / advice_.step > std::log(kHopeless);
  if (grows) {
    advice_.reasons = {{FactCode::GrowsAtEveryStep, {best.title()}, {{"radius", *best.radius}}}};
  } else if (best.merit() && *best.merit() >= kUseless) {
    advice_.reasons = {
        {FactCode::BestIsUseless, {best.title()}, {{"error", *best.merit()}, {"step", advice_.step, "s"}}}};
  } else {
    return;
  }
  advice_.choice.reset();
}

/// Measures of the choice, or of the best explicit config where the choice has none.
void Adviser::add_measures() {
  if (advice_.operating_points == 0) {
    if (!settings_.parameters.empty()) {
      remark({FactCode::NoParameterLimits});
    }
    return;
  }
  std::vector<std::size_t> order = ranking();
  if (advice_.choice) order.insert(order.begin(), *advice_.choice);
  const auto judged = std::find_if(order.begin(), order.end(), [&](std::size_t i) {
    return forecast_of(advice_.candidates[i]).has_stages() && advice_.candidates[i].radius;
  });
  try {
    if (!settings_.parameters.empty()) {
      const auto known = std::find_if(order.begin(), order.end(),
                                      [&](std::size_t i) { return advice_.candidates[i].radius.has_value(); });
      const ParameterStudy study(description_, extensions_, prepared_, settings_.parameters);
      if (known != order.end()) {
        advice_.parameters = study.limits(advice_.candidates[*known], sequence_, advice_.step);
        for (auto& of : advice_.parameters) {
          of.config = advice_.candidates[*known].title();
          of.step = advice_.step;
        }
        advice_.joint_factor = study.joint_factor(advice_.candidates[*known], sequence_, advice_.step);
        if (settings_.curves && settings_.parameters.size() > 1) {
          advice_.heat = study.heat(advice_.candidates[*known], sequence_, advice_.step);
        }
      }
    }
    if (judged != order.end()) {
      advice_.robustness = robustness_of(advice_.candidates[*judged], linearized_run());
      advice_.robustness->candidate = *judged;
    }
    if (!settings_.curves || !imposed_.empty()) return;
    for (const auto& candidate : advice_.candidates) {
      if (!candidate.error || !candidate.obstacles.empty()) continue;
      advice_.curves.push_back(curve_of(candidate, linearized_run(), whole_run()));
    }
    if (!advice_.heat && judged != order.end() && !advice_.curves.empty()) {
      auto sequential = advice_.candidates[*judged];
      sequential.method = methods_.first([](const MethodTraits& of) { return !of.knobs.gains.empty(); }).name;
      advice_.heat = heat_over_gain(sequential, linearized_run(), whole_run());
    }
  } catch (const Error& error) {
    if (!error.problems().empty()) throw;  // a parameter that is not there
    remark_failure(FactCode::ForecastFailed, error);
  }
}

}  // namespace entrain::advising
