// What the adviser concludes: runs where nothing is foretold, the choice, its step, and a closer look at it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "entrain/error.hpp"
#include "facade/adviser.hpp"
#include "facade/candidates.hpp"
#include "facade/choose_method.hpp"
#include "facade/parameter_study.hpp"
#include "facade/verification.hpp"

namespace entrain {

/// Long enough to see what is announced and what moves: 200 macro steps, as many behind the first event, and until
/// every output has covered a tenth of its range.
Duration Adviser::time_to_probe() {
  constexpr double kSteps = 200.0;
  CoupledSystem& system = *prepared_.system;
  Time event = kNever;
  try {
    system.initialize(advice_.start, advice_.stop);
    for (std::size_t s = 0; s < system.size(); ++s) {
      event = std::min(event, system.next_event(SubsystemId{s}, advice_.start));
    }
  } catch (const Error& error) {
    advice_.remarks.emplace_back(error.what());
  }
  const Duration before = std::max(event < advice_.stop ? event - advice_.start : 0.0, pilot_.lively - advice_.start);
  const double unit = std::max(advice_.step, longest_imposed_step());
  const Duration length = length_of(std::max(kSteps, before / unit + (event < advice_.stop ? kSteps : 0.0)));
  return std::min(length, whole_run());
}

/// Without a linear picture of everybody: all are run briefly at equal cost, against one of them with finer steps.
void Adviser::probe() {
  const Candidate* reference = nullptr;
  // Explicit ways first: who iterates on estimates can settle, at every step, on a motion that a subsystem does not
  // make.
  for (const auto& way : {std::pair{"jacobi", 1}, {"jacobi", 0}, {"missiles", 0}, {"ifosmondi", 0}}) {
    const auto finest = std::find_if(advice_.candidates.begin(), advice_.candidates.end(), [&](const Candidate& of) {
      return of.method == way.first && of.degree == way.second && of.obstacles.empty() && of.calls_per_step;
    });
    if (finest == advice_.candidates.end() || !runs_->refine(*finest, advice_.step)) continue;
    reference = &*finest;
    break;
  }
  has_reference_ = reference != nullptr;
  if (!has_reference_) return;
  constexpr double kClear = 4.0;  // times the doubt: below, it is the reference that is measured
  probe_those_below(std::numeric_limits<double>::infinity());
  const auto order = ranking();
  if (order.empty() || *advice_.candidates[order.front()].merit() > kClear * runs_->doubt()) return;
  const auto& best = advice_.candidates[order.front()];
  const double contenders = kClear * *best.merit();
  if (&best != reference && runs_->refine(best, advice_.step)) probe_those_below(contenders);
}

void Adviser::probe_those_below(double error) {
  for (auto& candidate : advice_.candidates) {
    if (!candidate.obstacles.empty() || !candidate.calls_per_step || candidate.method == kUndemanding) continue;
    if (candidate.probed_error && *candidate.probed_error > error) continue;
    const Duration step =
        candidate.equal_cost_step > 0.0 ? nearest_fitting(imposed_, candidate.equal_cost_step) : advice_.step;
    const auto outcome = runs_->error(candidate, step);
    candidate.probed_error.reset();
    if (outcome) candidate.probed_error = std::max(outcome->error, runs_->doubt());
  }
}

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
    return std::pair(of.radius.has_value() && !of.stable, *of.merit());
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

/// Nothing is foretold of a method with steps of its own: it runs against the best of the others, at its own cost.
void Adviser::match() {
  const auto order = ranking();
  const auto own = std::find_if(advice_.candidates.begin(), advice_.candidates.end(), [](const Candidate& of) {
    return of.method == kUndemanding && of.obstacles.empty() && of.calls_per_step;
  });
  if (order.empty() || own == advice_.candidates.end()) return;
  const auto& rival = advice_.candidates[order.front()];
  if (!rival.calls_per_step) return;
  constexpr double kFewest = 8.0;  // steps of the rival in the run
  try {
    if (!has_reference_) {
      const Duration step =
          rival.equal_cost_step > 0.0 ? nearest_fitting(imposed_, rival.equal_cost_step) : advice_.step;
      has_reference_ = runs_->refine(rival, std::min(step, runs_->length() / kFewest));
    }
    const auto ours = has_reference_ ? runs_->error(*own, advice_.step) : std::nullopt;
    if (!ours) return;
    const Duration equal =
        nearest_fitting(imposed_, std::min(*rival.calls_per_step / ours->calls, runs_->length() / kFewest));
    const auto theirs = runs_->error(rival, equal);
    advice_.match = Match{.candidate = static_cast<std::size_t>(own - advice_.candidates.begin()),
                          .rival = order.front(),
                          .error = ours->error,
                          .rival_error = theirs ? theirs->error : std::numeric_limits<double>::infinity(),
                          .rival_step = equal,
                          .doubt = runs_->doubt(),
                          .length = runs_->length()};
  } catch (const Error& error) {
    advice_.remarks.push_back(fmt::format("{} was not compared: {}", own->title(), error.what()));
  }
}

void Adviser::choose() {
  const auto order = ranking();
  if (order.empty()) {
    choose_undemanding();
    return;
  }
  advice_.choice = order.front();
  const auto& best = advice_.candidates[order.front()];
  const std::string basis = best.probed_error
                                ? fmt::format("error at equal cost, measured over {:.3g} s", runs_->length())
                            : best.equal_cost_error ? "foretold error at equal cost"
                                                    : "foretold error";
  advice_.reason = fmt::format("smallest {}: {:.2g} of the range of the worst output", basis, *best.merit());
  if (order.size() > 1) {
    const auto& next = advice_.candidates[order[1]];
    advice_.reason += fmt::format("; next is {} with {:.2g}", next.title(), *next.merit());
  }
  if (!advice_.match) return;
  const auto& match = *advice_.match;
  const auto compared = fmt::format(
      "in runs of equal cost over {:.3g} s {} errs by {:.2g} of the range of the worst output, {} (step {:.3g} s) by "
      "{:.2g}",
      match.length, advice_.candidates[match.candidate].title(), match.error, best.title(), match.rival_step,
      match.rival_error);
  if (match.won()) {
    advice_.choice = match.candidate;
    advice_.reason = compared + ", the best of the others";
  } else {
    advice_.reason += "; " + compared;
  }
}

void Adviser::choose_undemanding() {
  const auto can = [](const Candidate& of) { return of.obstacles.empty() && of.calls_per_step.has_value(); };
  const auto chosen = std::find_if(advice_.candidates.rbegin(), advice_.candidates.rend(), can);
  if (chosen == advice_.candidates.rend()) {
    advice_.reason = "no method completed a brief run; see the remarks";
    for (const auto& candidate : advice_.candidates) {
      if (advice_.remarks.empty() && !candidate.obstacles.empty())
        advice_.remarks.push_back(candidate.obstacles.front());
    }
    return;
  }
  advice_.choice = advice_.candidates.size() - 1 - static_cast<std::size_t>(chosen - advice_.candidates.rbegin());
  advice_.reason = fmt::format("nothing could be foretold or probed; {} asks least of the subsystems", chosen->title());
}

/// The longest step that keeps the tolerance, by powers of two around the one asked for, or of those that fit.
void Adviser::choose_step() {
  if (!advice_.choice) return;
  const auto& best = advice_.candidates[*advice_.choice];
  if (!best.error || best.probed_error) return;
  constexpr double kFewestSteps = 20.0;
  constexpr int kPowers = 10;
  const Duration longest = whole_run() / kFewestSteps;
  std::vector<Duration> steps = fitting_steps(imposed_, std::ldexp(advice_.step, -kPowers), longest);
  if (imposed_.empty()) {
    for (int k = -kPowers; k <= kPowers; ++k) steps.push_back(std::ldexp(advice_.step, k));
  }
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (*step > longest) continue;
    try {
      const auto forecast = forecast_of(best, *pilot_.path, sequence_, *step);
      if (!forecast->stable() || !(forecast->error <= settings_.tolerance)) continue;
    } catch (const Error&) {  // coupling equations that are singular at just this step
      continue;
    }
    advice_.recommended_step = *step;
    if (advice_.operating_points > 1) confirm_step();
    return;
  }
  if (!steps.empty()) {
    advice_.remarks.push_back(
        fmt::format("no step down to {:.3g} s keeps an error of {:g}", steps.front(), settings_.tolerance));
  }
}

/// A nonlinear system does not keep to its linearizations when the step is long: runs decide.
void Adviser::confirm_step() {
  constexpr int kMostHalvings = 8;
  auto description = with_way(description_, advice_.candidates[*advice_.choice]);
  description.record = {};
  Duration& step = *advice_.recommended_step;
  for (int k = 0; k < kMostHalvings; ++k, step /= 2) {
    description.step->value = step;
    const auto result = verify(description, {}, models_);
    double worst = 0.0;
    for (std::size_t y = 0; y < result.outputs.size(); ++y) {
      const double range = pilot_.path->ranges[y] > 0.0 ? pilot_.path->ranges[y] : 1.0;
      worst = std::max(worst, result.outputs[y].rms_error / range);
    }
    if (result.failure || !result.confirmed(std::numeric_limits<double>::infinity()) ||
        !(worst <= settings_.tolerance)) {
      continue;
    }
    advice_.reason += fmt::format("; runs at h, h/2 and h/4 confirm the step: {:.2g}", worst);
    return;
  }
  advice_.remarks.push_back(
      fmt::format("the system is nonlinear, and no step down to {:.3g} s was confirmed by runs", 2 * step));
  advice_.recommended_step.reset();
}

/// What grows is said, and an error as large as the signals is no recommendation.
void Adviser::doubt_the_choice() {
  bool any_stable = false;
  bool any_step = false;
  bool any_known = false;
  for (const auto& candidate : advice_.candidates) {
    if (!candidate.radius || !candidate.obstacles.empty()) continue;
    any_known = true;
    any_stable = any_stable || candidate.stable;
    any_step = any_step || !candidate.stable_steps.empty();
  }
  if (any_known && !any_stable) {
    advice_.remarks.push_back(any_step
                                  ? "at this step the coupling grows with every method of which it can be foretold; "
                                    "the stable steps are in the table"
                                  : fmt::format("the coupling grows with every method of which it can be foretold, "
                                                "at every step from {:.3g} s on: it is unstable",
                                                advice_.step / 64.0));
  }
  if (!advice_.choice || advice_.recommended_step) return;
  const auto& best = advice_.candidates[*advice_.choice];
  // By so much rounding grows to the size of the signals.
  constexpr double kHopeless = 1e15;
  const bool grows = best.radius && !best.stable && best.stable_steps.empty() &&
                     std::log(*best.radius) * whole_run() / advice_.step > std::log(kHopeless);
  if (grows) {
    advice_.reason = fmt::format(
        "it grows at every step; with the best, {}, a disturbance is multiplied by {:.4g} in every macro step",
        best.title(), *best.radius);
  } else if (best.merit() && *best.merit() >= 1.0) {
    advice_.reason = fmt::format(
        "the best, {}, errs by {:.2g} times the range of the worst output; no step was found that keeps less",
        best.title(), *best.merit());
  } else {
    return;
  }
  advice_.choice.reset();
}

/// The three best, and what was searched, in short runs beside what is foretold of the same part.
void Adviser::measure_the_best() {
  constexpr double kSteps = 256.0;
  constexpr std::size_t kBest = 3;
  auto order = ranking();
  std::erase_if(order, [&](std::size_t i) { return !advice_.candidates[i].error; });
  const auto rest = order.begin() + static_cast<std::ptrdiff_t>(std::min(kBest, order.size()));
  order.erase(std::remove_if(rest, order.end(), [&](std::size_t i) { return !advice_.candidates[i].searched; }),
              order.end());
  for (const std::size_t i : order) {
    auto description = with_way(description_, advice_.candidates[i]);
    description.stop->value = std::min(advice_.stop, advice_.start + length_of(kSteps));
    description.record = {};
    RunPath part = *pilot_.path;
    part.stop = description.stop->value;
    std::erase_if(part.points, [&](const OperatingPoint& point) { return point.time >= part.stop; });
    const auto result = verify(description, {}, models_);
    Measured measured{i, forecast_of(advice_.candidates[i], part, sequence_, advice_.step)->error, 0.0};
    for (std::size_t y = 0; y < result.outputs.size(); ++y) {
      const double range = part.ranges[y] > 0.0 ? part.ranges[y] : 1.0;
      measured.measured = std::max(measured.measured, result.outputs[y].rms_error / range);
    }
    if (!result.failure) advice_.measured.push_back(measured);
  }
}

/// Measures of the choice, or of the best explicit way where the choice has none.
void Adviser::look_closer() {
  if (advice_.operating_points == 0) {
    if (!settings_.parameters.empty()) {
      advice_.remarks.emplace_back("no limits of parameters: no step matrix is known");
    }
    return;
  }
  std::vector<std::size_t> order = ranking();
  if (advice_.choice) order.insert(order.begin(), *advice_.choice);
  const auto judged = std::find_if(order.begin(), order.end(), [&](std::size_t i) {
    return advice_.candidates[i].explicit_method() && advice_.candidates[i].radius;
  });
  try {
    if (!settings_.parameters.empty()) {
      const auto known = std::find_if(order.begin(), order.end(),
                                      [&](std::size_t i) { return advice_.candidates[i].radius.has_value(); });
      const ParameterStudy study(description_, models_, prepared_, settings_.parameters);
      if (known != order.end()) {
        advice_.parameters = study.limits(advice_.candidates[*known], sequence_, advice_.step);
        advice_.joint_factor = study.joint_factor(advice_.candidates[*known], sequence_, advice_.step);
        if (settings_.curves && settings_.parameters.size() > 1) {
          advice_.heat = study.heat(advice_.candidates[*known], sequence_, advice_.step);
        }
      }
    }
    if (judged != order.end()) {
      advice_.robustness = robustness_of(advice_.candidates[*judged], picture());
      advice_.robustness->candidate = *judged;
    }
    if (!settings_.curves || !imposed_.empty()) return;
    for (const auto& candidate : advice_.candidates) {
      if (!candidate.error || !candidate.obstacles.empty()) continue;
      advice_.curves.push_back(curve_of(candidate, picture(), whole_run()));
    }
    if (!advice_.heat && judged != order.end() && !advice_.curves.empty()) {
      auto sequential = advice_.candidates[*judged];
      sequential.method = "nepce";
      advice_.heat = heat_over_gain(sequential, picture(), whole_run());
    }
  } catch (const Error& error) {
    if (!error.problems().empty()) throw;  // a parameter that is not there
    advice_.remarks.emplace_back(error.what());
  }
}

}  // namespace entrain
