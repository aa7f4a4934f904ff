// What the adviser concludes: the choice, and a closer look at it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "advise/adviser.hpp"
#include "advise/candidates.hpp"
#include "advise/choose_method.hpp"
#include "advise/parameter_study.hpp"
#include "entrain/error.hpp"

namespace entrain {

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
  const std::string basis = best.probed_error
                                ? fmt::format("error at equal cost, measured over {:.3g} s", runs_->length())
                            : best.equal_cost_error ? "foretold error at equal cost"
                                                    : "foretold error";
  advice_.reason = fmt::format("smallest {}: {:.2g} of the range of the worst output", basis, *best.merit());
  if (*advice_.choice != order.front()) {
    const auto& first = advice_.candidates[order.front()];
    advice_.reason = fmt::format("{}: {:.2g} of the range of the worst output, hardly more than {} with {:.2g}; but ",
                                 basis, *best.merit(), first.title(), *first.merit());
    advice_.reason += best.probed_defect
                          ? fmt::format(
                                "the inputs of those who impose their steps, which no run refines, are {:.2g} of "
                                "their range from their sources instead of {:.2g}",
                                *best.probed_defect, *first.probed_defect)
                          : fmt::format("of what the coupling adds {:.2g} is foretold instead of {:.2g}",
                                        *best.equal_cost_error, *first.equal_cost_error);
  } else if (order.size() > 1) {
    const auto& next = advice_.candidates[order[1]];
    advice_.reason += fmt::format("; next is {} with {:.2g}", next.title(), *next.merit());
  }
  if (!advice_.match) return;
  const auto& match = *advice_.match;
  const auto by = [&](double error) {  // below the doubt it is the reference that is measured
    return error > match.doubt ? fmt::format("{:.2g}", error) : fmt::format("at most {:.2g}", match.doubt);
  };
  const auto compared = fmt::format(
      "in runs of equal cost over {:.3g} s {} errs by {} of the range of the worst output, {} (step {:.3g} s) by {}",
      match.length, advice_.candidates[match.candidate].title(), by(match.error), best.title(), match.rival_step,
      by(match.rival_error));
  if (match.won()) {
    advice_.choice = match.candidate;
    advice_.reason = compared + ", the best of the others";
  } else {
    advice_.reason += "; " + compared;
  }
}

/// The best, or one that is nearly as good in short runs and better in what these do not show: with imposed steps,
/// which all of them have in common, the defect of what is handed over for them; else what is foretold of the coupling
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
void Adviser::choose_plainest(const std::string& why) {
  const auto plainest = std::find_if(advice_.candidates.begin(), advice_.candidates.end(), [](const Candidate& of) {
    return of.obstacles.empty() && of.calls_per_step.has_value();
  });
  if (plainest == advice_.candidates.end()) {
    choose_undemanding();
    return;
  }
  advice_.choice = static_cast<std::size_t>(plainest - advice_.candidates.begin());
  advice_.reason = why;
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
    advice_.reason = "no method completed a brief run; see the remarks";
    for (const auto& candidate : candidates) {
      if (advice_.remarks.empty() && !candidate.obstacles.empty()) remark(candidate.obstacles.front());
    }
    return;
  }
  const auto runs =
      fmt::format("comes through {:.3g} s with numbers at a step of {:.3g} s", runs_->length(), advice_.step);
  if (chosen == candidates.end() || !runs_->refine(*chosen, advice_.step)) {
    advice_.reason = "no method " + runs;
    return;
  }
  advice_.choice = static_cast<std::size_t>(chosen - candidates.begin());
  const auto hindered =
      std::find_if(candidates.begin(), candidates.end(), [](const Candidate& of) { return !of.obstacles.empty(); });
  advice_.reason = other != candidates.end() ? fmt::format("no other {}; {} chooses its own", runs, chosen->title())
                   : hindered != candidates.end() ? "no other method can: " + hindered->obstacles.front()
                                                  : "no other method completed a brief run";
}

/// What grows is said, and an error as large as the signals is no recommendation.
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
    remark(any_step ? "at this step the coupling grows with every method of which it can be foretold"
                    : fmt::format("the coupling grows with every method of which it can be foretold, "
                                  "at every step from {:.3g} s on: it is unstable",
                                  advice_.step / 64.0));
  }
  if (!advice_.choice || advice_.recommended_step) return;
  const auto& best = advice_.candidates[*advice_.choice];
  // By so much rounding grows to the size of the signals.
  constexpr double kHopeless = 1e15;
  constexpr double kUseless = 0.5;
  const bool grows = best.radius && !best.stable && best.stable_steps.empty() &&
                     std::log(*best.radius) * whole_run() / advice_.step > std::log(kHopeless);
  if (grows) {
    advice_.reason = fmt::format(
        "it grows at every step; with the best, {}, a disturbance is multiplied by {:.4g} in every macro step",
        best.title(), *best.radius);
  } else if (best.merit() && *best.merit() >= kUseless) {
    advice_.reason =
        fmt::format("the best, {}, errs by {:.2g} times the range of the worst output at a step of {:.3g} s",
                    best.title(), *best.merit(), advice_.step);
  } else {
    return;
  }
  advice_.choice.reset();
}

/// Measures of the choice, or of the best explicit config where the choice has none.
void Adviser::look_closer() {
  if (advice_.operating_points == 0) {
    if (!settings_.parameters.empty()) {
      remark("no limits of parameters: no step matrix is known");
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
    remark(error.what());
  }
}

}  // namespace entrain
