#include "estimate/run_estimator.hpp"

#include <algorithm>
#include <cmath>
#include <list>

#include "base/grid.hpp"
#include "coupling/engine.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/verdict.hpp"
#include "estimate/call_meter.hpp"
#include "estimate/companion_error.hpp"
#include "estimate/formal_order.hpp"
#include "estimate/inner_steps.hpp"
#include "estimate/output_samples.hpp"
#include "estimate/propagated_error.hpp"
#include "estimate/replay.hpp"
#include "methods/registry.hpp"
#include "methods/requirements.hpp"
#include "session/session.hpp"

namespace entrain::estimate {
namespace {

/// Fewer macro steps leave nothing to compare with larger ones.
constexpr std::uint64_t kFewSteps = 8;
/// Ranges that differ by more are of different motions.
constexpr double kRangesDiffer = 2.0;
/// Of the tolerance: what the integration inside subsystems may add before it is measured.
constexpr double kMayAdd = 0.1;

/// Reports the progress of a companion.
class ProgressOf final : public Observer {
 public:
  explicit ProgressOf(std::function<void(double share)> report) : report_(std::move(report)) {}
  void communicated(const Sample& sample, const RunSummary& summary) override {
    constexpr std::uint64_t kOftenEnough = 64;
    if (summary.macro_steps % kOftenEnough == 0) {
      report_((sample.t - summary.start) / (summary.stop - summary.start));
    }
  }

 private:
  std::function<void(double share)> report_;
};

bool sets(const std::optional<Written<bool>>& key) {
  return key && key->value;
}

/// A run that is never made again, and beside which nothing is computed.
std::optional<Fact> never_estimated(const SystemDescription& description, const RunOptions& options) {
  std::vector<std::string> outside;
  for (const auto& subsystem : description.subsystems) {
    if (subsystem.udp || subsystem.shm) outside.push_back(subsystem.name);
  }
  if (!outside.empty()) return Fact{FactCode::EstimatePartOutside, outside};
  if (options.real_time || description.real_time) return Fact{FactCode::EstimateRealTime};
  return std::nullopt;
}

/// Of equations that are known, and of tables, an output that rests is no step inside.
bool is_black_box(const SubsystemSummary& subsystem, const SubsystemDescription& written) {
  return !subsystem.capabilities.equations && written.csv.empty();
}

}  // namespace

struct RunEstimator::Impl {
  struct Companion {
    double factor = 1.0;   ///< its step, in units of that of the run
    bool shifted = false;  ///< its first step is that of the run
    OutputSamples samples;
  };

  Impl(SystemDescription of, RunOptions run_options, Extensions with, EstimateOptions how)
      : description(std::move(of)),
        options(std::move(run_options)),
        extensions(std::move(with)),
        estimate(std::move(how)),
        registry(extensions),
        learned(options.learned != nullptr),
        chooses_steps(method_chooses_steps()),
        never(never_estimated(description, options)),
        samples({.recorded = description.record.variables,
                 .chooses_steps = chooses_steps,
                 .off = !estimate.enabled || never}) {
    options.learned = nullptr;
    options.real_time.reset();
    options.log = {};  // what companions log belongs to no run of the user
  }

  bool method_chooses_steps() const {
    const auto method = registry.make(description.method.value);
    const auto written = description.method_options.find(description.method.value);
    if (!method) return false;
    std::vector<Problem> known_already;
    if (written != description.method_options.end()) {
      read_options(*method, written->second, written->first, known_already);
    }
    return method::chooses_steps(*method);
  }

  void watch(session::Session& run);
  bool take_propagated();
  ErrorEstimate result_of(const RunSummary& summary);
  std::optional<Fact> obstacle(const RunSummary& summary) const;
  void name_outputs(const RunSummary& summary);
  void name_limits(const RunSummary& summary);
  double formal_order(const RunSummary& summary) const;
  static bool ends_steps_at_jumps(const RunSummary& summary);
  static bool found_jumps_late(const RunSummary& summary);
  std::vector<std::vector<Time>> replayed_steps(double factor) const;
  std::vector<Time> shifted_steps(const RunSummary& summary) const;
  static SystemDescription apart(SystemDescription description, const RunSummary& summary);
  bool run_companion(double factor, const RunSummary& summary, bool shifted = false);
  bool judge_outputs(const RunSummary& summary);
  void note_judgement(const CompanionJudgement& judgement, const std::string& name);
  void report(double share_of_run, double factor);
  bool jumps_inside_steps() const;
  std::vector<std::size_t> black_boxes(const RunSummary& summary) const;
  bool repeat(const InnerRun& how, const RunSummary& summary, Observer& observer);
  void look_inside(const RunSummary& summary);
  bool compare(const RunSummary& summary);

  SystemDescription description;
  RunOptions options;
  Extensions extensions;
  EstimateOptions estimate;
  method::MethodRegistry registry;
  bool learned;
  bool chooses_steps;
  std::optional<Fact> never;  ///< why nothing is estimated at all
  OutputSamples samples;
  std::optional<PropagatedError> propagated;  ///< where companions would not see the error
  std::list<Companion> companions;
  ErrorEstimate result;
  std::vector<Fact> of_outputs;  ///< reasons, of the latest judgement
  std::string why_not;           ///< no companion was possible
  bool lands_on_jumps = false;   ///< every jump of the run is at the end of a step
  bool late_by_as_much = false;  ///< the run found jumps late, and all companions find them where it did
  bool interrupted = false;
  double work = 0.0;  ///< done and planned, in runs
  double done = 0.0;
  double reported = 0.0;
};

/// Companions share the imposed steps of continuous subsystems, and must not be made where a step has side effects, nor
/// of a learned run, whose correction belongs to one step.
void RunEstimator::Impl::watch(session::Session& run) {
  auto& system = run.system();
  bool unseen = learned;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const auto& written = description.subsystems[s];
    const bool imposed = system.capabilities(SubsystemId{s}).imposed_step.has_value();
    unseen = unseen || sets(written.side_effects) || (imposed && !sets(written.sampled));
  }
  // Its linear loop has the connections as they are written.
  if (!description.scenario.empty() || !description.constraints.empty()) return;
  if (!estimate.enabled || never || !unseen || !PropagatedError::serves(system, run.method())) return;
  run.watch(propagated.emplace());
}

/// True when every output has its error from beside the run.
bool RunEstimator::Impl::take_propagated() {
  if (!propagated || !propagated->estimate()) return false;
  const auto& found = propagated->estimate()->outputs;
  std::vector<OutputError> outputs = result.outputs;
  for (auto& output : outputs) {
    const auto same = std::find_if(found.begin(), found.end(), [&](const auto& of) { return of.name == output.name; });
    if (same == found.end()) return false;
    const double last = output.last;
    output = *same;
    output.estimate = EstimateKind::Propagated;
    output.last = last;
  }
  result.outputs = std::move(outputs);
  result.extra_seconds = propagated->estimate()->extra_seconds;
  return true;
}

/// What forbids to run it again.
std::optional<Fact> RunEstimator::Impl::obstacle(const RunSummary& summary) const {
  if (!estimate.enabled) return Fact{FactCode::EstimateOff};
  if (summary.termination != Termination::Completed) {
    return Fact{FactCode::EstimateRunIncomplete, {}, {{"termination", to_string(summary.termination)}}};
  }
  if (never) return never;
  if (learned || summary.correction) return Fact{FactCode::EstimateLearned};
  if (summary.resumed_from) return Fact{FactCode::EstimateResumed, {}, {{"time", summary.resumed_from->time, "s"}}};
  if (!summary.changes.empty()) {
    const auto& first = summary.changes.front();
    return Fact{
        FactCode::EstimateValuesSet, {first.name}, {{"count", summary.changes.size()}, {"time", first.time, "s"}}};
  }
  // A macro step ends at every new value: with larger steps the companions would be the run itself.
  constexpr double kLeastSteps = 8.0;
  for (const auto& entry : description.scenario) {
    const Duration interval = entry.interval ? entry.interval->value : summary.step;
    if (entry.action != ScenarioAction::Noise || interval >= kLeastSteps * summary.step) continue;
    return Fact{FactCode::EstimateNoise,
                {entry.target.value},
                {{"interval", interval, "s"}, {"least", kLeastSteps * summary.step, "s"}}};
  }
  std::vector<std::string> with_effects;
  for (const auto& subsystem : description.subsystems) {
    if (sets(subsystem.side_effects)) with_effects.push_back(subsystem.name);
  }
  if (!with_effects.empty()) return Fact{FactCode::EstimateSideEffects, with_effects};
  return std::nullopt;
}

void RunEstimator::Impl::name_outputs(const RunSummary& summary) {
  for (const auto& output : samples.outputs()) {
    OutputError entry;
    entry.name = output.name;
    entry.unit = output.unit;
    entry.last = output.last;
    entry.range = std::max(0.0, output.range.span());
    entry.valid_until = summary.reached;
    result.outputs.push_back(std::move(entry));
  }
}

/// What no companion sees.
void RunEstimator::Impl::name_limits(const RunSummary& summary) {
  for (std::size_t s = 0; s < summary.subsystems.size(); ++s) {
    const auto& subsystem = summary.subsystems[s];
    const auto& written = description.subsystems[s];
    if (sets(written.sampled)) continue;
    if (const auto& imposed = subsystem.capabilities.imposed_step) {
      result.reasons.push_back({FactCode::EstimateImposedStep, {subsystem.name}, {{"step", *imposed, "s"}}});
      continue;
    }
    const auto inner = samples.groups()[s].rhythm.inner_steps();
    if (inner == 0 || !is_black_box(subsystem, written)) continue;
    result.reasons.push_back(
        {FactCode::EstimateInnerStep,
         {subsystem.name},
         {{"steps", inner}, {"inner_step", static_cast<double>(inner) * summary.step, "s"}, {"longer", true}}});
  }
}

/// Those that integrate inside, in steps that are theirs alone.
std::vector<std::size_t> RunEstimator::Impl::black_boxes(const RunSummary& summary) const {
  std::vector<std::size_t> found;
  for (std::size_t s = 0; s < summary.subsystems.size(); ++s) {
    const auto& subsystem = summary.subsystems[s];
    const auto& written = description.subsystems[s];
    const bool named = samples.groups()[s].rhythm.inner_steps() > 0 || subsystem.capabilities.imposed_step;
    if (!is_black_box(subsystem, written) || sets(written.sampled) || named) continue;
    const bool steps = !subsystem.capabilities.function && samples.groups()[s].times.size() > 2;
    if (steps) found.push_back(s);
  }
  return found;
}

/// The run again, as it was but for what is said. False when it did not get there.
bool RunEstimator::Impl::repeat(const InnerRun& how, const RunSummary& summary, Observer& observer) {
  if (interrupted) return false;
  constexpr double kTighter = 0.01;
  constexpr double kTight = 1e-7;
  constexpr double kTightest = 1e-13;
  auto changed = apart(description, summary);
  const auto inside = black_boxes(summary);
  if (how.macro > 1) changed.step = {summary.step / how.macro, {}};
  for (const std::size_t s : inside) {
    auto& written = changed.subsystems[s];
    if (!how.tighter || written.fmu.empty()) continue;
    const double usual = written.relative_tolerance ? kTighter * written.relative_tolerance->value : kTight;
    written.relative_tolerance = {std::max(usual, kTightest), {}};
  }
  try {
    session::Session session(changed, options, extensions);
    if (how.macro == 1 && chooses_steps) session.prescribe(replayed_steps(1.0));
    for (const std::size_t s : inside) session.system().engine().executor().divide_steps(SubsystemId{s}, how.calls);
    session.observe(observer);
    const auto& end = how.until ? session.run_until(*how.until) : session.run();
    for (const auto& subsystem : end.subsystems) {
      result.extra_steps += (subsystem.steps + subsystem.trials) * static_cast<std::uint64_t>(how.calls);
    }
    result.extra_seconds += end.wall_seconds;
    interrupted = end.termination == Termination::Interrupted;
    return end.termination == Termination::Completed || (how.until && end.termination == Termination::Running);
  } catch (const Error&) {  // such a step does not fit
    return false;
  }
}

/// What companions do not see.
void RunEstimator::Impl::look_inside(const RunSummary& summary) {
  const auto inside = black_boxes(summary);
  if (inside.empty() || !estimate.refines || estimate.meter != nullptr) return;
  InnerSteps steps(samples,
                   {.black_boxes = inside,
                    .macro_steps = summary.macro_steps,
                    .negligible = kMayAdd * tolerances_of(description).usual,
                    .fixed_steps = !chooses_steps},
                   [&](const InnerRun& how, Observer& observer) { return repeat(how, summary, observer); });
  const auto clocks = steps.find_clocks();
  for (const auto& clock : clocks) {
    result.reasons.push_back(
        {FactCode::EstimateInnerStep, {summary.subsystems[clock.subsystem].name}, {{"inner_step", clock.step, "s"}}});
  }
  if (clocks.size() == inside.size() || steps.add_errors(result.outputs)) return;
  for (const std::size_t s : inside) {
    result.reasons.push_back({FactCode::EstimateInnerStep, {summary.subsystems[s].name}});
  }
}

/// Steps of nested grids can have the same distance to a jump inside them: the runs agree then, and their error stays.
/// Methods that solve the coupling end a step at announced events, and warn of jumps that were not.
bool RunEstimator::Impl::ends_steps_at_jumps(const RunSummary& summary) {
  return summary.family == MethodFamily::Implicit &&
         std::none_of(summary.warnings.begin(), summary.warnings.end(),
                      [](const Fact& warning) { return warning.code == FactCode::SignalJumps; });
}

bool RunEstimator::Impl::found_jumps_late(const RunSummary& summary) {
  return std::any_of(summary.warnings.begin(), summary.warnings.end(), [](const Fact& warning) {
    return warning.code == FactCode::SignalJumps && warning.number("late").value_or(0.0) > 0.0;
  });
}

double RunEstimator::Impl::formal_order(const RunSummary& summary) const {
  const auto* entry = registry.find(summary.method);
  // Each output has its own order there, and one companion with half the steps needs none: 2 d for order 1, 1.1 d
  // for 3.
  if (entry == nullptr || entry->traits.family == MethodFamily::Asynchronous) return 1.0;
  return estimate::formal_order(entry->traits, summary);
}

void RunEstimator::Impl::report(double share_of_run, double factor) {
  if (!estimate.progress || work <= 0.0) return;
  reported = std::max(reported, std::min(1.0, (done + share_of_run / factor) / work));
  estimate.progress(reported);
}

/// The steps that the method chose in the run, merged or divided.
std::vector<std::vector<Time>> RunEstimator::Impl::replayed_steps(double factor) const {
  std::vector<std::vector<Time>> lists;
  for (const auto& group : samples.groups()) {
    lists.push_back(factor > 1.0 ? merged_steps(group.accepted, static_cast<std::size_t>(factor))
                                 : divided_steps(group.accepted, static_cast<std::size_t>(1.0 / factor)));
  }
  return lists;
}

/// The first step as it was, then two in one: a jump in the first half of a step with factor 2 lies in a second half
/// here.
std::vector<Time> RunEstimator::Impl::shifted_steps(const RunSummary& summary) const {
  std::vector<Time> times = samples.groups().front().accepted;
  if (!chooses_steps) {
    const base::Grid grid(summary.start, summary.stop, summary.step);
    for (std::uint64_t k = 0; k <= grid.steps(); ++k) times.push_back(grid.time(k));
  }
  auto shifted = merged_steps(std::span(times).subspan(1), 2);
  shifted.insert(shifted.begin(), times.front());
  return shifted;
}

/// An FMU of which a process may make one instance has had it in the run.
SystemDescription RunEstimator::Impl::apart(SystemDescription description, const RunSummary& summary) {
  for (std::size_t s = 0; s < description.subsystems.size(); ++s) {
    if (!summary.subsystems[s].capabilities.once_per_process) continue;
    description.subsystems[s].isolate = {Isolation(true), {}};
  }
  return description;
}

/// True when it is there to be compared.
bool RunEstimator::Impl::run_companion(double factor, const RunSummary& summary, bool shifted) {
  if (interrupted) return false;
  auto changed = apart(description, summary);
  if (!chooses_steps && !shifted) changed.step = {factor * summary.step, {}};
  try {
    auto& companion = companions.emplace_back(Companion{factor, shifted, OutputSamples(&samples)});
    ProgressOf progress([&](double share) { report(share, factor); });
    session::Session session(changed, options, extensions);
    if (shifted) {
      session.prescribe({shifted_steps(summary)});
    } else if (chooses_steps) {
      session.prescribe(replayed_steps(factor));
    }
    session.observe(companion.samples);
    session.observe(progress);
    if (estimate.meter != nullptr) session.watch(*estimate.meter);
    const auto& end = session.run();
    for (const auto& subsystem : end.subsystems) result.extra_steps += subsystem.steps + subsystem.trials;
    result.extra_seconds += end.wall_seconds;
    done += 1.0 / factor;
    if (end.termination == Termination::Completed) return true;
    interrupted = end.termination == Termination::Interrupted;
    why_not = end.message;
    if (interrupted) {
      result.reasons.push_back({FactCode::EstimateInterrupted, {}, {{"factor", factor}}});
    } else {
      result.reasons.push_back({FactCode::EstimateCompanionFailed, {}, {{"factor", factor}, {"why", end.message}}});
    }
  } catch (const Error& error) {  // such a step does not fit
    why_not = error.what();
  }
  companions.pop_back();
  return false;
}

void RunEstimator::Impl::note_judgement(const CompanionJudgement& judgement, const std::string& name) {
  if (judgement.common_times < 2) {
    of_outputs.push_back({FactCode::EstimateNoCommonTimes, {name}, {{"count", judgement.common_times}}});
    return;
  }
  if (judgement.range_ratio > kRangesDiffer) {
    of_outputs.push_back({FactCode::EstimateRangesDiffer,
                          {name},
                          {{"ratio", judgement.range_ratio}, {"factor", judgement.nearest_factor}}});
  }
  if (!judgement.converges) {
    of_outputs.push_back({FactCode::EstimateNotConverging, {name}, {{"order", judgement.error.order.value_or(0.0)}}});
  }
  if (judgement.unmatched_jumps > 0) {
    of_outputs.push_back({FactCode::EstimateEventsDiffer,
                          {name},
                          {{"count", judgement.unmatched_jumps}, {"factor", judgement.nearest_factor}}});
  }
  if (judgement.jumps > 0 && !lands_on_jumps && (late_by_as_much || !judgement.shows_jumps)) {
    of_outputs.push_back({FactCode::EstimateJumps, {name}, {{"count", judgement.jumps}}});
  }
  if (judgement.event_time_error > 0.0) {
    of_outputs.push_back({FactCode::EstimateEventTimes,
                          {name},
                          {{"time_error", judgement.event_time_error, "s"}, {"factor", judgement.nearest_factor}}});
  }
  if (judgement.error.valid_until < samples.groups().front().times.back()) {
    of_outputs.push_back({FactCode::EstimateSaturates, {name}, {{"until", judgement.error.valid_until, "s"}}});
  }
}

/// True when a smaller step would say more.
bool RunEstimator::Impl::judge_outputs(const RunSummary& summary) {
  bool wants_smaller_step = false;
  of_outputs.clear();
  base::UnitSizes sizes;
  for (const auto& output : samples.outputs()) sizes.take(output.unit, output.range.span());
  for (std::size_t i = 0; i < samples.outputs().size(); ++i) {
    const auto& output = samples.outputs()[i];
    ComparedOutput compared{.times = samples.groups()[output.group].times,
                            .courses = {{1.0, false, samples.course(output), output.range}},
                            .formal_order = formal_order(summary),
                            .least_range = sizes.least(output.unit)};
    for (const auto& companion : companions) {
      const auto& other = companion.samples.outputs()[i];
      compared.courses.push_back({companion.factor, companion.shifted, companion.samples.course(other), other.range});
    }
    const auto judgement = judge_by_companions(compared);
    note_judgement(judgement, output.name);
    wants_smaller_step = wants_smaller_step || judgement.wants_smaller_step || judgement.range_ratio > kRangesDiffer;
    if (judgement.common_times < 2) continue;
    auto& entry = result.outputs[i];
    auto judged = judgement.error;
    judged.name = entry.name;
    judged.unit = entry.unit;
    judged.last = entry.last;
    entry = std::move(judged);
  }
  return wants_smaller_step;
}

bool RunEstimator::Impl::jumps_inside_steps() const {
  return std::any_of(of_outputs.begin(), of_outputs.end(),
                     [](const Fact& fact) { return fact.code == FactCode::EstimateJumps; });
}

/// True when there was something to compare.
bool RunEstimator::Impl::compare(const RunSummary& summary) {
  work = 0.75;
  // Where each subsystem has steps of its own, merged ones would end where no other communicates: they are divided.
  const bool only_divided = summary.macro_steps < kFewSteps || summary.family == MethodFamily::Asynchronous;
  const bool twice = !only_divided && run_companion(2.0, summary);
  const bool four_times = twice && run_companion(4.0, summary);
  if (interrupted) return false;
  bool wants_smaller_step = !twice || judge_outputs(summary);
  if (twice && jumps_inside_steps() && run_companion(2.0, summary, true)) wants_smaller_step = judge_outputs(summary);
  // With the factor of safety one companion is enough up to order 2, whatever the order really is.
  constexpr double kLowOrder = 2.0;
  const bool enough = four_times || (twice && formal_order(summary) <= kLowOrder);
  wants_smaller_step = wants_smaller_step || !enough;
  if (interrupted) return false;
  wants_smaller_step = wants_smaller_step && (estimate.refines || !enough);
  if (!wants_smaller_step) return true;
  work += twice ? 2.0 : 6.0;
  const bool half = run_companion(0.5, summary);
  if (half && !twice && summary.family != MethodFamily::Asynchronous) run_companion(0.25, summary);
  if (interrupted) return false;
  if (twice || half) judge_outputs(summary);
  return twice || half;
}

ErrorEstimate RunEstimator::Impl::result_of(const RunSummary& summary) {
  result = {};
  companions.clear();
  lands_on_jumps = ends_steps_at_jumps(summary);
  // The short steps behind a jump are in every companion: none has its synchronization point elsewhere.
  late_by_as_much = chooses_steps && found_jumps_late(summary);
  name_outputs(summary);
  if (const auto* entry = registry.find(summary.method)) {
    const bool own_steps = summary.family == MethodFamily::Asynchronous;
    result.order = own_steps ? entry->traits.order : static_cast<int>(formal_order(summary));
  }
  auto fact = obstacle(summary);
  const bool ran_as_asked =
      !fact || fact->code == FactCode::EstimateSideEffects || fact->code == FactCode::EstimateLearned;
  if (ran_as_asked && take_propagated()) return std::move(result);
  if (fact) {
    result.reasons.push_back(std::move(*fact));
    if (ran_as_asked && propagated) {
      result.reasons.insert(result.reasons.end(), propagated->reasons().begin(), propagated->reasons().end());
    }
    return std::move(result);
  }
  if (description.connections.empty() && description.constraints.empty()) {
    result.reasons.push_back({FactCode::EstimateNoCoupling});
    for (auto& output : result.outputs) {
      output.estimate = EstimateKind::Companion;
      output.error = output.bound = output.max_error = 0.0;
    }
    return std::move(result);
  }
  name_limits(summary);
  if (!compare(summary) && !interrupted) {
    result.reasons.push_back({FactCode::EstimateNotPossible, {}, {{"why", why_not}}});
  }
  if (!interrupted && !companions.empty()) look_inside(summary);
  if (interrupted) {
    result.outputs.clear();
    name_outputs(summary);
  } else {
    result.reasons.insert(result.reasons.end(), of_outputs.begin(), of_outputs.end());
  }
  if (estimate.progress) estimate.progress(1.0);
  return std::move(result);
}

RunEstimator::RunEstimator(SystemDescription description, RunOptions options, Extensions extensions,
                           EstimateOptions estimate)
    : impl_(std::make_unique<Impl>(std::move(description), std::move(options), std::move(extensions),
                                   std::move(estimate))) {}
RunEstimator::~RunEstimator() = default;
RunEstimator::RunEstimator(RunEstimator&&) noexcept = default;
RunEstimator& RunEstimator::operator=(RunEstimator&&) noexcept = default;

void RunEstimator::watch(session::Session& run) {
  impl_->watch(run);
}
Observer& RunEstimator::observer() {
  return impl_->samples;
}
ErrorEstimate RunEstimator::estimate(const RunSummary& summary) {
  return impl_->result_of(summary);
}

}  // namespace entrain::estimate
