#include "methods/asynchronous/f3ornits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/bytes.hpp"
#include "base/grid.hpp"
#include "entrain/fact_codes.hpp"
#include "trials/trials.hpp"

namespace entrain::method {
namespace {

// An error of so many tolerances that no order foresaw is a jump, not a step that was a little too long; nor is it one
// when the step before had an error like it: so it is in the first steps, and where an imposed step is too coarse.
constexpr double kJumpError = 10.0;
// Nor does an order predict a jump that leaves more than this share of the error of a held value: what a slope adds
// happens to have the sign of the jump in every second case.
constexpr double kNotPredicted = 0.9;
constexpr double kStepRounding = 1e-9;
// A step that ended behind a jump is made again as this share of it.
constexpr double kShorter = 0.1;
// Beyond this share of its steps, an imposed step decides the error and no tolerance does.
constexpr double kFloorShare = 0.1;
// With more subsystems a line for each is too long; the numbers are in the summary in any case.
constexpr std::size_t kMostToldOneByOne = 20;

double share(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

const MethodTraits& F3ornits::traits() const {
  static const MethodTraits kTraits{
      .name = "f3ornits",
      .summary = "explicit, each subsystem with steps of its own; for any mix of capabilities",
      .family = MethodFamily::Asynchronous,
      .order = 3,
      .knobs = {.tolerances = {"relative_tolerance", "absolute_tolerance"}}};
  return kTraits;
}

Requirements F3ornits::requirements() const {
  Requirements needs;
  needs.common_grid = false;
  return needs;
}

void F3ornits::start(CoupledSystem& system, const RunSettings& settings) {
  calibration_ = {options_.max_order, options_.calibration == Calibration::LeastSquares};
  controller_ = StepController(options_.step_settings(), {});
  norm_ = {options_.normalisation, options_.damping};
  settings_ = settings;
  step_ = 0;
  now_ = settings.start;
  outputs_.assign(system.graph().outputs(), {});
  estimates_.assign(outputs_.size(), {});
  for (std::size_t y = 0; y < outputs_.size(); ++y) {
    estimates_[y].begin(now_, system.outputs()[y]);
    outputs_[y].range.begin(system.outputs()[y]);
  }
  for (const auto& connection : system.graph().connections()) outputs_[connection.output].controls = true;
  members_.assign(system.size(), {});
  requests_.assign(system.size(), {});
  due_.clear();
  tasks_.reserve(system.size());
  jumped_.reserve(system.size());
  events_.start(system, now_);
  std::vector<StepScheduler::Constraints> constraints;
  for (std::size_t s = 0; s < system.size(); ++s) {
    constraints.push_back(join(system, SubsystemId{s}));
    if (!settings.prescribed.empty()) constraints.back().prescribed = settings.prescribed[s];
    due_.emplace_back(s);
  }
  scheduler_.start(system.graph(), std::move(constraints), settings.start, settings.stop);
  inputs_.start(system, scheduler_, {calibration_, options_.smooth});
}

/// What this subsystem can and must do, and its first request.
StepScheduler::Constraints F3ornits::join(CoupledSystem& system, SubsystemId s) {
  const auto& can = system.capabilities(s);
  Member& member = members_[s];
  const bool chosen = options_.initial_step == 0.0;
  const Duration initial = chosen ? controller_.settings().first_step(settings_.step) : options_.initial_step;
  auto [least, most] = controller_.settings().limits(kAsynchronousLimits, chosen ? settings_.step : initial);
  if (chosen && options_.min_step == 0.0) least = std::min(least, initial);
  member.starting = chosen && !can.initial_step;
  // A step must change the time.
  const Duration resolution =
      64 * std::numeric_limits<double>::epsilon() * std::max(std::abs(settings_.start), std::abs(settings_.stop));
  StepScheduler::Constraints limits{can.imposed_step, can.step_offset, 0.0, 0.0, can.min_step.value_or(0.0)};
  limits.max_step = std::max({std::min(most, can.max_step.value_or(kNever)), can.min_step.value_or(0.0), resolution});
  limits.min_step = std::max({std::min(least, limits.max_step), can.min_step.value_or(0.0), resolution});

  member.limits = {limits.min_step, limits.max_step};
  member.input_degree = can.input_degree;
  member.imposed = can.imposed_step.has_value();
  member.rollback = can.rollback;
  const bool may_divide = !member.imposed && !can.min_step;
  member.parts = may_divide ? std::max(options_.substeps, can.substeps) : 1;
  member.inputs = system.graph().inputs_of(s);
  const auto outputs = member.outputs = system.graph().outputs_of(s);
  if (outputs.count > 0) {
    requests_[s].proposal = member.limits.within(can.initial_step.value_or(initial));
  }
  const bool no_input_reads =
      std::none_of(outputs_.begin() + static_cast<std::ptrdiff_t>(outputs.first),
                   outputs_.begin() + static_cast<std::ptrdiff_t>(outputs.first + outputs.count),
                   [](const Output& output) { return output.controls; });
  if (no_input_reads) {
    for (const OutputId y : outputs) outputs_[y].controls = true;  // then they determine how fine a record must be
  }
  return limits;
}

MacroStepReport F3ornits::advance(CoupledSystem& system) {
  MacroStepReport report;
  before_.taken_back_end = kNever;
  for (reach_next(system); taken_back(system); reach_next(system)) ++report.rejected;
  commit(system, true);
  for (const SubsystemId s : due_) inputs_.follow(system, estimates_, s);
  ++step_;
  report.reached = now_;
  return report;
}

void F3ornits::reach_next(CoupledSystem& system) {
  const bool locates_jumps = options_.detect_jumps && options_.locate_jumps;
  before_.kept = false;
  if (locates_jumps) keep_before_plan();
  plan(system);
  now_ = std::min(scheduler_.next(due_), settings_.stop);
  if (locates_jumps) keep_before_steps(system);
  jumped_.clear();
  try {
    commit(system, false);
  } catch (const Error& error) {
    if (!trials::may_be_retried(error) || !shorter_is_possible()) throw;
    jumped_ = before_.stepped;
  }
}

void F3ornits::plan(CoupledSystem& system) {
  for (const SubsystemId s : due_) {
    Time event = std::min(events_.next(s), events_.instant());
    for (const SubsystemId source : scheduler_.sources(s)) event = std::min(event, events_.next(source));
    requests_[s].event = base::reached(now_, event) ? kNever : event;
  }
  scheduler_.plan(now_, due_, requests_);
  for (const SubsystemId s : due_) begin_step(system, s);
}

void F3ornits::begin_step(CoupledSystem& system, SubsystemId s) {
  const Time end = scheduler_.end(s);
  if (end == kNever) return;  // its imposed step does not fit before the stop time
  Member& member = members_[s];
  member.from = now_;
  member.size = end - now_;
  const Duration proposal = requests_[s].proposal;
  const Duration nominal = system.capabilities(s).imposed_step.value_or(proposal);
  // To the last bit, so that it can keep what it computed for a step of this size.
  if (nominal < kNever && std::abs(member.size - nominal) <= kStepRounding * nominal) member.size = nominal;
  const bool was_cut = proposal < kNever && member.size < proposal * (1 - kStepRounding);
  member.cut_proposal = options_.memory && was_cut ? proposal : 0.0;
  if (scheduler_.only_reads(s)) {
    inputs_.remember_start(system, estimates_, {s, member.from, member.size});
    return;
  }
  member.degree = inputs_.extrapolate(system, estimates_, {s, member.from, member.size});
  const auto sources = scheduler_.sources(s);
  const bool outlasts = std::any_of(sources.begin(), sources.end(), [&](SubsystemId source) {
    const Time valid_until = scheduler_.end(source);
    return valid_until == kNever || !base::reached(valid_until, end);  // never: it makes no more steps
  });
  if (outlasts) ++member.reads_past_validity;
}

/// The steps that end now: first of subsystems that others read, then of those that only read, when their inputs are
/// known.
void F3ornits::commit(CoupledSystem& system, bool only_readers) {
  tasks_.clear();
  for (const SubsystemId s : due_) {
    if (scheduler_.only_reads(s) != only_readers) continue;
    Member& member = members_[s];
    if (only_readers) member.degree = inputs_.interpolate(system, estimates_, {s, member.from, member.size});
    const int parts = member.degree > member.input_degree ? member.parts : 1;
    tasks_.push_back({s, member.from, member.size, member.degree, parts, now_});
  }
  if (tasks_.empty()) return;
  system.commit_all(tasks_);
  for (const auto& task : tasks_) take_outputs(system, task.subsystem);
}

void F3ornits::take_outputs(CoupledSystem& system, SubsystemId s) {
  Member& member = members_[s];
  ++member.steps;
  member.smallest = std::min(member.smallest, member.size);
  member.largest = std::max(member.largest, member.size);
  for (const OutputId y : member.outputs) {
    norm_.take(outputs_[y].range, system.outputs()[y], member.size);
  }
  if (events_.pass(system, s, now_)) return begin_new_past(system, s);
  const bool ended_early = returned_early(system, s);
  Verdict verdict = judge_outputs(system, s);
  // That something happened is known then, not guessed: an error beyond the tolerance is its effect.
  if (ended_early && verdict.beyond_tolerance) verdict.jumped = true;
  if (verdict.beyond_tolerance) ++member.beyond_tolerance;
  if (verdict.jumped) {
    ++member.jumps;
    if (member.imposed || !member.at_its_shortest()) ++member.late_jumps;
    jumped_.push_back(s);
  }
  if (ended_early) return begin_new_past(system, s);
  propose(s, verdict);
}

/// An event that was not announced made the subsystem stop within its step.
bool F3ornits::returned_early(const CoupledSystem& system, SubsystemId s) {
  const auto returns = system.counters(s).early_returns;
  return returns > std::exchange(members_[s].early_returns, returns);
}

void F3ornits::begin_new_past(const CoupledSystem& system, SubsystemId s) {
  Member& member = members_[s];
  for (const OutputId y : member.outputs) {
    estimates_[y].begin(now_, system.outputs()[y]);
    outputs_[y].error = 0.0;
    outputs_[y].doubted = false;
  }
  requests_[s].proposal = member.outputs.count > 0 ? member.limits.min : kNever;
  member.starting = options_.initial_step == 0.0;
}

/// Behind what the scenario has changed, nothing is continued from the past.
void F3ornits::instant_passed(CoupledSystem& system, Time now) {
  for (const SubsystemId s : due_) begin_new_past(system, s);
  events_.pass_instant(system, now);
}

F3ornits::Verdict F3ornits::judge_outputs(const CoupledSystem& system, SubsystemId s) {
  Member& member = members_[s];
  Verdict verdict;
  for (const OutputId y : system.graph().outputs_of(s)) {
    const double value = system.outputs()[y];
    auto& output = outputs_[y];
    const auto prediction = estimates_[y].take(now_, value, calibration_);
    const double error_before = output.error;
    output.error = norm_.of(prediction.error, value, output.range, controller_);
    ++member.orders[static_cast<std::size_t>(estimates_[y].order())];
    if (!output.controls) continue;
    verdict.growth = std::min(verdict.growth, asymptotic_growth(output.error, prediction.order + 1));
    verdict.beyond_tolerance = verdict.beyond_tolerance || !(output.error <= 1.0);
    if (options_.detect_jumps && jumped(y, prediction, error_before, member.imposed)) verdict.jumped = true;
  }
  return verdict;
}

/// Cuts the past of an output that jumped. Where the step is imposed, nothing can be done but that, and to cut the past
/// of one that only moves fast costs its order: the next sample decides.
bool F3ornits::jumped(OutputId y, const OutputEstimate::PredictionError& prediction, double error_before,
                      bool imposed) {
  Output& output = outputs_[y];
  const bool not_predicted = prediction.highest > 0 && prediction.left > kNotPredicted;
  if (std::exchange(output.doubted, false)) {
    if (not_predicted) estimates_[y].confirm_doubt();
    return not_predicted;
  }
  if (!not_predicted || output.error <= kJumpError * std::max(1.0, error_before)) return false;
  if (imposed) {
    estimates_[y].doubt();
    output.doubted = true;
    return false;
  }
  estimates_[y].begin(estimates_[y].time(), estimates_[y].value());
  return true;
}

void F3ornits::propose(SubsystemId s, const Verdict& verdict) {
  Member& member = members_[s];
  if (requests_[s].proposal == kNever) return;  // no outputs, no request
  if (verdict.jumped) {
    member.starting = options_.initial_step == 0.0;
  } else if (controller_.leaves_start(verdict.growth)) {
    member.starting = false;
  }
  const Duration by_error =
      member.starting ? controller_.next_at_start(member.size, verdict.growth, settings_.step, member.cut_proposal)
                      : controller_.next(member.size, verdict.growth, member.cut_proposal);
  const Duration wanted = verdict.jumped ? 0.0 : by_error;
  if (wanted < member.limits.min) ++member.at_min_step;
  requests_[s].proposal = member.limits.within(wanted);
}

// Taking steps back that ended behind a jump, or could not be made.

bool F3ornits::Member::at_its_shortest() const {
  return imposed || size <= limits.min * (1 + kStepRounding);
}

void F3ornits::keep_before_plan() {
  before_.now = now_;
  before_.due.assign(due_.begin(), due_.end());
  before_.changed.clear();
  before_.progress.clear();
  before_.events.clear();
  before_.requests.clear();
  before_.inputs.clear();
  before_.outputs.clear();
  before_.estimates.clear();
  for (const SubsystemId s : due_) keep(s);
}

/// Steps are made when they end, so only subsystems whose steps end together must be rolled back. Subsystems that only
/// read are not among them: they step when the steps of all others are final.
void F3ornits::keep_before_steps(CoupledSystem& system) {
  before_.stepped.clear();
  for (const SubsystemId s : due_) {
    if (!scheduler_.only_reads(s)) before_.stepped.push_back(s);
  }
  before_.kept = !before_.stepped.empty() && std::all_of(before_.stepped.begin(), before_.stepped.end(),
                                                         [&](SubsystemId s) { return members_[s].rollback; });
  if (!before_.kept) return;
  for (const SubsystemId s : due_) {
    const bool planned_now = members_[s].from == before_.now;
    if (!planned_now) keep(s);
  }
  system.save(before_.stepped, before_.steps);
}

/// A subsystem failed in its step, which ended with those of others: one of them can be shorter.
bool F3ornits::shorter_is_possible() const {
  return before_.kept && now_ < before_.taken_back_end &&
         std::any_of(before_.stepped.begin(), before_.stepped.end(),
                     [&](SubsystemId s) { return members_[s].from == before_.now && !members_[s].at_its_shortest(); });
}

/// True when everything was put back, because a step that ended behind a jump, or failed, can be made shorter. The
/// subsystems that it meets, and the stop time, may not let it: what was made again and ended where it did before stays
/// as it is.
bool F3ornits::taken_back(CoupledSystem& system) {
  if (!before_.kept) return false;
  if (now_ >= before_.taken_back_end) jumped_.clear();
  std::erase_if(jumped_, [&](SubsystemId s) {
    const bool began_earlier = members_[s].from != before_.now;  // others have communicated since
    return began_earlier || members_[s].at_its_shortest();
  });
  if (!jumped_.empty()) {
    system.restore(before_.steps);
    scheduler_.take_back(before_.due, due_);
    std::vector<Duration> shorter;
    for (const SubsystemId s : jumped_) {
      shorter.push_back(std::max(members_[s].limits.min, kShorter * members_[s].size));
    }
    put_back_changed();
    for (std::size_t i = 0; i < jumped_.size(); ++i) requests_[jumped_[i]].proposal = shorter[i];
    before_.taken_back_end = now_;
    now_ = before_.now;
    due_ = before_.due;
  }
  system.release(before_.steps);
  return !jumped_.empty();
}

/// Appended to what is kept of others; the storage is that of the synchronization point before.
void F3ornits::keep(SubsystemId s) {
  const Member& member = members_[s];
  before_.changed.push_back(s);
  before_.progress.push_back(member);
  before_.events.push_back(events_.next(s));
  before_.requests.push_back(requests_[s]);
  for (const InputId input : member.inputs) before_.inputs.push_back(inputs_.of(input));
  for (const OutputId y : member.outputs) {
    before_.outputs.push_back(outputs_[y]);
    before_.estimates.push_back(estimates_[y]);
  }
}

void F3ornits::put_back_changed() {
  std::size_t input_at = 0;
  std::size_t output_at = 0;
  for (std::size_t i = 0; i < before_.changed.size(); ++i) {
    const SubsystemId s = before_.changed[i];
    static_cast<Progress&>(members_[s]) = before_.progress[i];
    events_.put_back(s, before_.events[i]);
    requests_[s] = before_.requests[i];
    for (const InputId input : members_[s].inputs) inputs_.restore(input, before_.inputs[input_at++]);
    for (const OutputId y : members_[s].outputs) {
      outputs_[y] = before_.outputs[output_at];
      estimates_[y] = before_.estimates[output_at++];
    }
  }
}

MethodMemory F3ornits::memory() const {
  return {step_, {}, base::to_bytes(*this)};
}

void F3ornits::restore(const MethodMemory& memory) {
  base::from_bytes(memory.bytes, *this);
}

// Options.

void F3ornitsOptions::bind(OptionBinder& binder) {
  constexpr OptionBinder::Limits kNotNegative{0.0};
  binder.choice("calibration", calibration, "estimates pass through the latest samples, or fit one more of them (cls)");
  binder.boolean("smooth", smooth, "inputs without jumps of value or slope, where the subsystem takes cubics");
  binder.choice("normalisation", normalisation, "what errors are relative to");
  binder.number("damping", damping, "share of the amplitude forgotten per second", kNotNegative);
  binder.number("relative_tolerance", relative_tolerance, "relative tolerance of the predicted outputs", kNotNegative);
  binder.number("absolute_tolerance", absolute_tolerance, "absolute tolerance, in the unit of each output",
                kNotNegative);
  binder.integer("max_order", max_order, "highest order of the estimates", {0, kMaxInputDegree});
  binder.number("initial_step", initial_step, "first step in s; 0: chosen, so short that it does not matter",
                kNotNegative);
  binder.number("min_step", min_step,
                "smallest step in s; 0: a hundredth of initial_step or, where none is written, the first step or a "
                "hundredth of the step of the run",
                kNotNegative);
  binder.number("max_step", max_step, "largest step in s; 0: no limit", kNotNegative);
  binder.list("growth", growth, "least and most of a step against the one before", kNotNegative);
  binder.boolean("memory", memory, "after a step cut for a synchronization point, the next may have the proposed size");
  binder.boolean("detect_jumps", detect_jumps,
                 "unannounced jumps are detected, and samples before a jump are not used behind it");
  binder.boolean(
      "locate_jumps", locate_jumps,
      "steps that end behind a detected jump, or that a subsystem cannot make, are made again, shorter, where all that "
      "end with them can be rolled back");
  binder.integer("substeps", substeps, "parts of a step whose inputs exceed the degree the subsystem takes", {1, 1000});
}

StepSettings F3ornitsOptions::step_settings() const {
  StepSettings settings;
  settings.relative_tolerance = relative_tolerance;
  settings.absolute_tolerance = absolute_tolerance;
  settings.initial_step = initial_step;
  settings.min_step = min_step;
  settings.max_step = max_step;
  settings.least_growth = growth[0];
  settings.most_growth = growth[1];
  return settings;
}

void F3ornits::check(const Graph&, const WrittenOptions& written, std::vector<Problem>& problems) const {
  const auto add = [&](const std::string& option, Fact fact, std::string remedy = {}) {
    problems.push_back(problem_of(std::move(fact), std::move(remedy), position_of(written, option)));
  };
  const auto& growth = options_.growth;
  const bool pair = growth.size() == 2 && growth[0] > 0.0 && growth[0] <= 1.0 && growth[1] >= 1.0;
  if (!pair) add("growth", Fact{FactCode::GrowthNoPair, {"method.f3ornits.growth"}}, "choose for example [0.1, 1.05]");
  if (options_.relative_tolerance + options_.absolute_tolerance == 0.0) {
    add("relative_tolerance", Fact{FactCode::TolerancesZero, {"method.f3ornits.relative_tolerance"}},
        "nothing can be predicted exactly");
  }
  if (options_.max_step > 0.0 && std::max(options_.min_step, options_.initial_step) > options_.max_step) {
    add("max_step",
        Fact{FactCode::StepsOutOfOrder, {"method.f3ornits.max_step"}, {{"bound", "min_step or initial_step"}}});
  } else if (options_.initial_step > 0.0 && options_.initial_step < options_.min_step) {
    add("initial_step", Fact{FactCode::StepsOutOfOrder, {"method.f3ornits.initial_step"}, {{"bound", "min_step"}}});
  }
}

void F3ornits::check_times(const RunSettings& settings, const WrittenOptions& written,
                           std::vector<Problem>& problems) const {
  if (options_.initial_step > 0.0 || options_.min_step <= settings.step) return;
  problems.push_back(problem_of(Fact{FactCode::MinStepAboveFirst,
                                     {"method.f3ornits.min_step"},
                                     {{"min_step", options_.min_step, "s"}, {"step", settings.step, "s"}}},
                                "choose a smaller min_step, or an initial_step of at least that",
                                position_of(written, "min_step")));
}

// What is known of a run: notes, numbers for the summary, signals that can be recorded.

std::vector<Fact> F3ornits::notes(const CoupledSystem& system) const {
  std::vector<Fact> notes;
  const auto& graph = system.graph();
  if (const auto loops = graph.loops().size(); loops > 0) {
    notes.push_back({FactCode::LoopsDelayed, {}, {{"loops", loops}}});
  }
  for (std::size_t s = 0; s < system.size(); ++s) {
    const SubsystemId id{s};
    const int takes = members_[s].input_degree;
    if (graph.inputs_of(id).count > 0 && takes < options_.max_order) {
      Fact& lowered = notes.emplace_back(
          Fact{FactCode::InputDegreeLowered, {graph.name(id)}, {{"from", options_.max_order}, {"to", takes}}});
      if (members_[s].parts > 1) lowered.values.emplace_back("substeps", members_[s].parts);
    }
    if (const int written = system.capabilities(id).substeps; members_[s].parts < written) {
      notes.push_back({FactCode::SubstepsUnused, {graph.name(id)}, {{"substeps", written}}});
    }
    if (options_.smooth && graph.inputs_of(id).count > 0 && takes < kMaxInputDegree) {
      notes.push_back({FactCode::InputsNotSmoothed, {graph.name(id)}});
    }
  }
  return notes;
}

std::vector<Fact> F3ornits::closing_notes(const CoupledSystem& system) const {
  std::vector<Fact> notes;
  const bool any_free =
      std::any_of(members_.begin(), members_.end(), [](const Member& member) { return !member.imposed; });
  for (std::size_t s = 0; s < members_.size(); ++s) {  // none when the run failed before it began
    const Member& member = members_[s];
    const auto& name = system.graph().name(SubsystemId{s});
    if (member.steps > 0 && system.size() <= kMostToldOneByOne) {
      const auto orders =
          fmt::format("{}", fmt::join(member.orders.begin(), member.orders.begin() + options_.max_order + 1, " / "));
      notes.push_back({FactCode::OwnSteps,
                       {name},
                       {{"steps", member.steps},
                        {"smallest", member.smallest},
                        {"largest", member.largest, "s"},
                        {"orders", orders}}});
    }
    if (const Time last = system.time_of(SubsystemId{s}); last < settings_.stop && now_ >= settings_.stop) {
      notes.push_back(
          {FactCode::EndsEarly, {name}, {{"time", last, "s"}, {"which", member.imposed ? "imposed" : "minimal"}}});
    }
    if (member.imposed && share(member.beyond_tolerance, member.steps) > kFloorShare) {
      Fact& limit = notes.emplace_back(Fact{
          FactCode::ImposedStepLimitsError, {name}, {{"beyond", member.beyond_tolerance}, {"steps", member.steps}}});
      if (any_free) limit.values.emplace_back("free", 1);
    }
    if (member.at_min_step > 0 && !member.imposed) {
      notes.push_back(
          {FactCode::StepsAtMinimum, {name}, {{"steps", member.at_min_step}, {"min_step", member.limits.min, "s"}}});
    }
    if (member.reads_past_validity > 0) {
      notes.push_back({FactCode::EstimatesPastValidity, {name}, {{"steps", member.reads_past_validity}}});
    }
    if (member.jumps > 0) {
      Fact& jumps = notes.emplace_back(Fact{FactCode::OutputJumps, {name}, {{"jumps", member.jumps}}});
      if (member.late_jumps > 0) jumps.values.emplace_back("late", member.late_jumps);
    }
  }
  return notes;
}

std::optional<OwnSteps> F3ornits::own_steps(SubsystemId s) const {
  if (members_.empty()) return std::nullopt;
  const Member& member = members_[s];
  OwnSteps steps;
  steps.smallest = member.steps > 0 ? member.smallest : 0.0;
  steps.largest = member.largest;
  steps.orders.assign(member.orders.begin(), member.orders.begin() + options_.max_order + 1);
  steps.beyond_tolerance = member.beyond_tolerance;
  steps.at_min_step = member.imposed ? 0 : member.at_min_step;
  steps.reads_past_validity = member.reads_past_validity;
  steps.jumps = member.jumps;
  return steps;
}

std::vector<Signal> F3ornits::own_signals(const Graph& graph) const {
  std::vector<Signal> signals;
  for (std::size_t s = 0; s < graph.subsystems(); ++s) {
    const auto add = [&](std::string name, std::string unit, std::string description) {
      signals.push_back({std::move(name), std::move(unit), std::move(description), Causality::Method, s});
    };
    add(graph.name(SubsystemId{s}) + ".time:step", "s", "size of the step that ended here");
    for (const OutputId y : graph.outputs_of(SubsystemId{s})) {
      const std::string output = graph.name(y);
      add(output + ":order", "", "of the estimate from here on");
      add(output + ":error", "", "of the estimate up to here, in units of the tolerance");
      add(output + ":low", "", "lower bound of the (damped) amplitude");
      add(output + ":high", "", "upper bound of the (damped) amplitude");
    }
  }
  return signals;
}

void F3ornits::own_values(std::span<double> values) const {
  auto next = values.begin();
  for (const auto& member : members_) {
    *next++ = member.size;
    for (const OutputId y : member.outputs) {
      *next++ = estimates_[y].order();
      *next++ = outputs_[y].error;
      *next++ = outputs_[y].range.low;
      *next++ = outputs_[y].range.high;
    }
  }
}

}  // namespace entrain::method
