// The steps of the coupled system: all of them together by the short way, or one by one at any length.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "coupling/coupled_parts.hpp"
#include "numerics/polynomial.hpp"
#include "subsystem/foreign_calls.hpp"

namespace entrain {
namespace {

// Two clock reads cost as much as the step of a light subsystem, so one step in 64 is timed.
constexpr std::uint64_t kTimingMask = 63;

[[gnu::always_inline]] inline bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

/// " (FMU 'prey.fmu', by fmi2GetReal)", or nothing.
std::string in_brackets(const std::string& call) {
  return call.empty() ? call : " (" + call + ")";
}

/// That a step may be cut into where the subsystem imposes its step or has a shortest one.
int most_parts(const Capabilities& can, Duration size) {
  const Duration shortest = can.imposed_step.value_or(can.min_step.value_or(0.0));
  return size < shortest * std::numeric_limits<int>::max() ? static_cast<int>(size / shortest + 1e-9)
                                                           : std::numeric_limits<int>::max();
}

StepRejected rejected_step(const Subsystem& subsystem, Time from, Duration size) {
  return {
      ErrorCode::SubsystemFailed,
      fmt::format("rejected a step of {} s{}", size, in_brackets(refusal_of(subsystem))),
      {.subsystem = std::string(subsystem.name()), .variable = {}, .time = from, .remedy = "Choose a smaller step"}};
}

}  // namespace

void CoupledSystem::Parts::commit_everyone(const CommonStep& common) {
  if (!all_held_ || is_timed(SubsystemId{0})) return commit_everyone_at_length(common);
  const HeldPart* first = held_parts_.data();
  if (executor_.threads() == 1) {
    make_held_steps(first, first + held_parts_.size(), common);
  } else {
    executor_.for_each(size(), [&](std::size_t s) { make_held_steps(first + s, first + s + 1, common); });
  }
  if (trouble_.load(std::memory_order_relaxed)) return settle_common_step(common.to);
  ++common_steps_;
  common_time_ = common.to;
  if (all_finite(outputs())) return;
  for (std::size_t s = 0; s < size(); ++s) check_outputs(SubsystemId{s}, common.to);
}

/// Who fails or ends unusually is settled, and the others go on from there.
inline void CoupledSystem::Parts::make_held_steps(const HeldPart* first, const HeldPart* end,
                                                  const CommonStep& common) {
  for (const HeldPart* part = first; part != end; ++part) {
    try {
      const StepReport* unusual = part->make(common.from, common.size);
      if (unusual != nullptr) continue_held_step(*part, common, *unusual);
    } catch (...) {
      note_failure(subsystem_of(*part));
    }
  }
}

void CoupledSystem::Parts::continue_held_step(const HeldPart& part, const CommonStep& common,
                                              const StepReport& report) {
  const SubsystemId s = subsystem_of(part);
  continue_step({s, common.from, common.size, 0, 1, common.to}, participants_[s], report);
}

bool CoupledSystem::Parts::each_at(Time t) const {
  return std::all_of(times_.begin(), times_.end(), [t](Time of_one) { return of_one == t; });
}

/// As after a step in which nothing happened, but for those that failed.
void CoupledSystem::Parts::settle_common_step(Time reached_time) {
  trouble_ = false;
  spread_common_steps();
  for (std::size_t s = 0; s < size(); ++s) {
    if (participants_[s].failure) continue;
    ++steps_[s];
    times_[s] = reached_time;
  }
  for (std::size_t s = 0; s < size(); ++s) {
    settle_trouble(SubsystemId{s});
    check_outputs(SubsystemId{s}, reached_time);
  }
}

/// Before steps and times of one of them change.
void CoupledSystem::Parts::spread_common_steps() {
  if (common_steps_ == 0) return;
  for (auto& steps : steps_) steps += common_steps_;
  std::fill(times_.begin(), times_.end(), common_time_);
  common_steps_ = 0;
}

/// Timed when the first one is: all of them, so that who has made another number of steps is timed as well.
void CoupledSystem::Parts::commit_everyone_at_length(const CommonStep& common) {
  const bool timed = is_timed(SubsystemId{0});
  spread_common_steps();
  commit_each(
      size(), [](std::size_t i) { return SubsystemId{i}; },
      [&](std::size_t i) {
        commit_one({SubsystemId{i}, common.from, common.size, 0, 1, common.to}, timed);
      });
}

void CoupledSystem::Parts::commit_all(std::span<const StepTask> tasks) {
  spread_common_steps();
  commit_each(
      tasks.size(), [&](std::size_t i) { return tasks[i].subsystem; },
      [&](std::size_t i) { commit_one(tasks[i], is_timed(tasks[i].subsystem)); });
}

/// If several fail, the first in the order of the batch speaks, whichever thread was first.
template <class SubsystemAt, class Commit>
inline void CoupledSystem::Parts::commit_each(std::size_t count, const SubsystemAt& subsystem_at,
                                              const Commit& commit) {
  executor_.for_each(count, [&](std::size_t i) {
    try {
      commit(i);
    } catch (...) {
      note_failure(subsystem_at(i));
    }
  });
  if (!trouble_.load(std::memory_order_relaxed)) return;
  trouble_ = false;
  for (std::size_t i = 0; i < count; ++i) settle_trouble(subsystem_at(i));
}

void CoupledSystem::Parts::note_failure(SubsystemId s) {
  participants_[s].failure = std::current_exception();
  trouble_.store(true, std::memory_order_relaxed);
}

void CoupledSystem::Parts::settle_trouble(SubsystemId s) {
  auto& participant = participants_[s];
  if (participant.failure) std::rethrow_exception(std::exchange(participant.failure, nullptr));
  if (!participant.stopped_at) return;
  times_[s] = *participant.stopped_at;
  request_stop(s);
}

double CoupledSystem::Counters::seconds() const {
  const double in_trials =
      sampled_trials == 0 ? 0.0 : trial_seconds * static_cast<double>(trials) / static_cast<double>(sampled_trials);
  if (sampled_steps == 0) return in_trials + first_seconds;
  return in_trials + first_seconds +
         sampled_seconds * static_cast<double>(steps - 1) / static_cast<double>(sampled_steps);
}

void CoupledSystem::Parts::step(const StepTask& task, Participant& participant) {
  if (task.parts != 1 || task.degree > participant.input_degree) {
    step_in_parts(task, participant, task.from);
    return;
  }
  if (const HeldPart& part = held_parts_[task.subsystem]; task.degree == 0 && part.step.function != nullptr) {
    const StepReport* unusual = part.make(task.from, task.size);
    if (unusual != nullptr) continue_step(task, participant, *unusual);
    return;
  }
  const bool held = task.degree == 0;
  const Subsystem::Step step{task.from, task.size,
                             InputBlock(held ? participant.input_end.data() : participant.coefficients,
                                        participant.input_end.size(), task.degree)};
  const StepReport report = participant.subsystem->step(step, participant.outputs);
  if (!held) keep_end(participant, step.inputs, task.size);
  if (report.outcome != StepOutcome::Completed || report.stop_requested) continue_step(task, participant, report);
}

bool CoupledSystem::Parts::is_timed(SubsystemId s) const {
  return ((steps_[s] + common_steps_) & kTimingMask) == 0;
}

void CoupledSystem::Parts::commit_one(const StepTask& task, bool timed) {
  auto& participant = participants_[task.subsystem];
  if (timed) {
    step_timed(task, participant);
  } else {
    step(task, participant);
  }
  note_step(task.subsystem, task.to);
}

void CoupledSystem::Parts::note_step(SubsystemId s, Time reached_time) {
  ++steps_[s];
  times_[s] = reached_time;
  check_outputs(s, reached_time);
}

void CoupledSystem::Parts::step_timed(const StepTask& task, Participant& participant) {
  auto& counters = participant.counters;
  const auto begin = std::chrono::steady_clock::now();
  step(task, participant);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  if (steps_[task.subsystem] == 0) {
    counters.first_seconds = taken.count();
  } else {
    counters.sampled_seconds += taken.count();
    ++counters.sampled_steps;
  }
}

void CoupledSystem::Parts::step_in_trial(const StepTask& task, Participant& participant) {
  auto& counters = participant.counters;
  if ((counters.trials++ & kTimingMask) != 0) {
    step(task, participant);
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  step(task, participant);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  counters.trial_seconds += taken.count();
  ++counters.sampled_trials;
}

void CoupledSystem::Parts::note_stop_request(Participant& participant, Time reached_time) {
  participant.stopped_at = reached_time;
  trouble_.store(true, std::memory_order_relaxed);
}

/// After a step that ended early, was rejected or asked to stop.
void CoupledSystem::Parts::continue_step(const StepTask& task, Participant& participant, const StepReport& report) {
  if (report.stop_requested) {  // who asked to stop steps no more
    note_stop_request(participant, report.reached);
  } else if (report.outcome == StepOutcome::EndedEarly && report.reached > task.from) {
    ++participant.counters.early_returns;
    step_in_parts(task, participant, report.reached);
  } else {
    throw rejected_step(*participant.subsystem, task.from, task.size);
  }
}

void CoupledSystem::Parts::keep_end(Participant& participant, const InputBlock& inputs, Duration size) {
  for (std::size_t i = 0; i < inputs.count(); ++i) participant.input_end[i] = inputs.value(i, size);
}

/// From `reached` to the end of the task, in its parts; an early return starts the next part where it happened.
void CoupledSystem::Parts::step_in_parts(const StepTask& task, Participant& participant, Time reached_time) {
  const std::size_t count = participant.input_end.size();
  // Without a degree to lower, sub-steps are only more calls.
  const int divided = std::min(participant.substeps, most_parts(participant.subsystem->capabilities(), task.size));
  const int parts = task.degree > participant.input_degree ? std::max(task.parts, divided) : task.parts;
  const Duration part_size = task.size / parts;
  double* part = participant.part_coefficients.data();
  Duration done = reached_time - task.from;
  const int degree = std::min(task.degree, participant.input_degree);
  for (int k = static_cast<int>(done / part_size + 1e-9); k < parts;) {
    const Duration end = k + 1 == parts ? task.size : part_size * (k + 1);
    const bool whole_part = done == part_size * k;
    const Duration size = whole_part ? part_size : end - done;
    if (task.degree == 0) {
      std::copy(participant.input_end.begin(), participant.input_end.end(), part);
    } else {
      std::copy_n(participant.coefficients, static_cast<std::size_t>(task.degree + 1) * count, part);
    }
    const PolynomialBlock polynomials{part, count, task.degree};
    shift_origin(polynomials, done);
    project(polynomials, degree, size);
    const InputBlock inputs(part, count, degree);
    const Time from = task.from + done;
    participant.last_part = size;
    const StepReport report = participant.subsystem->step({from, size, inputs}, participant.outputs);
    keep_end(participant, inputs, size);
    if (report.stop_requested) {
      note_stop_request(participant, report.reached);
      return;
    }
    if (report.outcome == StepOutcome::Completed) {
      ++k;
      done = part_size * k;
    } else if (report.outcome == StepOutcome::EndedEarly && report.reached > from) {
      ++participant.counters.early_returns;
      done = report.reached - task.from;
    } else {
      throw rejected_step(*participant.subsystem, from, size);
    }
  }
}

void CoupledSystem::Parts::check_outputs(SubsystemId s, Time t) const {
  if (!all_finite(participants_[s].outputs)) throw_not_finite(s, t);
}

void CoupledSystem::Parts::throw_not_finite(SubsystemId s, Time t) const {
  const auto outputs = graph_.outputs_of(s);
  std::size_t first_bad = outputs.first;
  while (std::isfinite(signals_[first_bad])) ++first_bad;
  const OutputId culprit{first_bad};
  const double value = signals_[culprit];
  const std::string call = reading_of(*participants_[s].subsystem, culprit - outputs.first);
  throw Error(ErrorCode::SubsystemFailed,
              fmt::format("the output became {}{}", std::isnan(value) ? std::abs(value) : value, in_brackets(call)),
              {.subsystem = graph_.name(s),
               .variable = graph_.name(culprit),
               .time = t,
               .remedy = "If the values before grew without bound the coupling is unstable: choose a smaller step "
                         "or another method; else the fault is in this subsystem"});
}

}  // namespace entrain
