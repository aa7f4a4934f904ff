#include "advise/trials.hpp"

#include <algorithm>
#include <cmath>

#include "advise/candidates.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "estimate/call_meter.hpp"
#include "estimate/judged_run.hpp"

namespace entrain::advising {
namespace {

double calls_of(const RunSummary& summary) {
  double calls = static_cast<double>(summary.linearizations);
  for (const auto& subsystem : summary.subsystems) calls += static_cast<double>(subsystem.steps + subsystem.rollbacks);
  return calls;
}

/// The power of time with which an error grows, by the two halves of its course: t^1 gives them a ratio of 2^1.4.
/// Halves that differ by less than a tenth show where in an oscillation they end.
double growth_of(const std::vector<double>& course) {
  constexpr double kOfEvenGrowth = 1.4;
  constexpr double kAlike = 1.1;
  const std::size_t half = course.size() / 2;
  double first = 0.0;
  double second = 0.0;
  for (std::size_t i = 0; i < half; ++i) {
    first += course[i] * course[i];
    second += course[course.size() - 1 - i] * course[course.size() - 1 - i];
  }
  if (!(first > 0.0) || !(second > kAlike * kAlike * first)) return 0.0;
  return std::min(1.0, 0.5 * std::log2(second / first) / kOfEvenGrowth);
}

/// The errors, relative to this range if it is the wider one. A range far wider is that of a motion that grows, of
/// which the part that was tried shows nothing.
void relate(OutputError& output, double range) {
  constexpr double kGrowing = 1e3;
  if (!(range > output.range) || !(range < kGrowing * output.range)) return;
  const double factor = output.range / range;
  output.range = range;
  for (double* error : {&output.error, &output.bound, &output.inside, &output.max_error}) *error *= factor;
  for (double& error : output.course) error *= factor;
}

/// What says that a run is no use, in its own words.
Fact failure_of(const Trial& trial, const std::string& why) {
  return {FactCode::TrialFailed,
          {trial.config.title()},
          {{"step", trial.step, "s"}, {"length", trial.length, "s"}, {"why", why}}};
}

}  // namespace

TrialRuns::TrialRuns(const SystemDescription& description, const Extensions& extensions, const SearchBudget& budget,
                     const std::map<std::string, double>& ranges)
    : description_(description), extensions_(extensions), budget_(budget), ranges_(ranges) {}

Trial TrialRuns::run(const MethodConfig& config, Duration step, Duration length, double most_calls) {
  const Duration all = description_.stop->value - description_.start.value;
  Trial trial;
  trial.config = config;
  trial.step = step;
  trial.length = std::min(length, all);
  trial.whole = length >= all;
  ++count_;
  if (budget_.progress) budget_.progress({"a run to compare methods", config.title(), step, count_});
  auto description = with_config(method::MethodRegistry(extensions_), description_, config);
  description.step = {step, {}};
  description.stop->value = description.start.value + trial.length;
  description.record = {};
  RunOptions options;
  estimate::CallMeter meter(most_calls);
  options.interrupt = budget_.interrupt;
  options.stop = meter.stop();
  try {
    auto [system, summary, estimate, verdict] =
        estimate::estimated_run(description, {options, {}, {}}, extensions_, {.refines = false, .meter = &meter});
    calls_ += meter.calls();
    trial.cut_short = meter.exceeded();
    const double steps = std::round((summary.reached - summary.start) / step) - 1.0;
    if (steps >= 1.0) trial.calls_per_step = (calls_of(summary) - meter.calls_to_begin()) / steps;
    if (summary.termination != Termination::Completed) {
      trial.failure = failure_of(trial, summary.message);
      return trial;
    }
    for (auto& output : estimate.outputs) {
      if (const auto known = ranges_.find(output.name); known != ranges_.end()) relate(output, known->second);
    }
    trial.verdict = judge(summary, estimate, {tolerances_of(description_), {}, {}});
    const auto worst = std::find_if(estimate.outputs.begin(), estimate.outputs.end(),
                                    [&](const OutputError& of) { return of.name == trial.verdict.output; });
    if (worst == estimate.outputs.end()) return trial;
    if (!std::isfinite(worst->bound)) {
      trial.failure = failure_of(trial, render(trial.verdict.reasons.front()));
      return trial;
    }
    trial.is_known = true;
    const double formal = std::max(1, estimate.order);
    trial.order = std::clamp(worst->order.value_or(formal), 0.5, formal);
    trial.growth = growth_of(worst->course);
    trial.identified = std::any_of(summary.notes.begin(), summary.notes.end(),
                                   [](const Fact& note) { return note.code == FactCode::StepsIdentified; });
  } catch (const Error& error) {  // a step that does not fit
    calls_ += meter.calls();
    trial.failure = failure_of(trial, error.what());
  }
  return trial;
}

std::optional<Fact> TrialRuns::stopped() const {
  if (budget_.interrupt != nullptr && budget_.interrupt->load()) return Fact{FactCode::SearchInterrupted};
  const auto spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_);
  if (spent > budget_.longest) return Fact{FactCode::SearchStopped, {}, {{"seconds", budget_.longest.count(), "s"}}};
  return std::nullopt;
}

}  // namespace entrain::advising
