#include "coupling/coupled_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "base/grid.hpp"
#include "entrain/error.hpp"
#include "numerics/polynomial.hpp"

namespace entrain {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kOrders = kMaxInputDegree + 1;
// Two clock reads cost as much as the step of a light subsystem, so one step in 64 is timed.
constexpr std::uint64_t kTimingMask = 63;

bool all_finite(std::span<const double> values) {
  double zero = 0.0;  // unless a value is infinite or not a number
  for (const double value : values) zero += 0.0 * value;
  return zero == 0.0;
}

StepRejected rejected_step(const std::string& subsystem, Time from, Duration size) {
  return {ErrorCode::SubsystemFailed,
          fmt::format("rejected a step of {} s", size),
          {.subsystem = subsystem, .variable = {}, .time = from, .remedy = "Choose a smaller step"}};
}

}  // namespace

TrialKind natural_trial_kind(const Capabilities& can) {
  if (can.rollback) return TrialKind::Rollback;
  return can.states && can.linearization ? TrialKind::Costarica : TrialKind::None;
}

CoupledSystem::CoupledSystem(std::vector<std::unique_ptr<Subsystem>> subsystems, Graph graph,
                             std::vector<double> start_inputs, int threads)
    : graph_(std::move(graph)),
      transfer_(graph_, start_inputs),
      evaluation_(graph_, transfer_),
      executor_(std::min(threads, static_cast<int>(subsystems.size()))),
      times_(subsystems.size(), 0.0),
      signals_(transfer_.make_signals()),
      input_end_(std::move(start_inputs)),
      coefficients_(kOrders * graph_.inputs(), 0.0),
      start_inputs_(input_end_) {
  for (auto& subsystem : subsystems) {
    const SubsystemId id{participants_.size()};
    auto& participant = participants_.emplace_back();
    const auto inputs = graph_.inputs_of(id);
    const auto outputs = graph_.outputs_of(id);
    participant.outputs = std::span(signals_).subspan(outputs.first, outputs.count);
    participant.input_end = std::span(input_end_).subspan(inputs.first, inputs.count);
    participant.coefficients = coefficients_.data() + kOrders * inputs.first;
    participant.input_degree = subsystem->capabilities().input_degree;
    trial_kinds_.push_back(natural_trial_kind(subsystem->capabilities()));
    participant.substeps = subsystem->capabilities().substeps;
    first_state_.push_back(first_state_.back() + subsystem->variables().states.size());
    participant.part_coefficients.resize(kOrders * subsystem->variables().inputs.size());
    participant.held_step = subsystem->held_step();
    participant.subsystem = std::move(subsystem);
  }
}

std::span<double> CoupledSystem::coefficients(SubsystemId s, int degree, int p) {
  const auto& participant = participants_[s];
  if (degree == 0) return participant.input_end;
  const std::size_t count = participant.input_end.size();
  return {participant.coefficients + static_cast<std::size_t>(p) * count, count};
}

void CoupledSystem::hold_all_inputs() {
  transfer_.deliver(signals_, input_end_);
}

void CoupledSystem::initialize(Time start, Time stop) {
  for (auto& participant : participants_) participant.subsystem->initialize(start, stop);
  std::fill(times_.begin(), times_.end(), start);
  evaluation_.all(start, input_end_, signals_, [this](SubsystemId s, std::span<const double> u, std::span<double> y) {
    participants_[s].subsystem->evaluate(u, y);
  });
  if (discrete_) settle_discrete(start);
  for (std::size_t s = 0; s < size(); ++s) check_outputs(SubsystemId{s}, start);
}

void CoupledSystem::refresh_signals(Time t) {
  for (const auto& participant : participants_) {
    if (!participant.subsystem->capabilities().output_refresh) return;
  }
  evaluation_.all(t, input_end_, signals_, [this](SubsystemId s, std::span<const double> u, std::span<double> y) {
    participants_[s].subsystem->evaluate(u, y);
  });
}

void CoupledSystem::solve_loops(Time t) {
  for (std::size_t index = 0; index < graph_.loops().size(); ++index) {
    const auto& members = graph_.loops()[index].subsystems;
    const bool all_here = std::all_of(members.begin(), members.end(), [&](SubsystemId s) { return time_of(s) == t; });
    if (!all_here) continue;  // somebody is in the middle of a longer step, under inputs fixed at its start
    evaluation_.loop(index, t, input_end_, signals_,
                     [this](SubsystemId s, std::span<const double> u, std::span<double> y) {
                       participants_[s].subsystem->evaluate(u, y);
                     });
  }
}

Time CoupledSystem::next_event(SubsystemId s, Time t) {
  Events* events = facets(s).events;
  return events == nullptr ? kNever : events->next_event(t);
}

void CoupledSystem::publish(Time t, std::span<const double> all_inputs, std::span<const double> all_outputs) {
  std::copy(all_inputs.begin(), all_inputs.end(), input_end_.begin());
  std::copy(all_outputs.begin(), all_outputs.end(), signals_.begin());
  for (std::size_t s = 0; s < size(); ++s) {
    times_[s] = t;
    ++participants_[s].counters.steps;
    check_outputs(SubsystemId{s}, t);
  }
}

void CoupledSystem::commit_all(std::span<const StepTask> tasks) {
  commit_each(
      tasks.size(), [&](std::size_t i) { return tasks[i].subsystem; }, [&](std::size_t i) { commit_one(tasks[i]); });
}

void CoupledSystem::commit_together(std::span<const SubsystemId> batch, const StepTask& common) {
  commit_each(
      batch.size(), [&](std::size_t i) { return batch[i]; },
      [&](std::size_t i) {
        if (!commit_quickly(batch[i], common)) commit_at_length(batch[i], common);
      });
}

/// If several fail, the first in the order of the batch speaks, whichever thread was first.
template <class SubsystemAt, class Commit>
inline void CoupledSystem::commit_each(std::size_t count, const SubsystemAt& subsystem_at, const Commit& commit) {
  executor_.for_each(count, [&](std::size_t i) {
    try {
      commit(i);
    } catch (...) {
      participants_[subsystem_at(i)].failure = std::current_exception();
      trouble_.store(true, std::memory_order_relaxed);
    }
  });
  if (!trouble_.load(std::memory_order_relaxed)) return;
  trouble_ = false;
  for (std::size_t i = 0; i < count; ++i) settle_trouble(subsystem_at(i));
}

void CoupledSystem::settle_trouble(SubsystemId s) {
  auto& participant = participants_[s];
  if (participant.failure) std::rethrow_exception(std::exchange(participant.failure, nullptr));
  if (participant.stop_requested) request_stop(s);
}

double CoupledSystem::Counters::seconds() const {
  const double in_trials =
      sampled_trials == 0 ? 0.0 : trial_seconds * static_cast<double>(trials) / static_cast<double>(sampled_trials);
  if (sampled_steps == 0) return in_trials + first_seconds;
  return in_trials + first_seconds +
         sampled_seconds * static_cast<double>(steps - 1) / static_cast<double>(sampled_steps);
}

void CoupledSystem::step(const StepTask& task, Participant& participant) {
  if (task.parts != 1 || task.degree > participant.input_degree) {
    step_in_parts(task, participant, task.from);
    return;
  }
  if (task.degree == 0 && participant.held_step.function != nullptr) {
    const StepReport* unusual = held_step(participant, task);
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

inline const StepReport* CoupledSystem::held_step(const Participant& participant, const StepTask& task) {
  const auto& [function, context] = participant.held_step;
  return function(context, task.from, task.size, participant.input_end.data(), participant.outputs.data());
}

/// The most frequent step: held inputs, a short way, not timed, nothing unusual. False, with nothing done, when it is
/// not like that.
[[gnu::always_inline]] inline bool CoupledSystem::commit_quickly(SubsystemId s, const StepTask& common) {
  auto& participant = participants_[s];
  if (participant.held_step.function == nullptr || (participant.counters.steps & kTimingMask) == 0) return false;
  const StepReport* unusual = held_step(participant, common);
  if (unusual != nullptr) continue_at_length(s, common, *unusual);
  note_step(participant, s, common.to);
  return true;
}

void CoupledSystem::commit_at_length(SubsystemId s, StepTask task) {
  task.subsystem = s;
  commit_one(task);
}

void CoupledSystem::continue_at_length(SubsystemId s, StepTask task, const StepReport& report) {
  task.subsystem = s;
  continue_step(task, participants_[s], report);
}

void CoupledSystem::commit_one(const StepTask& task) {
  auto& participant = participants_[task.subsystem];
  if ((participant.counters.steps & kTimingMask) == 0) {
    step_timed(task, participant);
  } else {
    step(task, participant);
  }
  note_step(participant, task.subsystem, task.to);
}

inline void CoupledSystem::note_step(Participant& participant, SubsystemId s, Time reached_time) {
  ++participant.counters.steps;
  times_[s] = reached_time;
  if (!all_finite(participant.outputs)) throw_not_finite(s, reached_time);
}

void CoupledSystem::step_timed(const StepTask& task, Participant& participant) {
  auto& counters = participant.counters;
  const auto begin = std::chrono::steady_clock::now();
  step(task, participant);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  if (counters.steps == 0) {
    counters.first_seconds = taken.count();
  } else {
    counters.sampled_seconds += taken.count();
    ++counters.sampled_steps;
  }
}

void CoupledSystem::step_in_trial(const StepTask& task, Participant& participant) {
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

void CoupledSystem::note_stop_request(Participant& participant) {
  participant.stop_requested = true;
  trouble_.store(true, std::memory_order_relaxed);
}

/// After a step that ended early, was rejected or asked to stop.
void CoupledSystem::continue_step(const StepTask& task, Participant& participant, const StepReport& report) {
  if (report.stop_requested) {  // who asked to stop steps no more
    note_stop_request(participant);
  } else if (report.outcome == StepOutcome::EndedEarly && report.reached > task.from) {
    ++participant.counters.early_returns;
    step_in_parts(task, participant, report.reached);
  } else {
    throw rejected_step(graph_.name(task.subsystem), task.from, task.size);
  }
}

void CoupledSystem::keep_end(Participant& participant, const InputBlock& inputs, Duration size) {
  for (std::size_t i = 0; i < inputs.count(); ++i) participant.input_end[i] = inputs.value(i, size);
}

/// From `reached` to the end of the task, in its parts; an early return starts the next part where it happened.
void CoupledSystem::step_in_parts(const StepTask& task, Participant& participant, Time reached_time) {
  const std::size_t count = participant.input_end.size();
  // Without a degree to lower, sub-steps are only more calls.
  const int parts = task.degree > participant.input_degree ? std::max(task.parts, participant.substeps) : task.parts;
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
      note_stop_request(participant);
      return;
    }
    if (report.outcome == StepOutcome::Completed) {
      ++k;
      done = part_size * k;
    } else if (report.outcome == StepOutcome::EndedEarly && report.reached > from) {
      ++participant.counters.early_returns;
      done = report.reached - task.from;
    } else {
      throw rejected_step(graph_.name(task.subsystem), from, size);
    }
  }
}

void CoupledSystem::check_outputs(SubsystemId s, Time t) const {
  if (!all_finite(participants_[s].outputs)) throw_not_finite(s, t);
}

void CoupledSystem::throw_not_finite(SubsystemId s, Time t) const {
  const auto outputs = graph_.outputs_of(s);
  OutputId culprit{outputs.first};
  for (const OutputId output : outputs) {
    if (!std::isfinite(signals_[output])) culprit = output;
  }
  throw Error(ErrorCode::SubsystemFailed, fmt::format("the output became {}", signals_[culprit]),
              {.subsystem = graph_.name(s),
               .variable = graph_.name(culprit),
               .time = t,
               .remedy = "If the values before grew without bound the coupling is unstable: choose a smaller step "
                         "or another method; else the fault is in this subsystem"});
}

void CoupledSystem::read_states(std::span<double> all) {
  std::fill(all.begin(), all.end(), kUnknown);
  for (std::size_t s = 0; s < size(); ++s) {
    const auto range = states_of(SubsystemId{s});
    if (States* states = facets(SubsystemId{s}).states) states->states(all.subspan(range.first, range.count));
  }
}

void CoupledSystem::read_state_derivatives(std::span<double> all) {
  std::fill(all.begin(), all.end(), kUnknown);
  for (std::size_t s = 0; s < size(); ++s) {
    if (!capabilities(SubsystemId{s}).state_derivatives) continue;
    const auto range = states_of(SubsystemId{s});
    facets(SubsystemId{s}).states->derivatives(all.subspan(range.first, range.count));
  }
}

void CoupledSystem::read_output_slopes(std::span<double> all) {
  std::fill(all.begin(), all.end(), kUnknown);
  for (std::size_t s = 0; s < size(); ++s) {
    const auto range = graph_.outputs_of(SubsystemId{s});
    OutputDerivatives* derivatives = facets(SubsystemId{s}).output_derivatives;
    if (derivatives != nullptr) derivatives->output_derivatives(all.subspan(range.first, range.count));
  }
}

CoupledSystem::Saved CoupledSystem::save() {
  std::vector<SubsystemId> everyone;
  for (std::size_t s = 0; s < size(); ++s) everyone.emplace_back(s);
  Saved saved;
  save(everyone, saved);
  if (discrete_) saved.discrete = discrete_->memory();
  return saved;
}

void CoupledSystem::save(std::span<const SubsystemId> some, Saved& saved) {
  saved.subsystems.assign(some.begin(), some.end());
  saved.states.clear();
  saved.times.clear();
  saved.counters.clear();
  saved.numbers.clear();
  for (const SubsystemId s : some) {
    const auto& participant = participants_[s];
    saved.states.push_back(participant.subsystem->facets().rollback->save());
    saved.times.push_back(times_[s]);
    saved.counters.push_back(participant.counters);
    for (const auto values : numbers_of(participant)) {
      saved.numbers.insert(saved.numbers.end(), values.begin(), values.end());
    }
  }
}

void CoupledSystem::restore(const Saved& saved) {
  const double* next = saved.numbers.data();
  for (std::size_t i = 0; i < saved.subsystems.size(); ++i) {
    const SubsystemId s = saved.subsystems[i];
    auto& participant = participants_[s];
    participant.subsystem->facets().rollback->restore(saved.states[i]);
    participant.stop_requested = false;
    const auto rollbacks = participant.counters.rollbacks + 1;  // what happened, happened
    participant.counters = saved.counters[i];
    participant.counters.rollbacks = rollbacks;
    times_[s] = saved.times[i];
    for (const auto values : numbers_of(participant)) {
      std::copy_n(next, values.size(), values.begin());
      next += values.size();
    }
  }
  if (discrete_ && saved.discrete) {
    discrete_->restore(*saved.discrete);
    exchange_reals();
  }
  stop_request_.clear();
}

void CoupledSystem::release(const Saved& saved) {
  for (std::size_t i = 0; i < saved.subsystems.size(); ++i) {
    facets(saved.subsystems[i]).rollback->release(saved.states[i]);
  }
}

std::array<std::span<double>, 3> CoupledSystem::numbers_of(const Participant& participant) {
  return {participant.outputs, participant.input_end,
          std::span(participant.coefficients, kOrders * participant.input_end.size())};
}

}  // namespace entrain
