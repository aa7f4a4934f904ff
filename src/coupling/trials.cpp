#include "coupling/trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "estimation/observe.hpp"
#include "numerics/polynomial.hpp"

namespace entrain {
namespace {

constexpr std::size_t kPastOutputs = 3;  // with the new one: a cubic

/// row `i` of `matrix` times `vector`
double row_times(const Matrix& matrix, std::size_t i, std::span<const double> vector) {
  double sum = 0.0;
  for (std::size_t j = 0; j < vector.size(); ++j) sum += matrix(i, j) * vector[j];
  return sum;
}

}  // namespace

/// One subsystem's part of the trials. What a step by estimates touches comes first, so that it lies in few cache
/// lines.
struct Trials::Own {
  CoupledSystem::Participant* participant = nullptr;
  std::unique_ptr<Estimator> estimator;
  SubsystemId id;
  std::optional<StateId> saved;
  bool moved = false;                // a trial has left the saved state
  bool stop_requested = false;       // and asked to end the run
  bool corrects_lowered = false;     // `here` is used to bring outputs to the end values of the inputs
  bool slopes_from_outputs = false;  // for want of anything better
  std::vector<double> input_slopes;  // of the polynomials at the end of the last step
  Facets facets;

  // What lower input degrees need; empty without.
  std::vector<double> gap;  // end of the polynomial - what the subsystem held there
  std::vector<double> slope_gap;

  // Rollback.
  std::string refusal;                               // why it was rejected; empty if it was not
  std::vector<double> outputs_before, input_before;  // at the start of the step
  std::vector<double> tried, input_after;            // polynomials of the last trial; inputs as it ended
  std::vector<double> tried_outputs;
  Duration tried_size = 0.0;
  int tried_degree = 0;
  Linearization here;  // at the start of the step
  std::vector<double> dx;
  std::array<Time, kPastOutputs> past_times{};  // the newest first
  std::vector<double> past_outputs;
  std::size_t past = 0;

  std::exception_ptr failure;

  std::size_t inputs() const { return participant->input_end.size(); }
  std::size_t outputs() const { return participant->outputs.size(); }
};

Trials::Trials(CoupledSystem& system, std::vector<TrialKind> kinds, const EstimatorOptions& options)
    : system_(system), kinds_(std::move(kinds)), own_(system.size()) {
  for (std::size_t s = 0; s < system.size(); ++s) join(SubsystemId{s}, options);
}

void Trials::join(SubsystemId s, const EstimatorOptions& options) {
  Own& own = own_[s];
  own.id = s;
  own.participant = &system_.participants_[s];
  own.facets = system_.facets(s);
  const Capabilities& can = system_.capabilities(s);
  const std::size_t states = system_.variables(s).states.size();
  own.input_slopes.assign(own.inputs(), 0.0);
  if (can.input_degree < kMaxInputDegree) {
    own.gap.assign(own.inputs(), 0.0);
    own.slope_gap.assign(own.inputs(), 0.0);
  }
  own.corrects_lowered = can.input_degree < kMaxInputDegree && can.linearization && own.inputs() > 0;
  own.slopes_from_outputs = own.facets.output_derivatives == nullptr && !(can.linearization && can.state_derivatives);
  if (kinds_[s] == TrialKind::Costarica) {
    own.estimator = std::make_unique<Estimator>(Estimator::Sizes{states, own.inputs(), own.outputs()},
                                                can.state_derivatives, options);
  } else if (kinds_[s] == TrialKind::Continued) {
    own.estimator = estimator_without_linearization(system_.variables(s), can.state_derivatives, options);
  } else {
    own.input_before.assign(own.inputs(), 0.0);
    own.input_after.assign(own.inputs(), 0.0);
    own.outputs_before.assign(own.outputs(), 0.0);
    own.tried_outputs.assign(own.outputs(), 0.0);
    own.past_outputs.assign(kPastOutputs * own.outputs(), 0.0);
    own.dx.assign(states, 0.0);
    own.tried.assign((kMaxInputDegree + 1) * own.inputs(), 0.0);
  }
}

Trials::~Trials() = default;

Estimator* Trials::estimator(SubsystemId s) {
  return own_[s].estimator.get();
}

TrialBlock Trials::make_block() const {
  TrialBlock block;
  block.signals.assign(system_.signals().begin(), system_.signals().end());
  block.slopes.assign(block.signals.size(), 0.0);
  block.outcomes.assign(own_.size(), StepOutcome::Completed);
  return block;
}

/// The first in the order of the system speaks, whichever thread was first.
void Trials::for_all(FunctionRef<void(SubsystemId)> work) {
  system_.executor_.for_each(own_.size(), [&](std::size_t s) {
    try {
      work(SubsystemId{s});
    } catch (...) {
      own_[s].failure = std::current_exception();
      failed_.store(true, std::memory_order_relaxed);
    }
  });
  if (!failed_.exchange(false, std::memory_order_relaxed)) return;
  for (auto& own : own_) {
    if (own.failure) std::rethrow_exception(std::exchange(own.failure, nullptr));
  }
}

void Trials::begin(Time from, Duration expected, std::span<double> slopes) {
  for_all([&](SubsystemId s) {
    Own& own = own_[s];
    if (own.estimator) {
      const auto range = system_.graph().outputs_of(s);
      begin_estimate(own, from, expected, slopes.subspan(range.first, range.count));
    } else {
      begin_rollback(own, from);
    }
  });
}

void Trials::begin_rollback(Own& own, Time from) {
  const auto& participant = *own.participant;
  std::copy(participant.outputs.begin(), participant.outputs.end(), own.outputs_before.begin());
  std::copy(participant.input_end.begin(), participant.input_end.end(), own.input_before.begin());
  if (own.slopes_from_outputs && !(own.past > 0 && own.past_times[0] == from)) {
    std::copy_backward(own.past_times.begin(), own.past_times.end() - 1, own.past_times.end());
    std::copy_backward(own.past_outputs.begin(), own.past_outputs.end() - static_cast<std::ptrdiff_t>(own.outputs()),
                       own.past_outputs.end());
    own.past_times[0] = from;
    std::copy(participant.outputs.begin(), participant.outputs.end(), own.past_outputs.begin());
    own.past = std::min(own.past + 1, kPastOutputs);
  }
  if (own.corrects_lowered) {
    own.facets.linearizer->linearize(own.here);
    ++own.participant->counters.linearizations;
  }
  own.saved = own.facets.rollback->save();
  own.moved = false;
}

void Trials::begin_estimate(Own& own, Time from, Duration expected, std::span<double> slopes) {
  Observation at{from, expected, own.participant->input_end, own.participant->outputs, {}};
  if (own.corrects_lowered) at.input_gap = own.gap;
  if (observe(*own.estimator, own.facets, at)) ++own.participant->counters.linearizations;
  if (!own.estimator->degraded()) own.estimator->slopes_at_point(own.input_slopes, slopes);
}

std::span<const double> Trials::polynomials(const StepTask& task) const {
  const auto& participant = system_.participants_[task.subsystem];
  const std::size_t count = participant.input_end.size();
  const double* first = task.degree == 0 ? participant.input_end.data() : participant.coefficients;
  return {first, count * static_cast<std::size_t>(task.degree + 1)};
}

void Trials::run(std::span<const StepTask> tasks, TrialBlock& result) {
  for_all([&](SubsystemId s) {
    Own& own = own_[s];
    const StepTask& task = tasks[s];
    if (!own.estimator) return trial_by_rollback(own, task, result);
    if (counted_) ++own.participant->counters.trials;
    own.estimator->set_step(task.size);
    const auto range = system_.graph().outputs_of(own.id);
    own.estimator->estimate(InputBlock(polynomials(task).data(), own.inputs(), task.degree),
                            std::span(result.signals).subspan(range.first, range.count),
                            std::span(result.slopes).subspan(range.first, range.count));
    result.outcomes[task.subsystem] = StepOutcome::Completed;
  });
  system_.trouble_ = false;  // who asks to stop inside a trial is heard when the trial becomes the step
}

void Trials::go_back(Own& own) {
  if (!std::exchange(own.moved, false)) return;
  own.facets.rollback->restore(*own.saved);
  ++own.participant->counters.rollbacks;
}

void Trials::trial_by_rollback(Own& own, const StepTask& task, TrialBlock& result) {
  auto& participant = *own.participant;
  const auto given = polynomials(task);
  std::copy(given.begin(), given.end(), own.tried.begin());
  own.tried_size = task.size;
  own.tried_degree = task.degree;
  go_back(own);
  own.moved = true;
  own.refusal.clear();
  const auto early_before = participant.counters.early_returns;
  const auto range = system_.graph().outputs_of(own.id);
  const auto signals = std::span(result.signals).subspan(range.first, range.count);
  try {
    system_.step_in_trial(task, participant);
    finish_lowered(own, task);
    std::copy(participant.outputs.begin(), participant.outputs.end(), signals.begin());
    read_slopes(own, task, std::span(result.slopes).subspan(range.first, range.count));
    std::copy(signals.begin(), signals.end(), own.tried_outputs.begin());
  } catch (const Error& error) {
    const bool rejected = dynamic_cast<const StepRejected*>(&error) != nullptr;
    if (!rejected && error.code() != ErrorCode::SolverFailed)
      throw;  // where an integrator gave up, less may do as well
    own.refusal = error.what();
  }
  own.stop_requested = std::exchange(participant.stop_requested, false);
  const bool early = participant.counters.early_returns > early_before;
  result.outcomes[task.subsystem] = !own.refusal.empty() ? StepOutcome::Rejected
                                    : early              ? StepOutcome::EndedEarly
                                                         : StepOutcome::Completed;
  std::copy(participant.input_end.begin(), participant.input_end.end(), own.input_after.begin());
  std::copy(own.outputs_before.begin(), own.outputs_before.end(), participant.outputs.begin());
  std::copy(own.input_before.begin(), own.input_before.end(), participant.input_end.begin());
}

/// A subsystem that takes a lower degree was given the best fit, which ends elsewhere than the polynomial. Its outputs
/// are meant for the end of the polynomial: y + D (u_end - u_held).
void Trials::finish_lowered(Own& own, const StepTask& task) {
  const auto given = polynomials(task);
  const InputBlock meant(given.data(), own.inputs(), task.degree);
  for (std::size_t i = 0; i < own.inputs(); ++i) own.input_slopes[i] = meant.slope(i, task.size);
  auto& participant = *own.participant;
  if (participant.input_degree >= task.degree) return;
  const InputBlock held(participant.part_coefficients.data(), own.inputs(), participant.input_degree);
  for (std::size_t i = 0; i < own.inputs(); ++i) {
    const double end = meant.value(i, task.size);
    own.gap[i] = end - participant.input_end[i];
    own.slope_gap[i] = own.input_slopes[i] - held.slope(i, participant.last_part);
    participant.input_end[i] = end;
  }
  if (!own.corrects_lowered) return;
  const Linearization& at = own.estimator ? own.estimator->in_force() : own.here;
  for (std::size_t i = 0; i < own.outputs(); ++i) participant.outputs[i] += row_times(at.D, i, own.gap);
}

void Trials::read_slopes(Own& own, const StepTask& task, std::span<double> slopes) {
  if (own.slopes_from_outputs) {
    std::array<double, kPastOutputs + 1> nodes{};
    std::array<double, kPastOutputs + 1> values{};
    std::array<double, kPastOutputs + 1> polynomial{};
    const std::size_t count = own.past + 1;
    for (std::size_t k = 0; k < own.past; ++k) nodes[k + 1] = own.past_times[k] - task.from - task.size;
    for (std::size_t i = 0; i < own.outputs(); ++i) {
      values[0] = own.participant->outputs[i];
      for (std::size_t k = 0; k < own.past; ++k) values[k + 1] = own.past_outputs[k * own.outputs() + i];
      interpolate(std::span(nodes).first(count), std::span(values).first(count), std::span(polynomial).first(count));
      slopes[i] = polynomial[1];
    }
    return;
  }
  if (own.facets.output_derivatives != nullptr) {
    own.facets.output_derivatives->output_derivatives(slopes);
  } else {
    own.facets.linearizer->linearize(own.here);
    ++own.participant->counters.linearizations;
    own.facets.states->derivatives(own.dx);
    for (std::size_t i = 0; i < own.outputs(); ++i) {
      slopes[i] = row_times(own.here.C, i, own.dx) + row_times(own.here.D, i, own.input_slopes);
    }
  }
  if (!own.corrects_lowered || own.participant->input_degree >= task.degree) return;
  // f under the end of the polynomial is f + B gap; hence C B gap, and D u' with the slope that was meant.
  for (std::size_t i = 0; i < own.dx.size(); ++i) own.dx[i] = row_times(own.here.B, i, own.gap);
  for (std::size_t i = 0; i < own.outputs(); ++i) {
    slopes[i] += row_times(own.here.C, i, own.dx);
    if (own.facets.output_derivatives != nullptr) slopes[i] += row_times(own.here.D, i, own.slope_gap);
  }
}

bool Trials::is_last_trial(const Own& own, const StepTask& task) const {
  const auto given = polynomials(task);
  return own.moved && own.refusal.empty() && own.tried_size == task.size && own.tried_degree == task.degree &&
         std::equal(given.begin(), given.end(), own.tried.begin());
}

void Trials::commit(std::span<const StepTask> tasks, TrialBlock& result) {
  for_all([&](SubsystemId s) { commit_one(own_[s], tasks[s], result); });
  if (!system_.trouble_.exchange(false)) return;
  for (const StepTask& task : tasks) system_.settle_trouble(task.subsystem);
}

void Trials::commit_one(Own& own, const StepTask& task, TrialBlock& result) {
  auto& participant = *own.participant;
  const auto range = system_.graph().outputs_of(own.id);
  const auto signals = std::span(result.signals).subspan(range.first, range.count);
  if (is_last_trial(own, task)) {
    std::copy(own.tried_outputs.begin(), own.tried_outputs.end(), participant.outputs.begin());
    std::copy(own.input_after.begin(), own.input_after.end(), participant.input_end.begin());
    participant.stop_requested = own.stop_requested;
    if (own.stop_requested) system_.trouble_.store(true, std::memory_order_relaxed);
    ++participant.counters.steps;
    system_.times_[task.subsystem] = task.to;
    system_.check_outputs(task.subsystem, task.to);
  } else {
    go_back(own);
    const auto early_before = participant.counters.early_returns;
    system_.commit_one(task);
    const bool early = participant.counters.early_returns > early_before;
    result.outcomes[task.subsystem] = early ? StepOutcome::EndedEarly : StepOutcome::Completed;
    finish_lowered(own, task);
    if (!own.estimator) read_slopes(own, task, std::span(result.slopes).subspan(range.first, range.count));
    std::copy(participant.outputs.begin(), participant.outputs.end(), signals.begin());
  }
  if (own.saved) own.facets.rollback->release(*std::exchange(own.saved, std::nullopt));
  own.moved = false;
}

std::string Trials::refusal() const {
  const auto who = std::find_if(own_.begin(), own_.end(), [](const Own& own) { return !own.refusal.empty(); });
  return who == own_.end() ? std::string() : who->refusal;
}

void Trials::follow(const Trials& others) {
  for (std::size_t s = 0; s < own_.size(); ++s) {
    own_[s].gap = others.own_[s].gap;
    own_[s].input_slopes = others.own_[s].input_slopes;
  }
}

void Trials::forget_past() {
  for (auto& own : own_) {
    own.past = 0;
    if (own.estimator) own.estimator->forget_past();
  }
}

std::string Trials::loss(const Own& own) const {
  if (own.estimator && own.estimator->degraded()) {
    return "tells no state derivatives: its trials are estimated without them, which costs two orders";
  }
  if (kinds_[own.id] == TrialKind::Continued) {
    return system_.capabilities(own.id).state_derivatives
               ? "tells no linearization: its states are continued from their last derivatives, outputs that are no "
                 "states from their past; too little for a stiff subsystem"
               : "tells neither linearization nor state derivatives: its outputs are continued from their past";
  }
  if (!own.estimator && own.slopes_from_outputs)
    return "tells no output derivatives: slopes come from its last outputs";
  return {};
}

std::vector<std::string> Trials::notes() const {
  std::vector<std::string> notes;
  for (const auto& own : own_) {
    if (!own.estimator || !loss(own).empty()) continue;
    notes.push_back(fmt::format("'{}' is tried out by the costarica estimate", system_.graph().name(own.id)));
  }
  for (auto& note : losses()) notes.push_back(std::move(note));
  return notes;
}

std::vector<std::string> Trials::losses() const {
  std::vector<std::string> notes;
  for (const auto& own : own_) {
    const auto& name = system_.graph().name(own.id);
    const auto& can = system_.capabilities(own.id);
    if (const auto text = loss(own); !text.empty()) notes.push_back(fmt::format("'{}' {}", name, text));
    if (can.input_degree < kMaxInputDegree && own.inputs() > 0) {
      notes.push_back(fmt::format("inputs of '{}' lowered from degree {} to {} by mean-square fit{}", name,
                                  kMaxInputDegree, can.input_degree,
                                  own.corrects_lowered ? "" : "; its outputs belong to the fitted inputs"));
    }
  }
  return notes;
}

void Trials::save(std::vector<double>& numbers) const {
  for (const auto& own : own_) {
    numbers.insert(numbers.end(), own.gap.begin(), own.gap.end());
    numbers.insert(numbers.end(), own.input_slopes.begin(), own.input_slopes.end());
    numbers.push_back(static_cast<double>(own.past));
    numbers.insert(numbers.end(), own.past_times.begin(), own.past_times.end());
    numbers.insert(numbers.end(), own.past_outputs.begin(), own.past_outputs.end());
    if (own.estimator) own.estimator->save(numbers);
  }
}

const double* Trials::restore(const double* numbers) {
  const auto take = [&](std::span<double> values) {
    std::copy_n(numbers, values.size(), values.begin());
    numbers += values.size();
  };
  for (auto& own : own_) {
    take(own.gap);
    take(own.input_slopes);
    own.past = static_cast<std::size_t>(*numbers++);
    take(own.past_times);
    take(own.past_outputs);
    if (own.estimator) numbers = own.estimator->restore(numbers);
    own.moved = false;
  }
  return numbers;
}

}  // namespace entrain
