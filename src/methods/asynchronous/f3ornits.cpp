#include "methods/asynchronous/f3ornits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/grid.hpp"

namespace entrain {
namespace {

// Shortest step by default, as a share of the initial one: the control must be able to go well below a first guess.
constexpr double kMinStepShare = 0.01;
// An error of so many tolerances that no order foresaw is a jump, not a step that was a little too long; nor is it one
// when the step before had an error like it: so it is in the first steps, and where an imposed step is too coarse.
constexpr double kJumpError = 10.0;
// Nor does an order foresee a jump that leaves more than this share of the error of a held value: what a slope adds
// happens to have the sign of the jump in every second case.
constexpr double kNotForeseen = 0.9;
constexpr double kStepRounding = 1e-9;

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
  step_control_ = options_.step_control();
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
  wishes_.assign(system.size(), {});
  due_.clear();
  tasks_.reserve(system.size());
  jumped_.reserve(system.size());
  std::vector<Rendezvous::Constraints> constraints;
  for (std::size_t s = 0; s < system.size(); ++s) {
    constraints.push_back(join(system, SubsystemId{s}));
    due_.emplace_back(s);
  }
  rendezvous_.start(system.graph(), std::move(constraints), settings.start, settings.stop);
  inputs_.start(system, rendezvous_, {calibration_, options_.smooth});
}

/// What this subsystem can and must do, and its first wish.
Rendezvous::Constraints F3ornits::join(CoupledSystem& system, SubsystemId s) {
  const auto& can = system.capabilities(s);
  Member& member = members_[s];
  const Duration initial = options_.initial_step > 0.0 ? options_.initial_step : settings_.step;
  const Duration least = options_.min_step > 0.0 ? options_.min_step : kMinStepShare * initial;
  const Duration most = options_.max_step > 0.0 ? options_.max_step : kNever;
  // A step must change the time.
  const Duration resolution =
      64 * std::numeric_limits<double>::epsilon() * std::max(std::abs(settings_.start), std::abs(settings_.stop));
  Rendezvous::Constraints limits{can.imposed_step, can.step_offset, 0.0, 0.0, can.min_step.value_or(0.0)};
  limits.max_step = std::max({std::min(most, can.max_step.value_or(kNever)), can.min_step.value_or(0.0), resolution});
  limits.min_step = std::max({std::min(least, limits.max_step), can.min_step.value_or(0.0), resolution});

  member.min_step = limits.min_step;
  member.max_step = limits.max_step;
  member.input_degree = can.input_degree;
  member.imposed = can.imposed_step.has_value();
  member.announces = can.announces_events;
  member.rollback = can.rollback;
  const bool may_divide = !member.imposed && !can.min_step;
  member.parts = may_divide ? std::max(options_.substeps, can.substeps) : 1;
  member.event = system.next_event(s, now_);
  member.inputs = system.graph().inputs_of(s);
  const auto outputs = member.outputs = system.graph().outputs_of(s);
  if (outputs.count > 0) {
    wishes_[s].proposal = std::clamp(can.initial_step.value_or(initial), limits.min_step, limits.max_step);
  }
  const bool nobody_reads = std::none_of(outputs_.begin() + static_cast<std::ptrdiff_t>(outputs.first),
                                         outputs_.begin() + static_cast<std::ptrdiff_t>(outputs.first + outputs.count),
                                         [](const Output& output) { return output.controls; });
  if (nobody_reads) {
    for (const OutputId y : outputs) outputs_[y].controls = true;  // then they tell how fine a record must be
  }
  return limits;
}

MacroStepReport F3ornits::advance(CoupledSystem& system) {
  MacroStepReport report;
  before_.taken_back_end = kNever;
  for (reach_next(system); taken_back_for_jump(system); reach_next(system)) ++report.rejected;
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
  now_ = std::min(rendezvous_.next(due_), settings_.stop);
  if (locates_jumps) keep_before_steps(system);
  jumped_.clear();
  commit(system, false);
}

void F3ornits::plan(CoupledSystem& system) {
  for (const SubsystemId s : due_) {
    Time event = members_[s].event;
    for (const SubsystemId source : rendezvous_.sources(s)) event = std::min(event, members_[source].event);
    wishes_[s].event = reached(now_, event) ? kNever : event;
  }
  rendezvous_.plan(now_, due_, wishes_);
  for (const SubsystemId s : due_) begin_step(system, s);
}

void F3ornits::begin_step(CoupledSystem& system, SubsystemId s) {
  const Time end = rendezvous_.end(s);
  if (end == kNever) return;  // its imposed step does not fit before the stop time
  Member& member = members_[s];
  member.from = now_;
  member.size = end - now_;
  const Duration proposal = wishes_[s].proposal;
  const Duration nominal = system.capabilities(s).imposed_step.value_or(proposal);
  // To the last bit, so that it can keep what it computed for a step of this size.
  if (nominal < kNever && std::abs(member.size - nominal) <= kStepRounding * nominal) member.size = nominal;
  const bool was_cut = proposal < kNever && member.size < proposal * (1 - kStepRounding);
  member.cut_proposal = options_.memory && was_cut ? proposal : 0.0;
  if (rendezvous_.only_reads(s)) {
    inputs_.remember_start(system, estimates_, {s, member.from, member.size});
    return;
  }
  member.degree = inputs_.extrapolate(system, estimates_, {s, member.from, member.size});
  const auto sources = rendezvous_.sources(s);
  const bool outlasts = std::any_of(sources.begin(), sources.end(), [&](SubsystemId source) {
    const Time valid_until = rendezvous_.end(source);
    return valid_until == kNever || !reached(valid_until, end);  // never: it makes no more steps
  });
  if (outlasts) ++member.reads_past_validity;
}

/// The steps that end now: first of those whom others read, then of those who only read, when their inputs are known.
void F3ornits::commit(CoupledSystem& system, bool those_who_only_read) {
  tasks_.clear();
  for (const SubsystemId s : due_) {
    if (rendezvous_.only_reads(s) != those_who_only_read) continue;
    Member& member = members_[s];
    if (those_who_only_read) member.degree = inputs_.interpolate(system, estimates_, {s, member.from, member.size});
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
    outputs_[y].range.take(system.outputs()[y], member.size, step_control_);
  }
  if (announced_event_happened(system, s)) return begin_new_past(system, s);
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

bool F3ornits::announced_event_happened(CoupledSystem& system, SubsystemId s) {
  Member& member = members_[s];
  if (!member.announces) return false;
  const bool happened = reached(now_, member.event);
  member.event = system.next_event(s, now_);
  return happened;
}

/// An event that was not announced made the subsystem stop on its way.
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
  wishes_[s].proposal = member.outputs.count > 0 ? member.min_step : kNever;
}

F3ornits::Verdict F3ornits::judge_outputs(const CoupledSystem& system, SubsystemId s) {
  Member& member = members_[s];
  Verdict verdict;
  for (const OutputId y : system.graph().outputs_of(s)) {
    const double value = system.outputs()[y];
    auto& output = outputs_[y];
    const auto surprise = estimates_[y].take(now_, value, calibration_);
    const double error_before = output.error;
    output.error = normalised_error(surprise.error, value, output.range, step_control_);
    ++member.orders[static_cast<std::size_t>(estimates_[y].order())];
    if (!output.controls) continue;
    verdict.dilatation = std::min(verdict.dilatation, dilatation(output.error, surprise.order));
    verdict.beyond_tolerance = verdict.beyond_tolerance || !(output.error <= 1.0);
    if (options_.detect_jumps && jumped(y, surprise, error_before, member.imposed)) verdict.jumped = true;
  }
  return verdict;
}

/// Cuts the past of an output that jumped. Where the step is imposed, nothing can be done but that, and to cut the past
/// of one that only moves fast costs its order: the next sample decides.
bool F3ornits::jumped(OutputId y, const OutputEstimate::Surprise& surprise, double error_before, bool imposed) {
  Output& output = outputs_[y];
  const bool not_foreseen = surprise.highest > 0 && surprise.left > kNotForeseen;
  if (std::exchange(output.doubted, false)) {
    if (not_foreseen) estimates_[y].confirm_doubt();
    return not_foreseen;
  }
  if (!not_foreseen || output.error <= kJumpError * std::max(1.0, error_before)) return false;
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
  if (wishes_[s].proposal == kNever) return;  // no outputs, no wish
  const Duration wanted =
      verdict.jumped ? 0.0 : proposed_step(member.size, verdict.dilatation, member.cut_proposal, step_control_);
  if (wanted < member.min_step) ++member.at_min_step;
  wishes_[s].proposal = std::clamp(wanted, member.min_step, member.max_step);
}

}  // namespace entrain
