#include "masters/explicit_method.hpp"

#include <fmt/format.h>

#include "masters/input_notes.hpp"

namespace entrain {

void ExplicitOptions::bind(OptionBinder& binder) {
  binder.integer("degree", degree, "degree of the input polynomials, by extrapolation from the history",
                 {0, kMaxInputDegree});
  binder.choice("start", start, "grow: the degree grows with the history; constant: a constant history is assumed",
                {"grow", "constant"});
  binder.choice("loops", loops, "algebraic loops at communication times: one macro step late, or solved by Newton",
                {"delay", "solve"});
}

Requirements ExplicitMethod::requirements() const {
  Requirements needs;
  needs.refresh_in_loops = options_.loops == "solve";
  return needs;
}

void ExplicitMethod::start(CoupledSystem& system, const RunSettings& settings) {
  step_ = 0;
  calendar_.start(system, settings);
  inputs_.start(system, {.degree = options_.degree,
                         .constant_history = options_.start == "constant",
                         .macro_step = settings.step,
                         .gains = gains(system.graph())});
  degree_.assign(system.size(), 0);
  sample_step_.assign(system.size(), 0);
  next_event_.assign(system.size(), kNever);
  events_announced_ = false;
  events_seen_late_ = 0;
  for (std::size_t s = 0; s < system.size(); ++s) {
    next_event_[s] = system.next_event(SubsystemId{s}, settings.start);
    events_announced_ = events_announced_ || system.capabilities(SubsystemId{s}).announces_events;
  }
  solve_loops_ = options_.loops == "solve" && !system.graph().loops().empty();
  tasks_.resize(system.size());
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
  degree_[s] = inputs_.prepare(system, s, step_, sample_step_);
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
  if (calendar_.in_step()) {  // the common case, kept free of questions
    const Calendar::Window window = calendar_.window_of(step_);
    for (const SubsystemId s : batch) {
      tasks_[count++] = {s, window.from, window.size, degree_[s], 1, window.to};
      sample_step_[s] = step_ + 1;
    }
    return count;
  }
  for (const SubsystemId s : batch) {
    if (!calendar_.ends(s, step_)) continue;
    tasks_[count++] = calendar_.task(s, step_, degree_[s]);
    sample_step_[s] = step_ + 1;
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

MacroStepReport ExplicitMethod::advance(CoupledSystem& system) {
  advance_subsystems(system);
  ++step_;
  const Time now = calendar_.time(step_);
  if (solve_loops_) system.solve_loops(now);
  return {.reached = now};
}

MethodMemory ExplicitMethod::memory() const {
  MethodMemory memory{step_, inputs_.memory()};
  const auto own = own_memory();
  memory.numbers.insert(memory.numbers.end(), own.begin(), own.end());
  for (std::size_t s = 0; s < degree_.size(); ++s) {
    memory.numbers.push_back(degree_[s]);
    memory.numbers.push_back(static_cast<double>(sample_step_[s]));
    memory.numbers.push_back(next_event_[s]);
  }
  return memory;
}

void ExplicitMethod::restore(const MethodMemory& memory) {
  step_ = memory.step;
  inputs_.restore(memory.numbers);
  const std::size_t before_own = inputs_.memory().size();
  const std::size_t own = memory.numbers.size() - before_own - 3 * degree_.size();
  restore_own(std::span(memory.numbers).subspan(before_own, own));
  const double* next = memory.numbers.data() + before_own + own;
  for (std::size_t s = 0; s < degree_.size(); ++s) {
    degree_[s] = static_cast<int>(*next++);
    sample_step_[s] = static_cast<std::uint64_t>(*next++);
    next_event_[s] = *next++;
  }
}

std::vector<std::string> ExplicitMethod::notes(const CoupledSystem& system) const {
  std::vector<std::string> notes;
  const std::size_t loops = system.graph().loops().size();
  if (loops > 0) {
    notes.push_back(fmt::format("{} algebraic loop{} {}", loops, loops > 1 ? "s" : "",
                                options_.loops == "solve" ? "solved at every communication time"
                                                          : "delayed by one macro step (loops = \"delay\")"));
  }
  for (auto& note : input_degree_notes(system, options_.degree)) notes.push_back(std::move(note));
  return notes;
}

std::vector<std::string> ExplicitMethod::warnings(const CoupledSystem& system) const {
  if (events_seen_late_ == 0) return {};
  return {
      fmt::format("{} announced event{} between two communication times, so seen late; the first: '{}' at t = {} s. "
                  "Choose a step that divides {}",
                  events_seen_late_, events_seen_late_ > 1 ? "s lie" : " lies", system.graph().name(first_late_),
                  first_late_event_, events_seen_late_ > 1 ? "their times" : "its time")};
}

}  // namespace entrain
