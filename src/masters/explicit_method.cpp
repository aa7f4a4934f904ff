#include "masters/explicit_method.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "masters/input_notes.hpp"
#include "masters/step_control.hpp"

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
    problems.push_back({fmt::format("method.{}.min_step ({} s) must be at most max_step ({} s)", name(),
                                    options_.min_step, options_.max_step),
                        "", position_of(written, "min_step")});
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
  step_ = 0;
  calendar_.start(system, settings);
  inputs_.start(system, {.degree = options_.degree,
                         .constant_history = options_.start == HistoryStart::Constant,
                         .unit = options_.adaptive ? 1.0 : settings.step,
                         .gains = gains(system.graph())});
  degree_.assign(system.size(), 0);
  sample_at_.assign(system.size(), 0.0);
  next_event_.assign(system.size(), kNever);
  events_announced_ = false;
  events_seen_late_ = 0;
  for (std::size_t s = 0; s < system.size(); ++s) {
    next_event_[s] = system.next_event(SubsystemId{s}, settings.start);
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
  if (!calendar_.starts(s, step_)) return;
  degree_[s] = inputs_.prepare(system, s, clock(), sample_at_);
}

void ExplicitMethod::commit(CoupledSystem& system, std::span<const SubsystemId> batch) {
  const std::span<const StepTask> tasks(tasks_.data(), collect_tasks(batch));
  system.commit_all(tasks);
  if (!events_announced_) return;
  for (const auto& task : tasks) {
    if (reached(task.to, next_event_[task.subsystem])) {
      notice_event(system, task);
    } else if (system.capabilities(task.subsystem).announces_events) {  // an event inside the step may announce others
      next_event_[task.subsystem] = system.next_event(task.subsystem, task.to);
    }
  }
}

/// The steps of the batch that end with this macro step, in tasks_; how many.
std::size_t ExplicitMethod::collect_tasks(std::span<const SubsystemId> batch) {
  std::size_t count = 0;
  const double after = options_.adaptive ? control_.elapsed() + calendar_.window_of(step_).size : clock() + 1.0;
  if (calendar_.in_step()) {
    const Calendar::Window window = calendar_.window_of(step_);
    for (const SubsystemId s : batch) {
      tasks_[count++] = {s, window.from, window.size, degree_[s], 1, window.to};
      sample_at_[s] = after;
    }
    return count;
  }
  for (const SubsystemId s : batch) {
    if (!calendar_.ends(s, step_)) continue;
    tasks_[count++] = calendar_.task(s, step_, degree_[s]);
    sample_at_[s] = after;
  }
  return count;
}

void ExplicitMethod::notice_event(CoupledSystem& system, const StepTask& task) {
  Time& event = next_event_[task.subsystem];
  inputs_.cut_history(system, task.subsystem);
  if (!same_time(event, task.to) && events_seen_late_++ == 0) {
    first_late_ = task.subsystem;
    first_late_event_ = event;
  }
  event = system.next_event(task.subsystem, task.to);
}

/// No step leads across an announced event.
void ExplicitMethod::adapt_step() {
  const auto first = std::min_element(next_event_.begin(), next_event_.end());
  choose_step(control_.now(), control_.next(first == next_event_.end() ? kNever : *first));
}

MacroStepReport ExplicitMethod::advance(CoupledSystem& system) {
  if (one_step_for_all_) {  // the common case, kept free of questions
    system.hold_all_inputs();
    const Calendar::Window& window = calendar_.window_of(step_);
    system.commit_everyone(window);
    ++step_;
    return {.reached = window.to};
  }
  if (options_.adaptive) adapt_step();
  advance_subsystems(system);
  ++step_;
  const Time now = calendar_.time(step_);
  if (options_.adaptive) control_.judge(system, now);
  if (solve_loops_) system.solve_loops(now);
  return {.reached = now};
}

MethodMemory ExplicitMethod::memory() const {
  MethodMemory memory{step_, inputs_.memory()};
  const auto own = own_memory();
  memory.numbers.insert(memory.numbers.end(), own.begin(), own.end());
  for (std::size_t s = 0; s < degree_.size(); ++s) {
    memory.numbers.push_back(degree_[s]);
    memory.numbers.push_back(sample_at_[s]);
    memory.numbers.push_back(next_event_[s]);
  }
  if (options_.adaptive) {
    const auto control = control_.memory();
    memory.numbers.insert(memory.numbers.end(), control.begin(), control.end());
  }
  return memory;
}

void ExplicitMethod::restore(const MethodMemory& memory) {
  step_ = memory.step;
  inputs_.restore(memory.numbers);
  const std::size_t before_own = inputs_.memory().size();
  const std::size_t of_control = options_.adaptive ? control_.memory().size() : 0;
  const std::size_t own = memory.numbers.size() - before_own - of_control - 3 * degree_.size();
  restore_own(std::span(memory.numbers).subspan(before_own, own));
  const double* next = memory.numbers.data() + before_own + own;
  for (std::size_t s = 0; s < degree_.size(); ++s) {
    degree_[s] = static_cast<int>(*next++);
    sample_at_[s] = *next++;
    next_event_[s] = *next++;
  }
  if (options_.adaptive) control_.restore({next, of_control});
}

std::vector<std::string> ExplicitMethod::notes(const CoupledSystem& system) const {
  std::vector<std::string> notes;
  const std::size_t loops = system.graph().loops().size();
  if (loops > 0) {
    notes.push_back(fmt::format("{} algebraic loop{} {}", loops, loops > 1 ? "s" : "",
                                options_.loops == LoopTreatment::Solve
                                    ? "solved at every communication time"
                                    : "delayed by one macro step (loops = \"delay\")"));
  }
  for (auto& note : input_degree_notes(system, options_.degree)) notes.push_back(std::move(note));
  return notes;
}

std::vector<std::string> ExplicitMethod::warnings(const CoupledSystem& system) const {
  std::vector<std::string> warnings;
  if (options_.adaptive && control_.beyond_tolerance() > 0) {
    warnings.push_back(fmt::format(
        "after {} of {} macro steps an input was further from its output than the tolerance; steps are not taken back",
        control_.beyond_tolerance(), step_));
  }
  if (events_seen_late_ == 0) return warnings;
  warnings.push_back(
      fmt::format("{} announced event{} between two communication times, so seen late; the first: '{}' at t = {} s. "
                  "Choose a step that divides {}",
                  events_seen_late_, events_seen_late_ > 1 ? "s lie" : " lies", system.graph().name(first_late_),
                  first_late_event_, events_seen_late_ > 1 ? "their times" : "its time"));
  return warnings;
}

}  // namespace entrain
