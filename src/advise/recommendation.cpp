#include "advise/recommendation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "advise/method_kinds.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::advising {
namespace {

constexpr double kLeastSteps = 200.0;     // of a run: fewer show little of the motion
constexpr double kUnseenSteps = 1000.0;   // the same where only a part of the run is tried
constexpr double kMostSteps = 1e6;        // a smaller step is no recommendation, unless it is written
constexpr double kTrialSteps = 12.0;      // fewer leave nothing to compare
constexpr double kMostTrialSteps = 5e3;   // of a part of the run: more show little more
constexpr double kSmallBudget = 2e4;      // calls: one trial may have all of it
constexpr double kCompanions = 1.75;      // calls of a trial with its companions, in those of the trial
constexpr double kAim = 0.9;              // of the tolerance, for what was measured
constexpr double kAimAtStep = 0.5;        // of the tolerance, for a step that follows by the order
constexpr double kForecastSafety = 1.25;  // bound over error of what is forecast
constexpr double kSurprise = 3.0;         // a forecast exceeded by this factor is not used
constexpr double kNegligible = 1e-6;      // of the range: smaller errors do not refute
constexpr double kUnresolved = 0.1;       // of the range: a larger bound follows no order
constexpr double kUseless = 0.5;          // of the range: a larger bound is of no use
constexpr double kCheap = 2.5;            // calls of a subsystem per macro step
constexpr int kMostTrials = 8;            // of one candidate

/// The order in which methods are looked at: those first that need the fewest calls for an error where they can run.
int rank(const Look& look, const Candidate& of, const MethodTraits& traits) {
  const int degree = of.degree.value_or(0);
  if (of.searched) return 0;
  if (look.one_way && is_sequential(traits)) return degree == 2 ? 1 : degree == 1 ? 2 : 8;
  if (is_estimating(traits)) return 3;
  if (is_sequential(traits)) return degree == 1 ? 4 : degree == 2 ? 5 : degree == 3 ? 9 : 11;
  if (is_plain(traits)) return degree == 1 ? 6 : degree == 2 ? 7 : degree == 3 ? 9 : 11;
  if (is_iterative(traits)) return 8;
  return is_asynchronous(traits) ? 10 : 9;
}

class Search {
 public:
  Search(const Look& look, const method::MethodRegistry& methods, const Extensions& extensions,
         const SearchBudget& budget, bool keep_step)
      : look_(look),
        methods_(methods),
        budget_(budget),
        keeps_step_(keep_step && look.step_given),
        trials_(look.description, extensions, budget, look.ranges) {}

  Recommendation run();

 private:
  const MethodTraits& traits(const Candidate& of) const { return methods_.traits(of.method); }
  std::vector<std::size_t> order() const;
  void take_plainest();
  void take_untried(const Fact& why);
  void look_at_all();
  std::optional<Offer> offer(std::size_t candidate);
  std::optional<Trial> attempt(const Candidate& candidate, Duration step, bool may_be_longer);
  double over_the_run(const Trial& trial, Duration step, const std::optional<double>& forecast) const;
  std::optional<double> forecast(const Candidate& candidate, Duration step, Duration until) const;
  bool confirms(const Trial& trial);
  Duration first_step(const Candidate& candidate) const;
  Duration longest_step(const Candidate& candidate) const;
  Duration below(Duration step) const { return fitting_below(look_.imposed, step); }
  double calls_per_step(const Candidate& candidate) const;
  double cost_of_estimate(const Candidate& candidate) const;
  double calls_left(const Candidate& candidate, Duration step) const;
  bool can_afford(const Candidate& candidate, Duration step) const;
  double affordable_steps(const Candidate& candidate, Duration step) const;
  Duration length_of(Duration step, double steps) const;
  void look_briefly(const Candidate& candidate, Duration step);
  bool is_settled(const Offer& of) const;
  void name_failed();
  void conclude();
  void explain(const Offer& of);

  const Look& look_;
  const method::MethodRegistry& methods_;
  const SearchBudget& budget_;
  bool keeps_step_;
  bool forecast_holds_ = true;
  TrialRuns trials_;
  std::optional<Fact> stopped_;
  Recommendation result_;
};

std::vector<std::size_t> Search::order() const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < look_.candidates.size(); ++i) {
    if (look_.candidates[i].obstacles.empty()) order.push_back(i);
  }
  const auto key = [&](std::size_t i) { return rank(look_, look_.candidates[i], traits(look_.candidates[i])); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

double Search::calls_per_step(const Candidate& candidate) const {
  for (const auto& trial : result_.trials) {
    if (trial.config == candidate && trial.calls_per_step > 0.0) return trial.calls_per_step;
  }
  return std::max(1.0, traits(candidate).calls_per_step) * static_cast<double>(look_.subsystems);
}

/// Of what the cheapest of the runs allows the search that can come of it: those that were offered so far, of which one
/// that keeps the tolerance precedes, and the candidate at this step. So the search has kept its budget whichever it
/// is.
double Search::calls_left(const Candidate& candidate, Duration step) const {
  double run = calls_per_step(candidate) * look_.whole_run() / step;
  const bool any_meets =
      std::any_of(result_.offers.begin(), result_.offers.end(), [](const Offer& of) { return of.meets(); });
  for (const auto& of : result_.offers) {
    if (of.meets() || !any_meets) run = std::min(run, of.calls);
  }
  // One trial is made of every system: of many subsystems it takes more than the least.
  constexpr double kFirstTrial = 45.0;  // calls of each subsystem, the pilot included
  const double first = result_.trials.empty() ? kFirstTrial * static_cast<double>(look_.subsystems) : 0.0;
  const double allowed = std::min(std::max({budget_.share * run, budget_.least_calls, first}), budget_.most_calls);
  return allowed - trials_.calls() - look_.pilot_calls;
}

bool Search::can_afford(const Candidate& candidate, Duration step) const {
  return calls_left(candidate, step) >= kTrialSteps * cost_of_estimate(candidate) * calls_per_step(candidate);
}

/// In calls of the trial. A method with steps of its own takes several in a macro step, and twice as many to compare.
double Search::cost_of_estimate(const Candidate& candidate) const {
  constexpr double kOwnSteps = 12.0;
  return is_asynchronous(traits(candidate)) ? kOwnSteps : kCompanions;
}

/// By the structure of the system alone, so that every budget begins at the same step.
Duration Search::longest_step(const Candidate& candidate) const {
  if (look_.step_given) return look_.step;
  constexpr double kFewCalls = 6.0;
  const double calls = traits(candidate).calls_per_step * static_cast<double>(look_.subsystems);
  const bool seen_whole = (look_.linear && forecast_holds_) || calls <= kFewCalls;
  const Duration longest = look_.whole_run() / (seen_whole ? kLeastSteps : kUnseenSteps);
  const auto& proposed = look_.description.step->where.file.starts_with(kProposed);
  return below(proposed ? std::min(longest, look_.step) : longest);
}

std::optional<double> Search::forecast(const Candidate& candidate, Duration step, Duration until) const {
  if (!look_.linear || !forecast_holds_) return std::nullopt;
  auto path = *look_.linear;
  path.stop = std::min(path.stop, path.points.front().time + until);
  try {
    const auto found = ConfigForecast(methods_, candidate, look_.sequence).forecast(path, step);
    if (!found || !std::isfinite(found->error)) return std::nullopt;
    return found->harmless() ? found->error : std::numeric_limits<double>::infinity();
  } catch (const Error&) {  // singular coupling equations at just this step
    return std::nullopt;
  }
}

Duration Search::first_step(const Candidate& candidate) const {
  Duration step = longest_step(candidate);
  if (keeps_step_) return step;
  for (int k = 0; k < kMostTrials * 2; ++k) {
    const auto error = forecast(candidate, step, look_.whole_run());
    if (!error || kForecastSafety * *error <= kAim * look_.tolerance) break;
    step = below(step / 2.0);
  }
  // Where others have failed at a price that this run does not allow for, a longer one may.
  constexpr double kMuchSmaller = 16.0;
  for (Duration smaller = step; step <= kMuchSmaller * smaller; smaller = below(smaller / 2.0)) {
    if (can_afford(candidate, smaller)) return smaller;
  }
  return step;
}

/// At least so many macro steps, and a whole number of every imposed step.
Duration Search::length_of(Duration step, double steps) const {
  if (look_.imposed.empty()) return std::min(look_.whole_run(), steps * step);
  const auto unit = common_multiple(look_.imposed);
  if (!unit) return look_.whole_run();
  const Duration whole = std::max(step, *unit);
  return std::min(look_.whole_run(), whole * std::ceil(steps * step / whole - 1e-9));
}

/// Macro steps of a trial.
double Search::affordable_steps(const Candidate& candidate, Duration step) const {
  constexpr double kShare = 0.5;  // of the budget; the rest is for the trials that follow from this one
  const double per_step = calls_per_step(candidate) * cost_of_estimate(candidate);
  return std::max(kTrialSteps, std::floor(kShare * calls_left(candidate, step) / per_step));
}

/// Over the whole run where that can be afforded, also in longer steps; else at its beginning. Nullopt: neither.
std::optional<Trial> Search::attempt(const Candidate& candidate, Duration step, bool may_be_longer) {
  constexpr double kLonger = 8.0;
  if (!can_afford(candidate, step)) return std::nullopt;
  const double left = calls_left(candidate, step);
  const double steps = affordable_steps(candidate, step);
  // A trial whose steps cost more than expected is ended where enough is left for a shorter one, at the cost that it
  // has shown.
  constexpr double kMost = 0.6;
  const double most = result_.trials.empty() ? std::max(kMost * left, std::min(left, kSmallBudget)) : left;
  const Duration all = look_.whole_run();
  if (all / step <= steps) return trials_.run(candidate, step, all, most);
  if (may_be_longer && all / (kLonger * step) <= steps) {
    for (double factor = 2.0; factor <= kLonger; factor *= 2.0) {
      if (all / (factor * step) <= steps) return trials_.run(candidate, factor * step, all, most);
    }
  }
  return trials_.run(candidate, step, length_of(step, std::min(steps, kMostTrialSteps)), most);
}

/// Whether what a forecast assumes holds for the part that was tried.
bool Search::confirms(const Trial& trial) {
  Candidate of;
  static_cast<MethodConfig&>(of) = trial.config;
  const auto expected = forecast(of, trial.step, trial.length);
  if (!expected) return false;
  if (trial.verdict.error <= std::max(kNegligible, kSurprise * *expected)) return true;
  result_.remarks.push_back({FactCode::ForecastRefuted,
                             {trial.config.title()},
                             {{"step", trial.step, "s"},
                              {"error", trial.verdict.error},
                              {"length", trial.length, "s"},
                              {"forecast", *expected}}});
  forecast_holds_ = false;
  return false;
}

/// The ratio of the bound to the tolerance over the whole run at `step`.
double Search::over_the_run(const Trial& trial, Duration step, const std::optional<double>& forecast) const {
  if (forecast && !trial.whole) return kForecastSafety * *forecast / look_.tolerance;
  constexpr double kFar = 2.5;  // beyond this ratio of steps an order is a hope
  const double most = trial.verdict.bound > kUnresolved ? 1.0 : trial.step > kFar * step ? 2.0 : trial.order;
  const double order = std::min(most, trial.order);
  // What is identified from the past may meet a motion that was not among it: errors that add up at random, at least.
  constexpr double kAtRandom = 0.5;
  const double growth = trial.identified ? std::max(kAtRandom, trial.growth) : trial.growth;
  const double time = trial.whole ? 1.0 : std::pow(look_.whole_run() / trial.length, growth);
  return trial.ratio() * std::pow(step / trial.step, order) * time;
}

std::optional<Offer> Search::offer(std::size_t index) {
  const auto& candidate = look_.candidates[index];
  Duration step = first_step(candidate);
  std::optional<Offer> found;
  bool may_be_longer = !keeps_step_ && look_.imposed.empty() && !is_asynchronous(traits(candidate));
  for (int k = 0; k < kMostTrials; ++k) {
    stopped_ = trials_.stopped();
    const bool is_written = k == 0 && look_.step_given;
    if (stopped_ || (!is_written && look_.whole_run() / step > kMostSteps)) break;
    const auto made = attempt(candidate, step, may_be_longer);
    if (!made) break;
    const Trial& trial = result_.trials.emplace_back(*made);
    const bool longer = trial.step > step * (1.0 + 1e-9);
    if (longer && (trial.failure || !(trial.verdict.bound <= kUnresolved))) {
      may_be_longer = false;  // a step that is too long shows nothing of this one
      continue;
    }
    if (trial.failure && trial.cut_short) continue;  // what a step costs is known now
    if (trial.failure) {
      if (keeps_step_ || is_asynchronous(traits(candidate))) break;
      step = below(step / 8.0);
      continue;
    }
    if (!trial.is_known) return Offer{index, step, {}, trial.calls_per_step * look_.whole_run() / step, {}, trial};
    auto expected = forecast(candidate, step, look_.whole_run());
    if (expected && !confirms(trial)) expected.reset();
    const double ratio = over_the_run(trial, step, expected);
    const double calls = trial.calls_per_step * look_.whole_run() / step;
    found = Offer{index, step, ratio, calls, expected, trial};
    if (!(ratio > kAim) || is_asynchronous(traits(candidate))) return found;
    const double factor = std::pow(kAimAtStep / ratio, 1.0 / trial.order);
    const Duration smaller = below(step * std::clamp(factor, 1.0 / 8.0, 0.5));
    if (keeps_step_) {
      if (trial.verdict.bound <= kUnresolved) result_.step_within = below(step * factor);
      return found;
    }
    step = smaller;
    // A part of the run that is shorter still shows less than the order of this one.
    const bool shows_less = !trial.whole && affordable_steps(candidate, step) * step < trial.length;
    if (shows_less && over_the_run(trial, step, std::nullopt) <= kAim) break;
  }
  // The next step was not tried; that it serves follows by the order.
  if (found && found->step > step) {
    const double ratio = over_the_run(*found->trial, step, std::nullopt);
    found = Offer{index, step, ratio, found->trial->calls_per_step * look_.whole_run() / step, {}, found->trial};
  }
  return found;
}

/// Nothing else can need less than half of its calls.
bool Search::is_settled(const Offer& of) const {
  const auto& candidate = look_.candidates[of.candidate];
  return of.meets() && of.step >= longest_step(candidate) * (1.0 - 1e-9) &&
         of.calls * of.step / look_.whole_run() <= kCheap * static_cast<double>(look_.subsystems) * (1.0 + 1e-9);
}

/// For the reader of an advice: it changes no choice.
void Search::look_briefly(const Candidate& candidate, Duration step) {
  constexpr double kBriefly = 48.0;  // macro steps
  const double left = calls_left(candidate, step);
  const double affordable = left / (cost_of_estimate(candidate) * calls_per_step(candidate));
  const double steps = std::clamp(std::floor(affordable), kTrialSteps, kBriefly);
  result_.trials.push_back(trials_.run(candidate, step, length_of(step, steps), left));
  stopped_ = trials_.stopped();
}

void Search::look_at_all() {
  Fact left{FactCode::NotLookedAt, {}, {{"why", "the first is as cheap as they can be"}}};
  bool settled = false;
  for (const std::size_t i : order()) {
    const auto& candidate = look_.candidates[i];
    const bool affordable = can_afford(candidate, first_step(candidate));
    if (!stopped_ && settled && budget_.looks_at_all && affordable) {
      look_briefly(candidate, result_.offers.back().step);
      continue;
    }
    if (!settled && !stopped_ && affordable) {
      if (auto made = offer(i)) {
        settled = is_settled(*made);
        result_.offers.push_back(std::move(*made));
      }
      continue;
    }
    if (!settled || budget_.looks_at_all) {
      left.values = {{"why", stopped_ ? "the search has ended" : "the budget of the search is spent"}};
    }
    left.subjects.push_back(candidate.title());
  }
  if (stopped_) result_.remarks.push_back(*stopped_);
  if (left.subjects.empty()) return;
  if (result_.offers.empty()) take_untried(left);
  result_.remarks.push_back(std::move(left));
}

/// Where one method is as good as another: the first that can.
void Search::take_plainest() {
  for (std::size_t i = 0; i < look_.candidates.size(); ++i) {
    if (!look_.candidates[i].obstacles.empty()) continue;
    const Duration step = look_.imposed.empty() ? look_.description.step->value : look_.step;
    result_.choice = Offer{i, step, std::nullopt, 0.0, {}, {}};
    result_.reasons = {*look_.uncoupled};
    return;
  }
}

/// Where nothing may be tried, or what was tried failed: the first of the others.
void Search::take_untried(const Fact& why) {
  for (const std::size_t i : order()) {
    const auto& candidate = look_.candidates[i];
    const bool tried = std::any_of(result_.trials.begin(), result_.trials.end(),
                                   [&](const Trial& of) { return of.config == candidate; });
    if (tried) continue;
    result_.choice = Offer{i, look_.step, std::nullopt, 0.0, {}, {}};
    result_.reasons = {{FactCode::NotTried, why.subjects, {{"why", why.text("why")}}}};
    return;
  }
}

void Search::explain(const Offer& of) {
  const auto title = look_.candidates[of.candidate].title();
  if (of.trial) {
    const auto& trial = *of.trial;
    Fact measured{FactCode::TrialMeasured,
                  {title, trial.verdict.output},
                  {{"step", trial.step, "s"}, {"error", trial.verdict.error}, {"bound", trial.verdict.bound}}};
    measured.values.emplace_back("length", trial.length, "s");
    if (trial.whole) measured.values.emplace_back("whole", 1);
    if (trial.step > of.step * (1.0 + 1e-9)) measured.values.emplace_back("order", trial.order);
    result_.reasons.push_back(std::move(measured));
  }
  if (of.forecast) result_.reasons.push_back({FactCode::ForecastTaken, {}, {{"error", *of.forecast}}});
  if (of.ratio && !(*of.ratio <= 1.0)) {
    Fact missed{FactCode::ToleranceNotMet, {title}, {{"tolerance", look_.tolerance}}};
    if (result_.step_within) missed.values.emplace_back("better_step", *result_.step_within, "s");
    result_.reasons.push_back(std::move(missed));
  } else if (result_.offers.size() > 1) {
    result_.reasons.push_back({FactCode::CheapestWithinTolerance,
                               {title},
                               {{"tried", result_.offers.size()}, {"tolerance", look_.tolerance}}});
  }
}

/// Methods none of whose trials came to its end: without a word they would seem to have been looked at and be worse.
void Search::name_failed() {
  for (const auto& candidate : look_.candidates) {
    std::optional<Fact> failure;
    for (const auto& trial : result_.trials) {
      if (trial.config != candidate || trial.cut_short) continue;
      failure = trial.failure;
      if (!failure) break;
    }
    if (failure) result_.remarks.push_back(std::move(*failure));
  }
}

void Search::conclude() {
  if (const auto best = best_offer(result_.offers)) result_.choice = result_.offers[*best];
  if (result_.choice && result_.choice->ratio) {
    const Trial trial = *result_.choice->trial;
    if (!(trial.verdict.bound < kUseless)) {
      result_.choice.reset();
      result_.reasons = {
          {FactCode::TrialFailed,
           {trial.config.title()},
           {{"step", trial.step, "s"}, {"length", trial.length, "s"}, {"why", render(trial.verdict.reasons.front())}}}};
    }
  }
  if (result_.choice) {
    explain(*result_.choice);
    name_failed();
  } else if (result_.reasons.empty()) {
    for (const auto& trial : result_.trials) {
      if (trial.failure) result_.reasons.push_back(*trial.failure);
    }
    // One per method is enough, the last.
    if (result_.reasons.size() > 3) result_.reasons.erase(result_.reasons.begin(), result_.reasons.end() - 3);
  }
}

Recommendation Search::run() {
  const auto possible = order();
  if (look_.uncoupled) {
    take_plainest();
  } else if (look_.untried) {
    take_untried(*look_.untried);
  } else {
    look_at_all();
    conclude();
  }
  if (possible.empty()) {
    for (const auto& candidate : look_.candidates) {
      if (result_.reasons.empty()) result_.reasons = {candidate.obstacles.front()};
    }
  } else if (possible.size() == 1 && look_.candidates.size() > 1 && result_.choice) {
    const auto hindered = std::find_if(look_.candidates.begin(), look_.candidates.end(),
                                       [](const Candidate& of) { return !of.obstacles.empty(); });
    const Fact& why = hindered->obstacles.front();
    result_.reasons.push_back(
        {FactCode::NoOtherMethod, why.subjects, {{"of", name_of(why.code)}, {"why", render(why)}}});
  }
  result_.calls = trials_.calls() + look_.pilot_calls;
  if (trials_.count() > 0 && result_.choice) {
    result_.remarks.push_back(
        {FactCode::SearchCost,
         {},
         {{"calls", std::round(result_.calls)}, {"trials", trials_.count()}, {"run_calls", result_.choice->calls}}});
  }
  return std::move(result_);
}

}  // namespace

std::optional<std::size_t> best_offer(const std::vector<Offer>& offers) {
  double cheapest = std::numeric_limits<double>::infinity();
  for (const auto& of : offers) {
    if (of.meets()) cheapest = std::min(cheapest, of.calls);
  }
  std::optional<std::size_t> best;
  constexpr double kAlike = 2.5;
  const auto group = [&](const Offer& of) {
    if (of.meets()) return of.calls <= kAlike * cheapest ? 0 : 1;
    return of.ratio ? 2 : 3;
  };
  // What was looked at first has the better order, which one step does not show: a little more error does not matter.
  const auto is_better = [&](const Offer& a, const Offer& b) {
    if (group(a) != group(b)) return group(a) < group(b);
    return a.ratio && b.ratio && *a.ratio * kAlike < *b.ratio;
  };
  for (std::size_t i = 0; i < offers.size(); ++i) {
    if (!best || is_better(offers[i], offers[*best])) best = i;
  }
  return best;
}

Recommendation recommend(const Look& look, const method::MethodRegistry& methods, const Extensions& extensions,
                         const SearchBudget& budget, bool keep_step) {
  return Search(look, methods, extensions, budget, keep_step).run();
}

}  // namespace entrain::advising
