#include "advise/adviser.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "advise/candidates.hpp"
#include "advise/capability_lines.hpp"
#include "advise/choose_method.hpp"
#include "advise/method_kinds.hpp"
#include "advise/search_configs.hpp"
#include "analysis/coupled_motion.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/system.hpp"
#include "methods/calendar.hpp"

namespace entrain::advising {
namespace {

bool usable(const Candidate& candidate) {
  return candidate.obstacles.empty();
}

}  // namespace

Adviser::Adviser(const SystemDescription& description, const AdviceSettings& settings, const Extensions& extensions)
    : description_(resolved(description, extensions)),
      settings_(settings),
      extensions_(extensions),
      methods_(extensions) {
  auto look = description_;
  look.method = {methods_.undemanding().name, {}};
  std::vector<Problem> problems;
  prepared_ = session::prepare(look, 1, extensions_, problems);
  if (!prepared_.system) throw Error(std::move(problems));
  sequence_ = found_sequence(*prepared_.system);
  for (const std::size_t s : sequence_) advice_.sequence.push_back(prepared_.system->graph().name(SubsystemId{s}));
  note_options(description);
  for (std::size_t s = 0; s < prepared_.system->size(); ++s) {
    const auto& imposed = prepared_.system->capabilities(SubsystemId{s}).imposed_step;
    if (!imposed) continue;
    imposed_.push_back(*imposed);
    imposing_.insert(prepared_.system->graph().name(SubsystemId{s}));
  }
}

/// Methods are compared with their defaults, and every degree; other options in the file are not in the numbers.
void Adviser::note_options(const SystemDescription& written) {
  for (const auto& [method, options] : written.method_options) {
    std::vector<std::string> names;
    for (const auto& [name, value] : options) {
      if (name != "degree") names.push_back(name);
    }
    if (names.empty()) continue;
    const auto count = names.size();
    remark({FactCode::OptionsNotJudged, std::move(names), {{"method", method}, {"options", count}}});
  }
}

void Adviser::remark(Fact fact) {
  auto& remarks = advice_.remarks;
  if (std::find(remarks.begin(), remarks.end(), fact) == remarks.end()) remarks.push_back(std::move(fact));
}

void Adviser::remark_failure(FactCode code, const Error& error) {
  if (!is_remarked(error.what())) remark({code, {}, {{"why", error.what()}}});
}

bool Adviser::is_remarked(std::string_view why) const {
  return std::any_of(advice_.remarks.begin(), advice_.remarks.end(),
                     [&](const Fact& of) { return of.text("why") == why; });
}

Duration Adviser::longest_imposed_step() const {
  return imposed_.empty() ? 0.0 : *std::max_element(imposed_.begin(), imposed_.end());
}

Duration Adviser::length_of(double steps) const {
  constexpr int kMost = 1000;  // beyond, only the whole run is known to fit
  const Duration wanted = steps * std::max(advice_.step, longest_imposed_step());
  if (imposed_.empty()) return wanted;
  const Duration longest = longest_imposed_step();
  for (int k = 1; k <= kMost; ++k) {
    const bool common = std::all_of(imposed_.begin(), imposed_.end(),
                                    [&](Duration of) { return method::whole_ratio(k * longest, of).has_value(); });
    if (common) return std::ceil(wanted / (k * longest) - 1e-9) * k * longest;
  }
  return whole_run();
}

double Adviser::error_at(const Candidate& candidate, Duration step) const {
  const auto forecast_error = [&](Duration at) { return forecast_of(candidate).forecast(*pilot_.path, at)->error; };
  if (imposed_.empty()) return forecast_error(step);
  const auto steps = fitting_steps(imposed_, step / 64.0, step * 64.0);
  const auto above = std::lower_bound(steps.begin(), steps.end(), step * (1 - 1e-9));
  if (above == steps.end() || above == steps.begin() || *above <= step * (1 + 1e-9))
    return forecast_error(nearest_fitting(imposed_, step));
  const double low = forecast_error(*(above - 1));
  const double high = forecast_error(*above);
  const double share = std::log(step / *(above - 1)) / std::log(*above / *(above - 1));
  return std::pow(low, 1.0 - share) * std::pow(high, share);
}

void Adviser::describe() {
  CoupledSystem& system = *prepared_.system;
  advice_.system = description_.name;
  advice_.start = prepared_.settings.start;
  advice_.stop = prepared_.settings.stop;
  advice_.step = prepared_.settings.step;
  advice_.capabilities = capability_lines(system, prepared_.summary.subsystems);
  for (const auto& loop : system.graph().loops()) {
    auto& names = advice_.loops.emplace_back();
    for (const OutputId output : loop.outputs) names.push_back(system.graph().name(output));
  }
  advice_.candidates = candidates_for(methods_, system, prepared_.settings);
}

/// With the most accurate method that can: its motion is what the errors are measured on.
void Adviser::run_pilot_method() {
  for (const MethodKind kind : {is_estimating, is_iterative, is_sequential, is_asynchronous}) {
    const auto candidate = std::find_if(advice_.candidates.begin(), advice_.candidates.end(),
                                        [&](const Candidate& of) { return kind(traits(of)) && usable(of); });
    if (candidate == advice_.candidates.end()) continue;
    std::vector<Problem> problems;
    const session::Prepared pilot =
        session::prepare(with_config(methods_, description_, *candidate), 1, extensions_, problems);
    if (!pilot.system) continue;
    try {
      pilot_ = run_pilot(*pilot.system, *pilot.method, pilot.settings, {});
      if (pilot_.failed || misses_the_motion(*candidate, pilot_, advice_.step)) run_pilot_in_smaller_steps(*candidate);
    } catch (const Error& error) {
      pilot_.obstacles.push_back({FactCode::RunObstacle, {}, {{"why", error.what()}}});
    }
    break;
  }
  for (const auto& of : pilot_.remarks) remark(of);
  for (const auto& driven : pilot_.driven) {
    remark({FactCode::StabilityOnly, driven.subjects, {{"of", name_of(driven.code)}, {"driven", render(driven)}}});
  }
  for (const auto& obstacle : pilot_.obstacles) {
    remark({FactCode::NoStepMatrix, obstacle.subjects, {{"of", name_of(obstacle.code)}, {"why", render(obstacle)}}});
  }
}

/// By its own forecast: a pilot that grows, or has a large error, shows neither ranges nor points of the motion.
bool Adviser::misses_the_motion(const Candidate& candidate, const Pilot& pilot, Duration step) const {
  constexpr double kFarOff = 0.05;
  if (!pilot.path || !pilot.rates_known || !forecast_of(candidate).can_forecast(*pilot.path)) return false;
  try {
    const auto forecast = forecast_of(candidate).forecast(*pilot.path, step);
    return forecast && (!forecast->harmless() || !(forecast->error <= kFarOff));
  } catch (const Error&) {  // a loop without solution, singular at just this step: reported with the forecast
    return false;
  }
}

/// Where the step asked for is too long to follow the motion, a smaller one may.
void Adviser::run_pilot_in_smaller_steps(const Candidate& candidate) {
  constexpr int kAttempts = 4;
  auto description = with_config(methods_, description_, candidate);
  description.step = {advice_.step, {}};
  for (int k = 0; k < kAttempts; ++k) {
    description.step->value = nearest_fitting(imposed_, description.step->value / 4.0);
    std::vector<Problem> problems;
    const session::Prepared prepared = session::prepare(description, 1, extensions_, problems);
    if (!prepared.system) return;
    Pilot finer = run_pilot(*prepared.system, *prepared.method, prepared.settings, {});
    if (finer.failed) continue;
    finer.remarks.insert(finer.remarks.begin(), pilot_.remarks.begin(), pilot_.remarks.end());
    pilot_ = std::move(finer);
    if (misses_the_motion(candidate, pilot_, description.step->value)) continue;
    pilot_.remarks.push_back(
        {FactCode::PilotWithSmallerStep, {}, {{"step", advice_.step, "s"}, {"smaller", description.step->value, "s"}}});
    return;
  }
}

void Adviser::forecast() {
  if (!pilot_.path) return;
  try {
    double fastest = 0.0;
    for (const auto& point : pilot_.path->points) fastest = std::max(fastest, analysis::fastest_rate(point.network));
    advice_.fastest_rate = fastest;
  } catch (const Error& error) {
    remark_failure(FactCode::ForecastFailed, error);
    if (error.code() == ErrorCode::LoopNotSolved) return;  // a loop without solution: nothing follows from it
  }
  advice_.operating_points = pilot_.path->points.size();
  for (auto& candidate : advice_.candidates) {
    try {
      if (usable(candidate)) forecast(candidate);
    } catch (const Error& error) {  // imposed steps that hardly ever meet, an eigenvalue that is not found
      remark({FactCode::ForecastFailed, {}, {{"candidate", candidate.title()}, {"why", error.what()}}});
    }
  }
}

void Adviser::forecast(Candidate& candidate) {
  const auto stability = forecast_of(candidate).stability(*pilot_.path, advice_.step);
  if (!stability) return;
  candidate.radius = stability->radius;
  candidate.stable = stability->stable();
  candidate.harmless = stability->harmless();
  if (!forecast_of(candidate).can_forecast(*pilot_.path))
    return;  // a large network: the limits in the step would take minutes
  if (pilot_.rates_known && pilot_.driven.empty()) {
    candidate.error = forecast_of(candidate).forecast(*pilot_.path, advice_.step)->error;
  }
  candidate.steps_searched = true;
  candidate.stable_steps = stable_steps_of(candidate, linearized_run(), imposed_, whole_run());
}

/// What a search found becomes a candidate: the compromise, and what is most accurate at the step asked for.
void Adviser::search() {
  if (advice_.operating_points == 0 || !advice_.fastest_rate) {
    remark({FactCode::NothingToSearch});
    return;
  }
  if (!imposed_.empty()) {
    remark({FactCode::NoSearch});
    return;
  }
  int highest = 0;
  for (const auto& candidate : advice_.candidates) highest = std::max(highest, candidate.degree.value_or(0));
  // A step beyond a period of the fastest motion shows nothing of it.
  const Duration longest = std::min(whole_run(), 2.0 * std::numbers::pi / *advice_.fastest_rate);
  Front searched = search_configs(linearized_run(), settings_, highest, longest);
  if (searched.left_out) remark(*searched.left_out);
  if (!searched.how) return;
  advice_.front = std::move(searched);
  const auto& front = *advice_.front;
  if (front.points.empty()) return;
  std::vector<const MethodConfig*> configs{&front.points[front.knee].config};
  double least = std::numeric_limits<double>::infinity();
  std::vector<const MethodConfig*> asked;  // a config is on the front with many steps
  for (const auto& point : front.points) {
    if (std::any_of(asked.begin(), asked.end(), [&](const MethodConfig* of) { return *of == point.config; })) continue;
    asked.push_back(&point.config);
    const auto forecast = forecast_of(point.config).forecast(*pilot_.path, advice_.step);
    if (!forecast || !(forecast->error < least)) continue;
    least = forecast->error;
    configs.resize(1);
    configs.push_back(&point.config);
  }
  for (const MethodConfig* config : configs) {
    const auto known = std::any_of(advice_.candidates.begin(), advice_.candidates.end(), [&](const Candidate& of) {
      return static_cast<const MethodConfig&>(of) == *config;
    });
    if (known) continue;
    Candidate found;
    static_cast<MethodConfig&>(found) = *config;
    found.searched = true;
    forecast(found);
    advice_.candidates.push_back(std::move(found));
  }
}

/// Calls and time in a brief run.
void Adviser::measure_cost(Candidate& candidate) {
  constexpr double kSteps = 32.0;
  try {
    const auto cost = ShortRuns(description_, extensions_, length_of(kSteps)).cost(candidate, advice_.step);
    if (!cost.failure.empty()) {
      brief_failures_[cost.failure].push_back(candidate.title());
      return;
    }
    candidate.calls_per_step = cost.calls * advice_.step;
    candidate.wall_seconds = cost.wall_seconds;
  } catch (const Error& error) {
    candidate.obstacles.push_back({FactCode::RunObstacle, {}, {{"why", error.what()}}});
  }
}

/// What several runs have in common is reported once.
void Adviser::report_brief_failures() {
  for (const auto& [message, titles] : brief_failures_) {
    const bool known = is_remarked(message);
    Fact ended{FactCode::BriefRunFailed, titles, {{"runs", titles.size()}, {"why", message}}};
    if (known) ended.values.emplace_back("same", 1);
    remark(std::move(ended));
  }
}

bool Adviser::all_forecast() const {
  bool any = false;
  for (const auto& candidate : advice_.candidates) {
    if (!usable(candidate) || has_own_steps(candidate)) continue;
    if (!candidate.error) return false;
    any = true;
  }
  return any;
}

/// A method with twice as many calls per macro step is compared at a step twice as long.
void Adviser::compare_at_equal_cost() {
  const auto plain = std::find_if(advice_.candidates.begin(), advice_.candidates.end(),
                                  [&](const Candidate& of) { return is_plain(traits(of)) && of.calls_per_step; });
  if (plain == advice_.candidates.end()) return;
  for (auto& candidate : advice_.candidates) {
    if (!candidate.calls_per_step || has_own_steps(candidate)) continue;
    candidate.equal_cost_step = advice_.step * *candidate.calls_per_step / *plain->calls_per_step;
    try {
      if (candidate.error) candidate.equal_cost_error = error_at(candidate, candidate.equal_cost_step);
    } catch (const Error& error) {
      remark({FactCode::ForecastFailed, {}, {{"candidate", candidate.title()}, {"why", error.what()}}});
    }
  }
}

Advice Adviser::advise() {
  describe();
  run_pilot_method();
  forecast();
  if (settings_.search) search();
  for (auto& candidate : advice_.candidates) {
    if (usable(candidate)) measure_cost(candidate);
  }
  report_brief_failures();
  std::map<std::string, double> ranges;
  for (std::size_t y = 0; y < pilot_.ranges.size(); ++y) {
    ranges[prepared_.system->graph().name(OutputId{y})] = pilot_.ranges[y];
  }
  runs_.emplace(description_, extensions_, time_to_probe(), std::move(ranges), imposing_);
  if (const auto why = nothing_to_couple(description_, prepared_.system->graph())) {
    choose_plainest(*why);
  } else {
    compare_at_equal_cost();
    if (!all_forecast() || !forecast_holds()) probe();
    match();
    choose();
    constexpr double kTooLarge = 0.1;  // an error of that size is no basis to compare methods on
    if (advice_.choice && advice_.candidates[*advice_.choice].merit().value_or(0.0) > kTooLarge) {
      choose_at_smaller_steps();
    }
    if (!advice_.recommended_step) choose_step();
    if (!advice_.recommended_step) choose_at_smaller_steps();
    doubt_the_choice();
  }
  report_what_is_missing();
  if (settings_.verify) measure_the_best();
  add_measures();
  return std::move(advice_);
}

void Adviser::report_what_is_missing() {
  report_missing_step();
  const CoupledSystem& system = *prepared_.system;
  const auto estimating = std::find_if(advice_.candidates.begin(), advice_.candidates.end(),
                                       [&](const Candidate& of) { return is_estimating(traits(of)) && usable(of); });
  for (std::size_t s = 0; s < system.size(); ++s) {
    const auto& can = system.capabilities(SubsystemId{s});
    const auto& name = system.graph().name(SubsystemId{s});
    if (!can.linearization) {
      advice_.missing.push_back({FactCode::LinearizationMissing, {name}});
    } else if (can.states && !can.state_derivatives) {
      advice_.missing.push_back({FactCode::StateDerivativesMissing, {name}});
    }
    if (!can.states && estimating != advice_.candidates.end()) {
      advice_.missing.push_back({FactCode::StatesMissing, {name}, {{"method", estimating->method}}});
    }
    bool fed = false;
    for (const InputId input : system.graph().inputs_of(SubsystemId{s})) {
      fed = fed || system.graph().source(input) != nullptr;
    }
    if (can.input_degree == 0 && fed) {
      advice_.missing.push_back({FactCode::PolynomialInputsMissing, {name}});
    }
  }
}

}  // namespace entrain::advising

namespace entrain {

Advice advise(const SystemDescription& description, const AdviceSettings& settings, const Extensions& extensions) {
  return advising::Adviser(description, settings, extensions).advise();
}

SystemDescription applied(const SystemDescription& description, const Advice& advice, const Extensions& extensions) {
  if (!advice.choice) throw Error(ErrorCode::InvalidSystem, {FactCode::NoAdvice, {}, {{"why", advice.reason()}}});
  SystemDescription result =
      advising::with_config(method::MethodRegistry(extensions), description, advice.candidates[*advice.choice]);
  result.step = {advice.recommended_step.value_or(advice.step), {}};
  return result;
}

}  // namespace entrain
