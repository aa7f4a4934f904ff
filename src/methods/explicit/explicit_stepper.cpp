#include "methods/explicit/explicit_stepper.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "coupling/engine.hpp"
#include "entrain/fact_codes.hpp"
#include "methods/step_controller.hpp"
#include "trials/trials.hpp"

namespace entrain::method {
namespace {

constexpr double kHalf = 0.5;  // of a step that is made again

/// What becomes of input polynomials of this degree in each subsystem: lowered, on how many sub-steps, or sub-steps
/// that bring nothing.
std::vector<Fact> input_degree_notes(const CoupledSystem& system, int degree) {
  std::vector<Fact> notes;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const Capabilities& can = system.capabilities(SubsystemId{s});
    const std::string& name = system.graph().name(SubsystemId{s});
    const bool in_parts = can.substeps > 1;
    if (can.internal_step && can.input_degree > 0 && degree > 0) {
      notes.push_back({FactCode::InputsHeldInside, {name}, {{"internal_step", *can.internal_step, "s"}}});
    }
    if (can.input_degree < degree) {
      Fact& lowered =
          notes.emplace_back(Fact{FactCode::InputDegreeLowered, {name}, {{"from", degree}, {"to", can.input_degree}}});
      if (in_parts) lowered.values.emplace_back("substeps", can.substeps);
    } else if (in_parts) {
      notes.push_back({FactCode::SubstepsUnused, {name}, {{"substeps", can.substeps}, {"degree", degree}}});
    }
  }
  return notes;
}

}  // namespace

void ExplicitOptions::bind(OptionBinder& binder) {
  const bool was_adaptive = adaptive;
  binder.boolean("adaptive", adaptive, "macro steps by the connection defect; the macro step is the usual one");
  // Held inputs need steps in proportion to the tolerance: steps that vary gain nothing then.
  if (adaptive && !was_adaptive) degree = 1;
  if (adaptive && !was_adaptive) locate_jumps = true;
  binder.integer("degree", degree,
                 "degree of the input polynomials, by extrapolation from the history; adaptive: 1 unless written",
                 {0, kMaxInputDegree});
  binder.choice("start", start, "grow: the degree grows with the history; constant: a constant history is assumed");
  binder.choice("loops", loops, "algebraic loops at communication times: one macro step late, or solved by Newton");
  binder.number("relative_tolerance", relative_tolerance,
                "adaptive: defect allowed at the end of a step, relative to the output's range", {1e-12, 1.0});
  binder.number("absolute_tolerance", absolute_tolerance,
                "adaptive: defect that is allowed anyway, in the unit of the output", {0.0});
  binder.number("min_step", min_step,
                "smallest step in s, where it is not fixed; 0: a thousandth of the step of the run", {0.0});
  binder.number("max_step", max_step,
                "largest step in s, where it is not fixed; 0: a hundred times the step of the run", {0.0});
  binder.boolean(
      "locate_jumps", locate_jumps,
      "no inputs are extrapolated across an unannounced jump; where all subsystems can be rolled back, a step "
      "that ends behind one, or in which one of them fails, is made again, shorter; adaptive: true unless "
      "written");
}

Requirements ExplicitOptions::requirements() const {
  Requirements needs;
  needs.refresh_in_loops = loops == LoopTreatment::Solve;
  needs.free_step = adaptive || locate_jumps;
  needs.uses = CapabilityUse::none();
  needs.uses.input_degree = degree > 0;
  needs.uses.rollback = locate_jumps;
  return needs;
}

void ExplicitOptions::check(const std::string& method, bool chooses_steps, const WrittenOptions& written,
                            std::vector<Problem>& problems) const {
  if (max_step > 0.0 && min_step > max_step) {
    problems.push_back(problem_of(
        {FactCode::MinAboveMaxStep, {"method." + method}, {{"min_step", min_step, "s"}, {"max_step", max_step, "s"}}},
        "", position_of(written, "min_step")));
  }
  if (adaptive) return;
  const ExplicitOptions defaults;
  std::vector<AdaptiveOption> idle{{"relative_tolerance", relative_tolerance, defaults.relative_tolerance},
                                   {"absolute_tolerance", absolute_tolerance, defaults.absolute_tolerance}};
  if (!chooses_steps && !locate_jumps) {
    idle.push_back({"min_step", min_step, defaults.min_step});
    idle.push_back({"max_step", max_step, defaults.max_step});
  }
  warn_of_idle(idle, method, written, problems);
}

std::vector<Fact> ExplicitOptions::notes(const CoupledSystem& system) const {
  std::vector<Fact> notes;
  const std::size_t count = system.graph().loops().size();
  if (count > 0) {
    notes.push_back(loops == LoopTreatment::Solve
                        ? Fact{FactCode::LoopsSolved, {}, {{"loops", count}}}
                        : Fact{FactCode::LoopsDelayed, {}, {{"loops", count}, {"step", "macro"}}});
  }
  for (auto& note : input_degree_notes(system, degree)) notes.push_back(std::move(note));
  return notes;
}

void ExplicitStepper::start(CoupledSystem& system, const RunSettings& settings, const ExplicitOptions& options,
                            const Parts& parts) {
  control_ = parts.control;
  if (options.adaptive) {
    defect_.start(system, settings,
                  {.relative_tolerance = options.relative_tolerance,
                   .absolute_tolerance = options.absolute_tolerance,
                   .min_step = options.min_step,
                   .max_step = options.max_step,
                   .order = options.degree + 1});
    control_ = &defect_;
  }
  bool imposed = false;
  everyone_.clear();
  goes_back_ = options.locate_jumps && !parts.remembers && !system.has_instants() && settings.prescribed.empty();
  StepLimits limits = StepSettings{.min_step = options.min_step}.limits(kExplicitLimits, settings.step);
  for (std::size_t s = 0; s < system.size(); ++s) {
    const Capabilities& can = system.capabilities(SubsystemId{s});
    imposed = imposed || can.imposed_step.has_value();
    goes_back_ = goes_back_ && can.rollback;
    everyone_.emplace_back(s);
    limits.narrow(can);
  }
  locates_jumps_ = options.locate_jumps;
  shortest_ = options.adaptive ? defect_.shortest() : limits.min;
  longest_ = kNever;
  jumps_ = {};
  if (locates_jumps_) jumps_.start(system);
  ends_at_events_ = system.has_instants() && !imposed;  // an imposed step is made as it is
  ends_at_instants_ = system.engine().scenario() != nullptr && !imposed;
  if ((ends_at_events_ || ends_at_instants_ || locates_jumps_) && control_ == nullptr) {
    event_grid_.start(settings);
    control_ = &event_grid_;
  }
  if (!settings.prescribed.empty()) {
    prescribed_.start(settings.prescribed.front(),
                      options.adaptive || locates_jumps_ || ends_at_events_ || ends_at_instants_);
    control_ = &prescribed_;
  }
  start_ = settings.start;
  calendar_.start(system, settings);
  inputs_.start(system, {.degree = options.degree,
                         .constant_history = options.start == HistoryStart::Constant,
                         .unit = control_ != nullptr ? 1.0 : settings.step,
                         .filter = parts.filter});
  memory_ = {};
  memory_.degree.assign(system.size(), 0);
  memory_.sample_at.assign(system.size(), 0.0);
  events_.start(system, settings.start);
  refresh_ = parts.refresh;
  find_functions(system);
  jumped_.assign(ends_at_events_ ? system.size() : 0, 0);
  waveforms_ = system.engine().store().has_waveforms();
  solve_loops_ = options.loops == LoopTreatment::Solve && !system.graph().loops().empty();
  in_lockstep_ = inputs_.plain_hold() && calendar_.in_step() && !events_.any() && !refresh_ && !solve_loops_ &&
                 control_ == nullptr && functions_.empty() && !waveforms_;
  tasks_.resize(system.size());
}

/// Those among them that form a loop are subsystems like all others.
void ExplicitStepper::find_functions(const CoupledSystem& system) {
  functions_.clear();
  const Graph& graph = system.graph();
  for (const auto& block : graph.evaluation_order()) {
    if (!block.output) continue;
    const SubsystemId s = graph.owner(*block.output);
    const Capabilities& can = system.capabilities(s);
    const bool known = std::find(functions_.begin(), functions_.end(), s) != functions_.end();
    if (can.function && can.output_refresh && !can.imposed_step && !known) functions_.push_back(s);
  }
}

/// Wherever outputs have changed: what is computed from them is as new as the oldest of them.
void ExplicitStepper::evaluate_functions(CoupledSystem& system) {
  const Graph& graph = system.graph();
  for (const SubsystemId s : functions_) {
    system.follow_inputs(s);
    double oldest = std::numeric_limits<double>::infinity();
    for (const InputId input : graph.inputs_of(s)) {
      const Connection* from = graph.source(input);
      if (from == nullptr) continue;
      const SubsystemId source = graph.owner(from->output);
      oldest = std::min(oldest, memory_.sample_at[source]);
      if (!jumped_.empty() && jumped_[source] != 0) jumped_[s] = 1;
    }
    if (oldest < std::numeric_limits<double>::infinity()) memory_.sample_at[s] = oldest;
  }
}

void ExplicitStepper::begin_step() {
  if (control_ != nullptr) {
    const Duration size = control_->next(events_.earliest_stop());
    calendar_.choose(memory_.step, control_->now(), step_without_remainder(std::min(longest_, size), size, shortest_));
  }
  any_committed_ = false;
  if (!ends_at_events_ && !ends_at_instants_) return;
  std::fill(jumped_.begin(), jumped_.end(), 0);
  for (const Time exact : {events_.earliest_stop(), event_grid_.next_time()}) {
    if (base::same_time(next_time(), exact)) calendar_.land_on(exact);
  }
}

void ExplicitStepper::prepare_all(CoupledSystem& system) {
  if (inputs_.plain_hold() && calendar_.in_step()) {
    system.hold_all_inputs();
    if (waveforms_) std::fill(memory_.degree.begin(), memory_.degree.end(), 0);
  } else {
    for (std::size_t s = 0; s < system.size(); ++s) prepare(system, SubsystemId{s});
  }
  if (!waveforms_) return;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const SubsystemId id{s};
    if (calendar_.starts(id, memory_.step))
      memory_.degree[s] = system.engine().store().add_waveforms(id, memory_.degree[s]);
  }
}

void ExplicitStepper::prepare(CoupledSystem& system, SubsystemId s) {
  if (!calendar_.starts(s, memory_.step)) return;
  memory_.degree[s] = inputs_.prepare(system, s, clock(), {memory_.sample_at, jumped_});
}

void ExplicitStepper::commit(CoupledSystem& system, std::span<const SubsystemId> batch) {
  const std::span<StepTask> tasks(tasks_.data(), collect_tasks(batch));
  // Those of an earlier batch are past the events that a later one finds.
  if (ends_at_events_ && !std::exchange(any_committed_, true)) {
    commit_to_event(system, tasks);
  } else {
    system.commit_all(tasks);
  }
  if (events_.any()) {
    for (const auto& task : tasks) pass_events(system, task);
  }
  if (!functions_.empty()) evaluate_functions(system);
}

/// The macro step ends where the first of them found an event; what is committed after goes to there, too.
void ExplicitStepper::commit_to_event(CoupledSystem& system, std::span<StepTask> tasks) {
  if (tasks.empty()) return;
  const Time wanted = tasks.front().to;
  const Time reached = system.commit_to_event(tasks);
  if (reached == wanted) return;
  calendar_.cut(reached);
  for (const auto& task : tasks) memory_.sample_at[task.subsystem] = reached - start_;
}

void ExplicitStepper::constants_changed(const CoupledSystem& system) {
  inputs_.cut_constants(system);
  jumps_.forget_past();
}

/// The past ends here, and what was announced is asked for again.
void ExplicitStepper::instant_passed(CoupledSystem& system, Time now) {
  events_.start(system, now);
  for (std::size_t s = 0; s < system.size(); ++s) inputs_.cut_history(system, SubsystemId{s});
  for (const SubsystemId s : functions_) system.follow_inputs(s);
  constants_changed(system);
  if (control_ != nullptr) control_->restart();
}

/// The steps of the batch that end with this macro step, in tasks_; how many.
std::size_t ExplicitStepper::collect_tasks(std::span<const SubsystemId> batch) {
  std::size_t count = 0;
  const double after = clock() + (control_ != nullptr ? calendar_.window_of(memory_.step).size : 1.0);
  if (calendar_.in_step()) {
    const Calendar::Window window = calendar_.window_of(memory_.step);
    for (const SubsystemId s : batch) {
      tasks_[count++] = {s, window.from, window.size, memory_.degree[s], 1, window.to};
      memory_.sample_at[s] = after;
    }
    return count;
  }
  for (const SubsystemId s : batch) {
    if (!calendar_.ends(s, memory_.step)) continue;
    tasks_[count++] = calendar_.task(s, memory_.step, memory_.degree[s]);
    memory_.sample_at[s] = after;
  }
  return count;
}

/// No polynomial spans an event. Where all meet at it, what jumps there belongs to the steps that follow: those of
/// later batches go on with the history until it is cut.
void ExplicitStepper::pass_events(CoupledSystem& system, const StepTask& task) {
  const auto event = events_.pass(system, task.subsystem, task.to);
  if (!event) return;
  if (ends_at_events_ && base::same_time(*event, task.to)) {
    jumped_[task.subsystem] = 1;
  } else {
    inputs_.cut_history(system, task.subsystem);
  }
  met_event_ = true;
  if (!base::same_time(*event, task.to) && memory_.events_seen_late++ == 0) {
    memory_.first_late = task.subsystem;
    memory_.first_late_event = *event;
  }
}

/// A step towards a jump that was seen leads half the way to where it was seen, the last one all of it.
void ExplicitStepper::keep(CoupledSystem& system) {
  jumps_.begin(system);
  longest_ = kNever;
  if (!goes_back_) return;
  const Duration to_jump = jumps_.jump_by() - control_->now();
  if (to_jump > 0.0) longest_ = to_jump < 2.0 * shortest_ ? to_jump : kHalf * to_jump;
  system.save(everyone_, kept_.system);
  kept_.memory = memory_;
  kept_.inputs = inputs_.memory();
  kept_.events = events_.memory();
}

void ExplicitStepper::take_back(CoupledSystem& system) {
  longest_ = kHalf * window().size;
  system.restore(kept_.system);
  memory_ = kept_.memory;
  inputs_.restore(kept_.inputs);
  events_.restore(kept_.events);
  met_event_ = false;
}

/// A subsystem failed in the step: whether a shorter one is made in its place.
bool ExplicitStepper::shortened_after(const Error& error) {
  if (!can_be_shorter(window()) || !trials::may_be_retried(error)) return false;
  control_->failed(kHalf * window().size);
  return true;
}

bool ExplicitStepper::jump_to_be_located(const CoupledSystem& system) {
  if (!can_be_shorter(window()) || met_event_ || !jumps_.sees_jump(system, window().size)) return false;
  jumps_.taken_back(window().to);
  return true;
}

/// Behind a macro step: nothing is continued across a jump, or an announced event.
void ExplicitStepper::pass_jumps(const CoupledSystem& system, const Calendar::Window& step, bool announced) {
  if (announced) return jumps_.forget_past();
  if (!jumps_.accept(system, step.to, step.size, goes_back_ && !can_be_shorter(step))) return;
  for (std::size_t s = 0; s < system.size(); ++s) inputs_.cut_history(system, SubsystemId{s});
  control_->restart();
}

MacroStepReport ExplicitStepper::end_step(CoupledSystem& system) {
  const MacroStepReport report = count_step(next_time());
  if (control_ != nullptr) control_->judge(system, report.reached);
  if (std::exchange(met_event_, false)) {
    for (std::size_t s = 0; s < jumped_.size(); ++s) {
      if (jumped_[s] != 0) inputs_.cut_history(system, SubsystemId{s});
    }
    if (control_ != nullptr) control_->restart();
  }
  if (refresh_) system.refresh_signals(report.reached);
  if (solve_loops_) system.solve_loops(report.reached);
  return report;
}

std::vector<Fact> ExplicitStepper::warnings(const CoupledSystem& system) const {
  std::vector<Fact> warnings = jumps_.warnings();
  if (control_ == &defect_ && defect_.beyond_tolerance() > 0) {
    warnings.push_back(
        {FactCode::InputsBeyondTolerance, {}, {{"steps", defect_.beyond_tolerance()}, {"of", memory_.step}}});
  }
  if (memory_.events_seen_late == 0) return warnings;
  warnings.push_back({FactCode::EventsSeenLate,
                      {system.graph().name(memory_.first_late)},
                      {{"count", memory_.events_seen_late}, {"first", memory_.first_late_event, "s"}}});
  return warnings;
}

}  // namespace entrain::method
