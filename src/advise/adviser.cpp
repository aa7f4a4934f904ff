#include "advise/adviser.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "advise/candidates.hpp"
#include "advise/capability_lines.hpp"
#include "advise/choose_method.hpp"
#include "advise/method_kinds.hpp"
#include "advise/parameter_study.hpp"
#include "advise/search_configs.hpp"
#include "analysis/coupled_motion.hpp"
#include "coupling/calls_made.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/system.hpp"
#include "methods/calendar.hpp"
#include "session/repeatable.hpp"
#include "verify/verification.hpp"

namespace entrain::advising {
namespace {

bool usable(const Candidate& candidate) {
  return candidate.obstacles.empty();
}

SearchBudget budget_of(const AdviceSettings& settings) {
  SearchBudget budget = generous_budget(settings.interrupt);
  budget.looks_at_all = true;
  budget.progress = settings.progress;
  return budget;
}

}  // namespace

Adviser::Adviser(const SystemDescription& description, const AdviceSettings& settings, const Extensions& extensions)
    : settings_(settings),
      interruption_(settings.interrupt),
      log_(session::interruptible(settings.interrupt)),
      extensions_(extensions),
      methods_(extensions) {
  auto written = description;
  written.method = {std::string(method::kAuto), {}};
  std::vector<Problem> problems;
  prepared_ = session::prepare(to_look_at(written), 1, extensions_, problems, log_);
  if (!prepared_.system) throw Error(std::move(problems));
  look_ = look_at(written, prepared_, methods_, extensions_);
  for (const std::size_t s : look_.sequence) advice_.sequence.push_back(prepared_.system->graph().name(SubsystemId{s}));
  note_options(description);
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

/// What fails for one reason with every method is one remark.
void Adviser::remark_once(Fact failure) {
  const bool known = std::any_of(advice_.remarks.begin(), advice_.remarks.end(),
                                 [&](const Fact& of) { return of.text("why") == failure.text("why"); });
  if (!known) remark(std::move(failure));
}

void Adviser::remark_failure(FactCode code, const Error& error) {
  remark_once({code, {}, {{"why", error.what()}}});
}

void Adviser::describe() {
  CoupledSystem& system = *prepared_.system;
  advice_.system = look_.description.name;
  advice_.start = prepared_.settings.start;
  advice_.stop = prepared_.settings.stop;
  advice_.step = look_.step;
  advice_.capabilities = capability_lines(system, prepared_.summary.subsystems);
  for (const auto& loop : system.graph().loops()) {
    auto& names = advice_.loops.emplace_back();
    for (const OutputId output : loop.outputs) names.push_back(system.graph().name(output));
  }
  advice_.candidates = look_.candidates;
}

void Adviser::do_part(const char* part, void (Adviser::*work)()) {
  if (settings_.progress) settings_.progress({part, {}, 0.0, 0});
  try {
    interruption_.check();
    (this->*work)();
  } catch (const PartInterrupted&) {
    remark({FactCode::NotLookedAt, {part}, {{"why", "interrupted"}}});
  }
}

/// As much of the run as a number of calls allows: operating points and ranges are those of its beginning then.
PilotSettings Adviser::pilot_settings(const Candidate& candidate, Duration step) const {
  constexpr double kMostCalls = 200000.0;
  const double calls = traits(candidate).calls_per_step * static_cast<double>(look_.subsystems) * whole_run() / step;
  return {.share = std::min(1.0, kMostCalls / calls), .interruption = interruption_};
}

/// With the most accurate method that can: its motion is what the errors are measured on.
void Adviser::run_pilot_method() {
  auto described = look_.description;
  described.step = {look_.step, {}};
  for (const MethodKind kind : {is_estimating, is_iterative, is_sequential, is_asynchronous}) {
    const auto candidate = std::find_if(advice_.candidates.begin(), advice_.candidates.end(),
                                        [&](const Candidate& of) { return kind(traits(of)) && usable(of); });
    if (candidate == advice_.candidates.end()) continue;
    std::vector<Problem> problems;
    const session::Prepared pilot =
        session::prepare(with_config(methods_, described, *candidate), 1, extensions_, problems, log_);
    if (!pilot.system) continue;
    const auto settings = pilot_settings(*candidate, advice_.step);
    if (settings.share < 1.0) {
      remark({FactCode::NotLookedAt,
              {fmt::format("operating points after {:.2g} s", advice_.start + settings.share * whole_run())},
              {{"why", "they would take many calls"}}});
    }
    try {
      const coupling::CallCount counted(*pilot.system, advice_.calls);
      pilot_ = run_pilot(*pilot.system, *pilot.method, pilot.settings, settings);
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
  auto description = with_config(methods_, look_.description, candidate);
  description.step = {advice_.step, {}};
  for (int k = 0; k < kAttempts; ++k) {
    description.step->value = nearest_fitting(look_.imposed, description.step->value / 4.0);
    std::vector<Problem> problems;
    const session::Prepared prepared = session::prepare(description, 1, extensions_, problems, log_);
    if (!prepared.system) return;
    const coupling::CallCount counted(*prepared.system, advice_.calls);
    Pilot finer = run_pilot(*prepared.system, *prepared.method, prepared.settings,
                            pilot_settings(candidate, description.step->value));
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
  // Rows of a step matrix: the eigenvalues of a larger one take more than a second.
  constexpr std::size_t kLargestJudged = 2500;
  Fact left{FactCode::NotLookedAt, {}, {{"why", "stability, of a network this large"}}};
  for (auto& candidate : advice_.candidates) {
    if (!usable(candidate)) continue;
    if (analysis::vector_size(pilot_.path->points.front().network, candidate.degree.value_or(0)) > kLargestJudged) {
      left.subjects.push_back(candidate.title());
      continue;
    }
    try {
      forecast(candidate);
    } catch (const Error& error) {  // imposed steps that hardly ever meet, an eigenvalue that is not found
      remark({FactCode::ForecastFailed, {}, {{"candidate", candidate.title()}, {"why", error.what()}}});
    }
  }
  if (!left.subjects.empty()) remark(std::move(left));
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
  candidate.stable_steps = stable_steps_of(candidate, linearized_run(), look_.imposed, whole_run());
}

/// What a search found becomes a candidate: the compromise, and what is most accurate at the step asked for.
void Adviser::search() {
  if (advice_.operating_points == 0 || !advice_.fastest_rate) {
    remark({FactCode::NothingToSearch});
    return;
  }
  if (!look_.imposed.empty()) {
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

/// What the search found, in the table of candidates.
void Adviser::take(Recommendation found) {
  for (const auto& trial : found.trials) {
    const auto of = std::find_if(advice_.candidates.begin(), advice_.candidates.end(),
                                 [&](const Candidate& candidate) { return candidate == trial.config; });
    if (trial.calls_per_step > 0.0) of->calls_per_step = trial.calls_per_step;
    if (trial.failure) {
      remark_once(*trial.failure);
    } else if (trial.is_known) {
      of->tried = TriedRun{trial.step, trial.length, trial.whole, trial.verdict.error, trial.verdict.bound};
    }
  }
  for (auto& candidate : advice_.candidates) {
    if (usable(candidate) && !candidate.calls_per_step) {
      candidate.calls_per_step = traits(candidate).calls_per_step * static_cast<double>(look_.subsystems);
    }
  }
  if (found.choice) {
    advice_.choice = found.choice->candidate;
    advice_.recommended_step = found.choice->step;
  }
  advice_.reasons = std::move(found.reasons);
  if (advice_.choice) {
    for (auto& note : patent_notes(methods_, advice_.candidates[*advice_.choice].method)) remark(std::move(note));
  }
  for (auto& of : found.remarks) remark(std::move(of));
  advice_.calls += found.calls;
}

Advice Adviser::advise() {
  describe();
  do_part("the motion of the system", &Adviser::run_pilot_method);
  do_part("the stability of every method", &Adviser::forecast);
  if (settings_.search) do_part("sequences, gains and steps", &Adviser::search);
  look_.candidates = advice_.candidates;
  take(recommend(look_, methods_, extensions_, budget_of(settings_), false));
  report_growth();
  report_missing_step();
  report_what_is_missing();
  if (settings_.verify && advice_.choice) verify_choice();
  do_part("robustness and parameters", &Adviser::add_measures);
  return std::move(advice_);
}

/// As `entrain verify` of what is recommended.
void Adviser::verify_choice() {
  auto description = with_config(methods_, look_.description, advice_.candidates[*advice_.choice]);
  description.step = {*advice_.recommended_step, {}};
  RunOptions options;
  options.interrupt = settings_.interrupt;
  try {
    advice_.verification = verifying::verify_chosen(description, options, extensions_);
    advice_.grade = advice_.verification->grade(tolerances_of(description));
  } catch (const Error& error) {  // a part of the step that does not fit an imposed one
    advice_.grade = Grade::Unknown;
    remark({FactCode::NotVerified, {}, {{"why", error.what()}}});
  }
}

/// At the step that is recommended, or asked for.
void Adviser::report_growth() {
  bool any_stable = false;
  bool any_step = false;
  bool any_known = false;
  for (const auto& candidate : advice_.candidates) {
    if (!candidate.radius || !usable(candidate)) continue;
    any_known = true;
    any_stable = any_stable || candidate.harmless;
    any_step = any_step || !candidate.steps_searched || !candidate.stable_steps.empty();
  }
  if (!any_known || any_stable) return;
  Fact grows{FactCode::GrowsWithEveryMethod};
  if (!any_step) {
    grows.values.emplace_back("smallest", advice_.step / 64.0, "s");
    // Runs that grow alike agree with each other: what a trial measured beside their range means nothing.
    advice_.choice.reset();
    advice_.recommended_step.reset();
    advice_.reasons = {grows};
  }
  remark(std::move(grows));
}

/// Methods that only the macro step keeps from running: one that every imposed step divides would do.
void Adviser::report_missing_step() {
  constexpr double kFewestSteps = 20.0;
  if (look_.imposed.empty()) return;
  auto settings = prepared_.settings;
  const auto common = common_multiple(look_.imposed);
  if (!common || *common * kFewestSteps > whole_run()) return;
  settings.step = *common;
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

void Adviser::report_what_is_missing() {
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

std::vector<std::size_t> Adviser::judged_order() const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < advice_.candidates.size(); ++i) {
    if (usable(advice_.candidates[i]) && advice_.candidates[i].radius) order.push_back(i);
  }
  // However small the error over the run: what grows comes last.
  const auto key = [&](std::size_t i) {
    const auto& of = advice_.candidates[i];
    return std::tuple(!(advice_.choice == i), !of.harmless, of.error.value_or(std::numeric_limits<double>::infinity()));
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

void Adviser::study_parameters(const std::vector<std::size_t>& order) {
  const ParameterStudy study(look_.description, extensions_, prepared_, settings_);
  if (order.empty()) return;
  const auto& of = advice_.candidates[order.front()];
  advice_.parameters = study.limits(of, look_.sequence, advice_.step);
  for (auto& limits : advice_.parameters) {
    limits.config = of.title();
    limits.step = advice_.step;
  }
  advice_.joint_factor = study.joint_factor(of, look_.sequence, advice_.step);
  if (settings_.curves && settings_.parameters.size() > 1) {
    advice_.heat = study.heat(of, look_.sequence, advice_.step);
  }
}

/// Measures of the choice, or of the best explicit config where the choice has none.
void Adviser::add_measures() {
  if (advice_.operating_points == 0) {
    if (!settings_.parameters.empty()) remark({FactCode::NoParameterLimits});
    return;
  }
  const auto order = judged_order();
  const auto judged = std::find_if(order.begin(), order.end(),
                                   [&](std::size_t i) { return forecast_of(advice_.candidates[i]).has_stages(); });
  try {
    if (!settings_.parameters.empty()) study_parameters(order);
    if (judged != order.end()) {
      advice_.robustness = robustness_of(advice_.candidates[*judged], linearized_run());
      advice_.robustness->candidate = *judged;
    }
    if (!settings_.curves || !look_.imposed.empty()) return;
    for (const auto& candidate : advice_.candidates) {
      if (!candidate.error || !usable(candidate)) continue;
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

namespace entrain {

Advice advise(const SystemDescription& description, const AdviceSettings& settings, const Extensions& extensions) {
  session::require_repeatable(description, "advise");
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
