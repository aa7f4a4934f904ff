#include "trials/trials.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "numerics/polynomial.hpp"
#include "trials/observe.hpp"
#include "trials/trials_own.hpp"

namespace entrain {
namespace {

/// row `i` of `matrix` times `vector`
double row_times(const Matrix& matrix, std::size_t i, std::span<const double> vector) {
  double sum = 0.0;
  for (std::size_t j = 0; j < vector.size(); ++j) sum += matrix(i, j) * vector[j];
  return sum;
}

}  // namespace

Trials::Trials(CoupledSystem& system, std::vector<TrialKind> kinds, const EstimatorOptions& options)
    : system_(system.parts()),
      kinds_(std::move(kinds)),
      own_(system.size()),
      input_slopes_(system.graph().inputs(), 0.0),
      gains_revisions_(system.size(), 0) {
  for (std::size_t s = 0; s < system.size(); ++s) join(SubsystemId{s}, options);
  find_fed_through();
}

void Trials::find_fed_through() {
  const Graph& graph = system_.graph();
  for (const auto& block : graph.evaluation_order()) {
    if (!block.output) continue;
    const SubsystemId s = graph.owner(*block.output);
    bool fed = false;
    for (const InputId input : graph.inputs_of(s)) fed = fed || graph.feedthrough(*block.output, input);
    if (fed && kinds_[s] == TrialKind::Costarica) fed_through_.push_back(*block.output);
  }
}

void Trials::join(SubsystemId s, const EstimatorOptions& options) {
  Own& own = own_[s];
  own.id = s;
  own.participant = &system_.participants_[s];
  own.facets = system_.facets(s);
  const Capabilities& can = system_.capabilities(s);
  const std::size_t states = system_.variables(s).states.size();
  const auto inputs = system_.graph().inputs_of(s);
  own.input_slopes = std::span(input_slopes_).subspan(inputs.first, inputs.count);
  if (can.input_degree < kMaxInputDegree) {
    own.gap.assign(own.inputs(), 0.0);
    own.slope_gap.assign(own.inputs(), 0.0);
  }
  own.corrects_lowered = can.input_degree < kMaxInputDegree && can.linearization && own.inputs() > 0;
  if (kinds_[s] == TrialKind::Costarica) {
    own.estimator = std::make_unique<Estimator>(Estimator::Sizes{states, own.inputs(), own.outputs()},
                                                can.state_derivatives, options);
    own.renews_feedthrough = own.corrects_lowered && can.feedthrough.any();
  } else if (kinds_[s] == TrialKind::Continued) {
    own.estimator = estimator_without_linearization(system_.variables(s), can.state_derivatives, options);
  } else {
    own.rollback = std::make_unique<ByRollback>(own.inputs(), own.outputs(), states);
    own.rollback->slopes_from_outputs =
        own.facets.output_derivatives == nullptr && !(can.linearization && can.state_derivatives);
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
  ByRollback& kept = *own.rollback;
  std::copy(participant.outputs.begin(), participant.outputs.end(), kept.outputs_before.begin());
  std::copy(participant.input_end.begin(), participant.input_end.end(), kept.input_before.begin());
  if (kept.slopes_from_outputs && !(kept.past.count > 0 && kept.past.times[0] == from)) {
    std::copy_backward(kept.past.times.begin(), kept.past.times.end() - 1, kept.past.times.end());
    std::copy_backward(kept.past.values.begin(), kept.past.values.end() - static_cast<std::ptrdiff_t>(own.outputs()),
                       kept.past.values.end());
    kept.past.times[0] = from;
    std::copy(participant.outputs.begin(), participant.outputs.end(), kept.past.values.begin());
    kept.past.count = std::min(kept.past.count + 1, PastOutputs::kMost);
  }
  if (own.corrects_lowered) {
    own.facets.linearizer->linearize(kept.here);
    ++own.participant->counters.linearizations;
  }
  kept.saved = own.facets.rollback->save();
  kept.moved = false;
}

void Trials::begin_estimate(Own& own, Time from, Duration expected, std::span<double> slopes) {
  Observation at{from, expected, own.participant->input_end, own.participant->outputs, {}};
  if (own.corrects_lowered) at.input_gap = own.gap;
  if (observe(*own.estimator, own.facets, at)) ++own.participant->counters.linearizations;
  if (!own.estimator->degraded()) own.estimator->slopes_at_point(own.input_slopes, slopes);
  own.estimator->set_step(expected);  // now, while its past is at hand
}

void Trials::follow_inputs(std::span<double> values, std::span<double> slopes) const {
  const Graph& graph = system_.graph();
  const TransferPlan& plan = system_.transfer();
  for (const OutputId y : fed_through_) {
    const SubsystemId s = graph.owner(y);
    const Own& own = own_[s];
    const std::size_t output = y - graph.outputs_of(s).first;
    const auto inputs = graph.inputs_of(s);
    for (std::size_t j = 0; j < inputs.count; ++j) {
      const InputId input{inputs.first + j};
      const double begins_off = plan.incoming(input, values) - own.participant->input_end[j];
      const double slope_off = plan.factor(input) * slopes[plan.source(input)] - own.input_slopes[j];
      const auto gain = own.estimator->gain_at_point(output, j);
      values[y] += gain.value * begins_off;
      slopes[y] += gain.slope * begins_off + gain.value * slope_off;
    }
  }
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
    gains_revisions_[s] = own.estimator->gains_revision();
    const auto range = system_.graph().outputs_of(s);
    own.estimator->estimate(InputBlock(polynomials(task).data(), own.inputs(), task.degree),
                            std::span(result.signals).subspan(range.first, range.count),
                            std::span(result.slopes).subspan(range.first, range.count));
    result.outcomes[task.subsystem] = StepOutcome::Completed;
  });
  system_.trouble_ = false;  // who asks to stop inside a trial is heard when the trial becomes the step
}

void Trials::go_back(Own& own) {
  if (!std::exchange(own.rollback->moved, false)) return;
  own.facets.rollback->restore(*own.rollback->saved);
  ++own.participant->counters.rollbacks;
}

void Trials::trial_by_rollback(Own& own, const StepTask& task, TrialBlock& result) {
  auto& participant = *own.participant;
  ByRollback& kept = *own.rollback;
  const auto given = polynomials(task);
  std::copy(given.begin(), given.end(), kept.tried.begin());
  kept.tried_size = task.size;
  kept.tried_degree = task.degree;
  go_back(own);
  kept.moved = true;
  kept.refusal.clear();
  const auto early_before = participant.counters.early_returns;
  const auto range = system_.graph().outputs_of(own.id);
  const auto signals = std::span(result.signals).subspan(range.first, range.count);
  try {
    system_.step_in_trial(task, participant);
    finish_lowered(own, task);
    std::copy(participant.outputs.begin(), participant.outputs.end(), signals.begin());
    read_slopes(own, task, std::span(result.slopes).subspan(range.first, range.count));
    std::copy(signals.begin(), signals.end(), kept.tried_outputs.begin());
  } catch (const Error& error) {
    const bool rejected = dynamic_cast<const StepRejected*>(&error) != nullptr;
    if (!rejected && error.code() != ErrorCode::SolverFailed)
      throw;  // where an integrator gave up, less may do as well
    kept.refusal = error.what();
  }
  kept.stopped_at = std::exchange(participant.stopped_at, std::nullopt);
  const bool early = participant.counters.early_returns > early_before;
  result.outcomes[task.subsystem] = !kept.refusal.empty() ? StepOutcome::Rejected
                                    : early               ? StepOutcome::EndedEarly
                                                          : StepOutcome::Completed;
  std::copy(participant.input_end.begin(), participant.input_end.end(), kept.input_after.begin());
  std::copy(kept.outputs_before.begin(), kept.outputs_before.end(), participant.outputs.begin());
  std::copy(kept.input_before.begin(), kept.input_before.end(), participant.input_end.begin());
}

/// A subsystem that takes a lower degree was given the best fit, which ends elsewhere than the polynomial. Its outputs
/// are meant for the end of the polynomial: y + D (u_end - u_held).
void Trials::finish_lowered(Own& own, const StepTask& task) {
  const auto given = polynomials(task);
  const InputBlock meant(given.data(), own.inputs(), task.degree);
  for (std::size_t i = 0; i < own.inputs(); ++i) own.input_slopes[i] = meant.slope(i, task.size);
  auto& participant = *own.participant;
  if (participant.input_degree >= task.degree) return;
  if (own.renews_feedthrough) {
    const Observation end{task.to, task.size, participant.input_end, participant.outputs, {}};
    if (renew_feedthrough(*own.estimator, own.facets, end)) ++participant.counters.linearizations;
  }
  const InputBlock held(participant.part_coefficients.data(), own.inputs(), participant.input_degree);
  for (std::size_t i = 0; i < own.inputs(); ++i) {
    const double end = meant.value(i, task.size);
    own.gap[i] = end - participant.input_end[i];
    own.slope_gap[i] = own.input_slopes[i] - held.slope(i, participant.last_part);
    participant.input_end[i] = end;
  }
  if (!own.corrects_lowered) return;
  const Linearization& at = own.estimator ? own.estimator->in_force() : own.rollback->here;
  for (std::size_t i = 0; i < own.outputs(); ++i) participant.outputs[i] += row_times(at.D, i, own.gap);
}

void Trials::read_slopes(Own& own, const StepTask& task, std::span<double> slopes) {
  ByRollback& kept = *own.rollback;
  if (kept.slopes_from_outputs) {
    std::array<double, PastOutputs::kMost + 1> nodes{};
    std::array<double, PastOutputs::kMost + 1> values{};
    std::array<double, PastOutputs::kMost + 1> polynomial{};
    const std::size_t count = kept.past.count + 1;
    for (std::size_t k = 0; k < kept.past.count; ++k) nodes[k + 1] = kept.past.times[k] - task.from - task.size;
    for (std::size_t i = 0; i < own.outputs(); ++i) {
      values[0] = own.participant->outputs[i];
      for (std::size_t k = 0; k < kept.past.count; ++k) values[k + 1] = kept.past.values[k * own.outputs() + i];
      interpolate(std::span(nodes).first(count), std::span(values).first(count), std::span(polynomial).first(count));
      slopes[i] = polynomial[1];
    }
    return;
  }
  if (own.facets.output_derivatives != nullptr) {
    own.facets.output_derivatives->output_derivatives(slopes);
  } else {
    own.facets.linearizer->linearize(kept.here);
    ++own.participant->counters.linearizations;
    own.facets.states->derivatives(kept.dx);
    for (std::size_t i = 0; i < own.outputs(); ++i) {
      slopes[i] = row_times(kept.here.C, i, kept.dx) + row_times(kept.here.D, i, own.input_slopes);
    }
  }
  if (!own.corrects_lowered || own.participant->input_degree >= task.degree) return;
  // f under the end of the polynomial is f + B gap; hence C B gap, and D u' with the slope that was meant.
  for (std::size_t i = 0; i < kept.dx.size(); ++i) kept.dx[i] = row_times(kept.here.B, i, own.gap);
  for (std::size_t i = 0; i < own.outputs(); ++i) {
    slopes[i] += row_times(kept.here.C, i, kept.dx);
    if (own.facets.output_derivatives != nullptr) slopes[i] += row_times(kept.here.D, i, own.slope_gap);
  }
}

bool Trials::is_last_trial(const ByRollback& kept, const StepTask& task) const {
  const auto given = polynomials(task);
  return kept.moved && kept.refusal.empty() && kept.tried_size == task.size && kept.tried_degree == task.degree &&
         std::equal(given.begin(), given.end(), kept.tried.begin());
}

void Trials::commit(std::span<const StepTask> tasks, TrialBlock& result) {
  system_.spread_common_steps();
  for_all([&](SubsystemId s) { commit_one(own_[s], tasks[s], result); });
  if (!system_.trouble_.exchange(false)) return;
  for (const StepTask& task : tasks) system_.settle_trouble(task.subsystem);
}

void Trials::commit_one(Own& own, const StepTask& task, TrialBlock& result) {
  const bool by_rollback = !own.estimator;
  if (by_rollback && is_last_trial(*own.rollback, task)) {
    become_step(own, task);
  } else {
    auto& participant = *own.participant;
    const auto range = system_.graph().outputs_of(task.subsystem);
    if (by_rollback) go_back(own);
    const auto early_before = participant.counters.early_returns;
    system_.commit_one(task, system_.is_timed(task.subsystem));
    const bool early = participant.counters.early_returns > early_before;
    result.outcomes[task.subsystem] = early ? StepOutcome::EndedEarly : StepOutcome::Completed;
    finish_lowered(own, task);
    if (by_rollback) read_slopes(own, task, std::span(result.slopes).subspan(range.first, range.count));
    std::copy(participant.outputs.begin(), participant.outputs.end(),
              result.signals.begin() + static_cast<std::ptrdiff_t>(range.first));
  }
  if (!by_rollback) return;
  own.facets.rollback->release(*std::exchange(own.rollback->saved, std::nullopt));
  own.rollback->moved = false;
}

/// The last trial, as it was.
void Trials::become_step(Own& own, const StepTask& task) {
  auto& participant = *own.participant;
  const ByRollback& kept = *own.rollback;
  std::copy(kept.tried_outputs.begin(), kept.tried_outputs.end(), participant.outputs.begin());
  std::copy(kept.input_after.begin(), kept.input_after.end(), participant.input_end.begin());
  participant.stopped_at = kept.stopped_at;
  if (kept.stopped_at) system_.trouble_.store(true, std::memory_order_relaxed);
  system_.note_step(task.subsystem, task.to);
}

std::string Trials::refusal() const {
  const auto who = std::find_if(own_.begin(), own_.end(),
                                [](const Own& own) { return own.rollback && !own.rollback->refusal.empty(); });
  return who == own_.end() ? std::string() : who->rollback->refusal;
}

void Trials::follow(const Trials& others) {
  std::copy(others.input_slopes_.begin(), others.input_slopes_.end(), input_slopes_.begin());
  for (std::size_t s = 0; s < own_.size(); ++s) own_[s].gap = others.own_[s].gap;
}

void Trials::forget_past() {
  for (auto& own : own_) {
    if (own.rollback) own.rollback->past.count = 0;
    if (own.estimator) own.estimator->forget_past();
  }
}

}  // namespace entrain
