#include "methods/explicit/explicit_method.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "entrain/fact_codes.hpp"
#include "methods/explicit/input_notes.hpp"
#include "methods/step_control.hpp"

namespace entrain {

void ExplicitOptions::bind(OptionBinder& binder) {
  binder.integer("degree", degree, "degree of the input polynomials, by extrapolation from the history",
                 {0, kMaxInputDegree});
  binder.choice("start", start, "grow: the degree grows with the history; constant: a constant history is assumed");
  binder.choice("loops", loops, "algebraic loops at communication times: one macro step late, or solved by Newton");
  binder.boolean("adaptive", adaptive, "macro steps by the connection defect; the macro step is the first one");
  binder.number("relative_tolerance", relative_tolerance,
                "adaptive: defect allowed at the end of a step, relative to the output's range", {1e-12, 1.0});
  binder.number("absolute_tolerance", absolute_tolerance,
                "adaptive: defect that is allowed anyway, in the unit of the output", {0.0});
  binder.number("min_step", min_step,
                "smallest step in s, where it is not fixed; 0: a thousandth of the step of the run", {0.0});
  binder.number("max_step", max_step,
                "largest step in s, where it is not fixed; 0: a hundred times the step of the run", {0.0});
}

Requirements ExplicitMethod::requirements() const {
  Requirements needs;
  needs.refresh_in_loops = options_.loops == LoopTreatment::Solve;
  needs.free_step = options_.adaptive;
  return needs;
}

void ExplicitMethod::check(const Graph&, const WrittenOptions& written, std::vector<Problem>& problems) const {
  if (options_.max_step > 0.0 && options_.min_step > options_.max_step) {
    problems.push_back(problem_of({FactCode::MinAboveMaxStep,
                                   {"method." + name()},
                                   {{"min_step", options_.min_step, "s"}, {"max_step", options_.max_step, "s"}}},
                                  "", position_of(written, "min_step")));
  }
  if (options_.adaptive) return;
  const ExplicitOptions defaults;
  std::vector<AdaptiveOption> idle{{"relative_tolerance", options_.relative_tolerance, defaults.relative_tolerance},
                                   {"absolute_tolerance", options_.absolute_tolerance, defaults.absolute_tolerance}};
  if (!chooses_steps()) {
    idle.push_back({"min_step", options_.min_step, defaults.min_step});
    idle.push_back({"max_step", options_.max_step, defaults.max_step});
  }
  warn_of_idle(idle, name(), written, problems);
}

std::vector<std::string> ExplicitMethod::step_tolerances() const {
  if (!options_.adaptive) return {};
  return traits().knobs.tolerances;
}

void ExplicitMethod::start(CoupledSystem& system, const RunSettings& settings) {
  memory_.step = 0;
  calendar_.start(system, settings);
  inputs_.start(system, {.degree = options_.degree,
                         .constant_history = options_.start == HistoryStart::Constant,
                         .unit = options_.adaptive ? 1.0 : settings.step,
                         .gains = gains(system.graph())});
  memory_.degree.assign(system.size(), 0);
  memory_.sample_at.assign(system.size(), 0.0);
  memory_.next_event.assign(system.size(), kNever);
  events_announced_ = false;
  memory_.events_seen_late = 0;
  for (std::size_t s = 0; s < system.size(); ++s) {
    memory_.next_event[s] = system.next_event(SubsystemId{s}, settings.start);
    events_announced_ = events_announced_ || system.capabilities(SubsystemId{s}).announces_events;
  }
  solve_loops_ = options_.loops == LoopTreatment::Solve && !system.graph().loops().empty();
  one_step_for_all_ = steps_all_at_once() && inputs_.plain_hold() && calendar_.in_step() && !events_announced_ &&
                      !solve_loops_ && !options_.adaptive;
  tasks_.resize(system.size());
  if (options_.adaptive) {
    control_.start(system, settings,
                   {.relative_tolerance = options_.relative_tolerance,
                    .absolute_tolerance = options_.absolute_tolerance,
                    .min_step = options_.min_step,
                    .max_step = options_.max_step,
                    .degree = options_.degree});
  }
}

void ExplicitMethod::prepare_all(CoupledSystem& system) {
  if (inputs_.plain_hold() && calendar_.in_step()) {
    system.hold_all_inputs();
    return;
  }
  for (std::size_t s = 0; s < system.size(); ++s) prepare(system, SubsystemId{s});
}

void ExplicitMethod::prepare(CoupledSystem& system, SubsystemId s) {
  if (!calendar_.starts(s, memory_.step)) return;
  memory_.degree[s] = inputs_.prepare(system, s, clock(), memory_.sample_at);
}

void ExplicitMethod::commit(CoupledSystem& system, std::span<const SubsystemId> batch) {
  const std::span<const StepTask> tasks(tasks_.data(), collect_tasks(batch));
  system.commit_all(tasks);
  if (!events_announced_) return;
  for (const auto& task : tasks) {
    if (reached(task.to, memory_.next_event[task.subsystem])) {
      notice_event(system, task);
    } else if (system.capabilities(task.subsystem).announces_events) {  // an event inside the step may announce others
      memory_.next_event[task.subsystem] = system.next_event(task.subsystem, task.to);
    }
  }
}

/// The steps of the batch that end with this macro step, in tasks_; how many.
std::size_t ExplicitMethod::collect_tasks(std::span<const SubsystemId> batch) {
  std::size_t count = 0;
  const double after = options_.adaptive ? control_.elapsed() + calendar_.window_of(memory_.step).size : clock() + 1.0;
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

void ExplicitMethod::notice_event(CoupledSystem& system, const StepTask& task) {
  Time& event = memory_.next_event[task.subsystem];
  inputs_.cut_history(system, task.subsystem);
  if (!same_time(event, task.to) && memory_.events_seen_late++ == 0) {
    memory_.first_late = task.subsystem;
    memory_.first_late_event = event;
  }
  event = system.next_event(task.subsystem, task.to);
}

/// No step leads across an announced event.
void ExplicitMethod::adapt_step() {
  const auto first = std::min_element(memory_.next_event.begin(), memory_.next_event.end());
  choose_step(control_.now(), control_.next(first == memory_.next_event.end() ? kNever : *first));
}

MacroStepReport ExplicitMethod::advance(CoupledSystem& system) {
  if (one_step_for_all_) {  // the common case, kept free of questions
    system.hold_all_inputs();
    const Calendar::Window& window = calendar_.window_of(memory_.step);
    system.commit_everyone(window);
    ++memory_.step;
    return {.reached = window.to};
  }
  if (options_.adaptive) adapt_step();
  advance_subsystems(system);
  ++memory_.step;
  const Time now = calendar_.time(memory_.step);
  if (options_.adaptive) control_.judge(system, now);
  if (solve_loops_) system.solve_loops(now);
  return {.reached = now};
}

MethodMemory ExplicitMethod::memory() const {
  return {memory_.step, {}, to_bytes(*this, own_memory())};
}

void ExplicitMethod::restore(const MethodMemory& memory) {
  Bytes own;
  from_bytes(memory.bytes, *this, own);
  restore_own(own);
}

std::vector<Fact> ExplicitMethod::notes(const CoupledSystem& system) const {
  std::vector<Fact> notes;
  const std::size_t loops = system.graph().loops().size();
  if (loops > 0) {
    notes.push_back(options_.loops == LoopTreatment::Solve
                        ? Fact{FactCode::LoopsSolved, {}, {{"loops", loops}}}
                        : Fact{FactCode::LoopsDelayed, {}, {{"loops", loops}, {"step", "macro"}}});
  }
  for (auto& note : input_degree_notes(system, options_.degree)) notes.push_back(std::move(note));
  return notes;
}

std::vector<Fact> ExplicitMethod::warnings(const CoupledSystem& system) const {
  std::vector<Fact> warnings;
  if (options_.adaptive && control_.beyond_tolerance() > 0) {
    warnings.push_back(
        {FactCode::InputsBeyondTolerance, {}, {{"steps", control_.beyond_tolerance()}, {"of", memory_.step}}});
  }
  if (memory_.events_seen_late == 0) return warnings;
  warnings.push_back({FactCode::EventsSeenLate,
                      {system.graph().name(memory_.first_late)},
                      {{"count", memory_.events_seen_late}, {"first", memory_.first_late_event, "s"}}});
  return warnings;
}

}  // namespace entrain
