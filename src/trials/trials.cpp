#include "trials/trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "coupling/engine.hpp"
#include "entrain/fact_codes.hpp"
#include "numerics/polynomial.hpp"
#include "trials/identified_step.hpp"
#include "trials/observe.hpp"
#include "trials/step_chain.hpp"
#include "trials/surrogate_step.hpp"

namespace entrain::trials {
namespace {

/// row `i` of `matrix` times `vector`
double row_times(const Matrix& matrix, std::size_t i, std::span<const double> vector) {
  double sum = 0.0;
  for (std::size_t j = 0; j < vector.size(); ++j) sum += matrix(i, j) * vector[j];
  return sum;
}

/// What provides no linearization, or is written to be estimated otherwise, may be estimated so.
IdentifiedStep::Ports ports_of(const coupling::Engine& engine, SubsystemId s) {
  const Capabilities& can = engine.subsystem(s).capabilities();
  const Graph& graph = engine.graph();
  return {graph.outputs_of(s).count, graph.inputs_of(s).count, can.feedthrough, can.input_degree, can.substeps};
}

}  // namespace

bool may_be_retried(const Error& error) {
  if (error.code() == ErrorCode::SolverFailed) return true;
  const Fact& fact = error.fact();
  if (error.code() != ErrorCode::SubsystemFailed) return false;
  return fact.code == FactCode::StepRejected ||
         (fact.code == FactCode::FmuCallFailed && !fact.text("status").ends_with("Fatal"));
}

/// What trials by rollback remember of a subsystem.
struct Trials::ByRollback {
  ByRollback(std::size_t inputs, std::size_t outputs, std::size_t states)
      : outputs_before(outputs),
        input_before(inputs),
        tried((kMaxInputDegree + 1) * inputs),
        input_after(inputs),
        tried_outputs(outputs),
        dx(states) {
    past.values.resize(PastOutputs::kMost * outputs);
  }

  std::optional<StateId> saved;
  bool moved = false;                                // a trial has left the saved state
  std::optional<Time> stopped_at;                    // and asked to end the run there
  std::string refusal;                               // why it was rejected; empty if it was not
  std::exception_ptr failure;                        // of a call of an FMU; null if none failed
  std::vector<double> outputs_before, input_before;  // at the start of the step
  std::vector<double> tried, input_after;            // polynomials of the last trial; inputs as it ended
  std::vector<double> tried_outputs;
  Duration tried_size = 0.0;
  int tried_degree = 0;
  Linearization here;  // at the start of the step
  std::vector<double> dx;
  bool slopes_from_outputs = false;  // for want of anything better
  bool adopted = false;              // the last trial has become the step
  PastOutputs past;
};

/// One subsystem's part of the trials: by estimates or by rollback. Every step reads it for everyone, several times:
/// what estimates need of it lies in one cache line.
struct alignas(64) Trials::Own {
  coupling::StepExecutor::Participant* participant = nullptr;
  std::unique_ptr<Estimator> estimator;
  std::span<double> input_slopes;   // in input_slopes_
  bool estimated = true;            // else tried by rollback
  bool replaced = false;            // something stands in for the estimator, wherever it lives
  bool corrects_lowered = false;    // outputs are brought to the end values of inputs of a lower degree ...
  bool renews_feedthrough = false;  // ... by the D of an estimator, which must be up to date then
  Facets facets;
  SubsystemId id;
  std::unique_ptr<ByRollback> rollback;
  // Where inputs of a lower degree are given; else empty.
  std::vector<double> gap;  // end of the polynomial - what the subsystem held there
  std::vector<double> slope_gap;
  std::vector<double> kept_gap;  // before a commit that may be taken back
  // Where something stands in for the estimator.
  std::unique_ptr<StandIn> stand_in;
  std::vector<double> held, raw;  // inputs and outputs at the end of the last step, as they were; empty: not known
  std::vector<double> kept_held, kept_raw;
  std::vector<double> continued, continued_slopes, zeros;
  // Several processes: what the one with the estimator sends to the others where a step begins: gains of inputs at the
  // point, where there is feedthrough, sizes of terms, how good the stand-in was.
  std::vector<double> passed_on;
  std::size_t gains_passed_on = 0;

  std::size_t inputs() const { return participant->inputs().size(); }
  std::size_t outputs() const { return participant->outputs().size(); }
};

Trials::Trials(CoupledSystem& system, std::vector<coupling::TrialKind> kinds, const EstimatorOptions& options)
    : engine_(system.engine()),
      kinds_(std::move(kinds)),
      own_(system.size()),
      readings_(system.size()),
      input_slopes_(system.graph().inputs(), 0.0),
      gains_revisions_(system.size(), 0) {
  for (std::size_t s = 0; s < system.size(); ++s) {
    everyone_.emplace_back(s);
    join(SubsystemId{s}, options.identifies);
  }
  engine_.executor().for_everyone([&](SubsystemId s) { make_estimator(own_[s], options); });
  find_fed_through();
}

void Trials::find_fed_through() {
  const Graph& graph = engine_.graph();
  for (const auto& block : graph.evaluation_order()) {
    if (!block.output) continue;
    const SubsystemId s = graph.owner(*block.output);
    bool fed = false;
    for (const InputId input : graph.inputs_of(s)) fed = fed || graph.feedthrough(*block.output, input);
    const bool estimated = kinds_[s] == coupling::TrialKind::Costarica || own_[s].replaced;
    if (fed && estimated) fed_through_.push_back(*block.output);
  }
}

/// What all processes know of it.
void Trials::join(SubsystemId s, bool identifies) {
  using Source = coupling::EstimatorChoice::Source;
  Own& own = own_[s];
  own.id = s;
  own.participant = &engine_.executor().of(s);
  own.facets = engine_.facets(s);
  const Capabilities& can = engine_.subsystem(s).capabilities();
  const auto inputs = engine_.graph().inputs_of(s);
  own.input_slopes = std::span(input_slopes_).subspan(inputs.first, inputs.count);
  if (can.input_degree < kMaxInputDegree) {
    own.gap.assign(own.inputs(), 0.0);
    own.slope_gap.assign(own.inputs(), 0.0);
  }
  own.corrects_lowered = can.input_degree < kMaxInputDegree && can.linearization && own.inputs() > 0;
  const Source source = engine_.estimator(s).source;
  if (kinds_[s] == coupling::TrialKind::Costarica) {
    readings_[s] = {.states = true, .state_derivatives = can.state_derivatives};
    own.renews_feedthrough = own.corrects_lowered && can.feedthrough.any();
  } else if (kinds_[s] == coupling::TrialKind::Continued) {
    readings_[s] = {.states = can.state_derivatives, .state_derivatives = can.state_derivatives};
    const bool identified =
        source == Source::Identified || (source == Source::Auto && identifies && !can.state_derivatives);
    own.replaced = source == Source::Named ||
                   (identified && !depends_on_time_alone(s) && IdentifiedStep::is_possible(ports_of(engine_, s)));
  } else {
    own.estimated = false;
    own.rollback =
        std::make_unique<ByRollback>(own.inputs(), own.outputs(), engine_.subsystem(s).variables().states.size());
    own.rollback->slopes_from_outputs =
        own.facets.output_derivatives == nullptr && !(can.linearization && can.state_derivatives);
    readings_[s] = {.output_derivatives = own.facets.output_derivatives != nullptr,
                    .state_derivatives = own.facets.output_derivatives == nullptr && can.state_derivatives};
  }
  if (own.estimated && engine_.executor().is_distributed()) {
    own.gains_passed_on = can.feedthrough.any() ? 2 * own.outputs() * own.inputs() : 0;
    own.passed_on.assign(own.gains_passed_on + own.outputs() + PredictionQuality::kNumbers, 0.0);
  }
  if (!own.replaced) return;
  own.facets.linearizer = nullptr;  // its estimator has none
  own.corrects_lowered = false;
}

/// Where it lives.
void Trials::make_estimator(Own& own, const EstimatorOptions& options) {
  if (own.rollback) return;
  const Subsystem& subsystem = engine_.subsystem(own.id);
  const Capabilities& can = subsystem.capabilities();
  const auto& choice = engine_.estimator(own.id);
  const bool named = choice.source == coupling::EstimatorChoice::Source::Named;
  auto ports = ports_of(engine_, own.id);
  if (own.replaced && !named) ports.direct = engine_.start_gains(own.id);
  at_home(own, [&] {
    if (kinds_[own.id] == coupling::TrialKind::Costarica) {
      const Estimator::Sizes sizes{subsystem.variables().states.size(), own.inputs(), own.outputs()};
      own.estimator = std::make_unique<Estimator>(sizes, can.state_derivatives, options);
    } else {
      own.estimator = estimator_without_linearization(subsystem.variables(), can.state_derivatives, options);
    }
    if (!own.replaced) return;
    if (named) {
      own.stand_in = std::make_unique<SurrogateStep>(choice.make({subsystem.name(), subsystem.variables(), can}),
                                                     own.outputs(), own.inputs());
    } else {
      own.stand_in = std::make_unique<IdentifiedStep>(ports);
    }
    own.continued.assign(own.outputs(), 0.0);
    own.continued_slopes.assign(own.outputs(), 0.0);
    own.zeros.assign(own.inputs(), 0.0);
  });
}

Trials::~Trials() = default;

const StandIn* Trials::stand_in(SubsystemId s) const {
  return own_[s].stand_in.get();
}

Estimator* Trials::estimator(SubsystemId s) {
  return own_[s].estimator.get();
}

template <class Work, class... Results>
void Trials::at_home(const Own& own, Work&& work, Results... results) const {
  engine_.executor().at_home(own.id, std::forward<Work>(work), results...);
}

/// Work that may linearize.
template <class Work, class... Results>
void Trials::at_home_and_count(Own& own, Work&& work, Results... results) {
  at_home(own, std::forward<Work>(work), std::span(&own.participant->counters.linearizations, 1), results...);
}

std::span<double> Trials::of_outputs(std::vector<double>& signals, const Own& own) const {
  return std::span(signals).subspan(engine_.graph().outputs_of(own.id).first, own.outputs());
}

/// What the others need of the estimator until the next step begins, besides estimates.
void Trials::pass_on(Own& own) const {
  if (own.passed_on.empty()) return;
  double* next = own.passed_on.data();
  for (std::size_t i = 0; i < own.outputs() && own.gains_passed_on > 0; ++i) {
    for (std::size_t j = 0; j < own.inputs(); ++j) {
      const auto gain = gain_at_point(own, i, j);
      *next++ = gain.value;
      *next++ = gain.slope;
    }
  }
  for (std::size_t i = 0; i < own.outputs(); ++i) *next++ = own.estimator->size_of_terms(i);
  pass_on_quality(own);
}

void Trials::pass_on_quality(Own& own) const {
  if (own.passed_on.empty()) return;
  const auto numbers = quality(own).numbers();
  std::copy(numbers.begin(), numbers.end(), own.passed_on.end() - numbers.size());
}

Estimator::InputGain Trials::gain_at_point(const Own& own, std::size_t output, std::size_t input) const {
  if (own.stand_in) return {own.stand_in->direct_gain(output, input), 0.0};
  if (own.estimator) return own.estimator->gain_at_point(output, input);
  const double* gain = own.passed_on.data() + 2 * (output * own.inputs() + input);
  return {gain[0], gain[1]};
}

double Trials::size_of_terms(OutputId y) const {
  const SubsystemId s = engine_.graph().owner(y);
  const Own& own = own_[s];
  const std::size_t output = y - engine_.graph().outputs_of(s).first;
  return own.estimator ? own.estimator->size_of_terms(output) : own.passed_on[own.gains_passed_on + output];
}

PredictionQuality Trials::quality(const Own& own) const {
  if (own.stand_in) return own.stand_in->quality();
  if (!own.replaced) return {};
  return PredictionQuality::of(std::span(own.passed_on).last(PredictionQuality::kNumbers));
}

TrialBlock Trials::make_block() const {
  TrialBlock block;
  block.signals.assign(std::as_const(engine_).store().signals().begin(),
                       std::as_const(engine_).store().signals().end());
  block.slopes.assign(block.signals.size(), 0.0);
  block.outcomes.assign(own_.size(), StepOutcome::Completed);
  return block;
}

void Trials::for_all(base::FunctionRef<void(SubsystemId)> work) const {
  engine_.executor().for_each(everyone_, [&](std::size_t s) { work(SubsystemId{s}); });
}

void Trials::begin(Time from, Duration expected, std::span<double> slopes) {
  for_all([&](SubsystemId s) {
    Own& own = own_[s];
    if (!own.estimated) return begin_rollback(own, from);
    const auto range = engine_.graph().outputs_of(s);
    begin_estimate(own, from, expected, slopes.subspan(range.first, range.count));
  });
}

void Trials::begin_rollback(Own& own, Time from) {
  const auto& participant = *own.participant;
  ByRollback& kept = *own.rollback;
  std::copy(participant.outputs().begin(), participant.outputs().end(), kept.outputs_before.begin());
  std::copy(participant.inputs().begin(), participant.inputs().end(), kept.input_before.begin());
  if (kept.slopes_from_outputs && !(kept.past.count > 0 && kept.past.times[0] == from)) {
    std::copy_backward(kept.past.times.begin(), kept.past.times.end() - 1, kept.past.times.end());
    std::copy_backward(kept.past.values.begin(), kept.past.values.end() - static_cast<std::ptrdiff_t>(own.outputs()),
                       kept.past.values.end());
    kept.past.times[0] = from;
    std::copy(participant.outputs().begin(), participant.outputs().end(), kept.past.values.begin());
    kept.past.count = std::min(kept.past.count + 1, PastOutputs::kMost);
  }
  if (own.corrects_lowered) {
    at_home_and_count(own, [&] {
      own.facets.linearizer->linearize(kept.here);
      ++own.participant->counters.linearizations;
    });
  }
  kept.saved = own.facets.rollback->save();
  kept.moved = false;
}

void Trials::begin_estimate(Own& own, Time from, Duration expected, std::span<double> slopes) {
  at_home_and_count(
      own,
      [&] {
        try {
          look(own, from, expected, slopes);
        } catch (...) {
          pass_on_quality(own);  // for the notes of a run that ends so
          throw;
        }
        pass_on(own);
      },
      slopes, std::span(own.passed_on));
}

void Trials::look(Own& own, Time from, Duration expected, std::span<double> slopes) {
  if (own.stand_in) observe_stand_in(own, from);
  Observation at{from, expected, own.participant->inputs(), own.participant->outputs(), {}};
  if (own.corrects_lowered) at.input_gap = own.gap;
  if (observe(*own.estimator, own.facets, at)) ++own.participant->counters.linearizations;
  if (!own.estimator->degraded()) own.estimator->slopes_at_point(own.input_slopes, slopes);
  own.estimator->set_step(expected);  // now, while its past is at hand
  if (!own.stand_in) return;
  look_ahead(own, expected);
  own.stand_in->slopes_here(slopes);
}

/// The estimator is still where the last step began: what it expected of that step is what the stand-in competes with.
void Trials::observe_stand_in(Own& own, Time from) {
  const auto before = own.stand_in->at();
  const bool stepped = before && from > *before;
  if (stepped) {
    own.estimator->set_step(from - *before);
    own.estimator->estimate(InputBlock(own.zeros.data(), own.inputs(), 0), own.continued, own.continued_slopes);
  }
  const auto& participant = *own.participant;
  const std::span<const double> none;
  own.stand_in->observe({from, own.held.empty() ? std::span<const double>(participant.inputs()) : own.held,
                         own.raw.empty() ? std::span<const double>(participant.outputs()) : own.raw,
                         participant.outputs(), stepped ? std::span<const double>(own.continued) : none});
  own.held.clear();
  own.raw.clear();
}

void Trials::look_ahead(Own& own, Duration size) {
  own.estimator->estimate(InputBlock(own.zeros.data(), own.inputs(), 0), own.continued, own.continued_slopes);
  own.stand_in->set_step({size, own.continued, own.continued_slopes});
}

void Trials::follow_inputs(Time now, std::span<double> values, std::span<double> slopes) const {
  const Graph& graph = engine_.graph();
  const coupling::TransferPlan& plan = engine_.transfer();
  for (const OutputId y : fed_through_) {
    const SubsystemId s = graph.owner(y);
    const Own& own = own_[s];
    const std::size_t output = y - graph.outputs_of(s).first;
    const auto inputs = graph.inputs_of(s);
    for (std::size_t j = 0; j < inputs.count; ++j) {
      const InputId input{inputs.first + j};
      const double begins_off = plan.incoming(input, values) + plan.moved(input, now) - own.participant->inputs()[j];
      const double slope_off =
          plan.factor(input) * slopes[plan.source(input)] + plan.slope(input) - own.input_slopes[j];
      const auto gain = gain_at_point(own, output, j);
      values[y] += gain.value * begins_off;
      slopes[y] += gain.slope * begins_off + gain.value * slope_off;
    }
  }
}

std::span<const double> Trials::polynomials(const StepTask& task) const {
  const auto& participant = engine_.executor().of(task.subsystem);
  const std::size_t count = participant.inputs().size();
  const double* first = task.degree == 0 ? participant.inputs().data() : participant.step.slots.coefficients;
  return {first, count * static_cast<std::size_t>(task.degree + 1)};
}

void Trials::run(std::span<const StepTask> tasks, TrialBlock& result) {
  const auto before = [&](std::size_t s) {
    if (!own_[s].estimated) {
      begin_trial(own_[s], tasks[s]);
      return true;
    }
    estimate(own_[s], tasks[s], result);
    return false;
  };
  const auto after = [&](std::size_t s) {
    if (own_[s].rollback) end_trial(own_[s], tasks[s], result);
  };
  engine_.executor().run({.tasks = tasks,
                          .purpose = coupling::StepBatch::Purpose::Trial,
                          .readings = readings_,
                          .before = before,
                          .after = after});
}

void Trials::estimate(Own& own, const StepTask& task, TrialBlock& result) {
  if (counted_) ++own.participant->counters.trials;
  const auto values = of_outputs(result.signals, own);
  const auto slopes = of_outputs(result.slopes, own);
  std::uint64_t& revision = gains_revisions_[own.id];
  at_home(
      own,
      [&] {
        const InputBlock inputs(polynomials(task).data(), own.inputs(), task.degree);
        own.estimator->set_step(task.size);
        if (own.stand_in) {
          look_ahead(own, task.size);
          revision = own.stand_in->gains_revision();
          own.stand_in->estimate(inputs, values, slopes);
        } else {
          revision = own.estimator->gains_revision();
          own.estimator->estimate(inputs, values, slopes);
        }
      },
      values, slopes, std::span(&revision, 1));
  result.outcomes[own.id] = StepOutcome::Completed;
}

void Trials::go_back(Own& own) {
  if (!std::exchange(own.rollback->moved, false)) return;
  own.facets.rollback->restore(*own.rollback->saved);
  ++own.participant->counters.rollbacks;
}

void Trials::begin_trial(Own& own, const StepTask& task) {
  ByRollback& kept = *own.rollback;
  const auto given = polynomials(task);
  std::copy(given.begin(), given.end(), kept.tried.begin());
  kept.tried_size = task.size;
  kept.tried_degree = task.degree;
  go_back(own);
  kept.moved = true;
  kept.refusal.clear();
  kept.failure = nullptr;
}

/// A rejected trial is an outcome; where an integrator gave up or an FMU failed, a smaller step may do as well.
void Trials::end_trial(Own& own, const StepTask& task, TrialBlock& result) {
  auto& participant = *own.participant;
  ByRollback& kept = *own.rollback;
  if (participant.result.outcome == StepOutcome::Rejected) kept.refusal = engine_.executor().rejection(own.id).what();
  const coupling::StepResult made = std::exchange(participant.result, {});
  try {
    if (participant.failure) std::rethrow_exception(participant.failure);
    if (kept.refusal.empty()) take_trial(own, task, result);
  } catch (const Error& error) {
    if (!may_be_retried(error)) throw;
    if (error.code() == ErrorCode::SubsystemFailed) kept.failure = std::current_exception();
    participant.failure = nullptr;
    kept.refusal = error.what();
  }
  kept.stopped_at = made.stopped_at;
  result.outcomes[own.id] = kept.refusal.empty() ? made.outcome : StepOutcome::Rejected;
  std::copy(participant.inputs().begin(), participant.inputs().end(), kept.input_after.begin());
  std::copy(kept.outputs_before.begin(), kept.outputs_before.end(), participant.outputs().begin());
  std::copy(kept.input_before.begin(), kept.input_before.end(), participant.inputs().begin());
}

void Trials::take_trial(Own& own, const StepTask& task, TrialBlock& result) {
  const auto signals = of_outputs(result.signals, own);
  const auto outputs = own.participant->outputs();
  finish_lowered(own, task);
  std::copy(outputs.begin(), outputs.end(), signals.begin());
  read_slopes(own, task, of_outputs(result.slopes, own));
  std::copy(signals.begin(), signals.end(), own.rollback->tried_outputs.begin());
}

/// A subsystem that takes a lower degree was given the best fit, which ends elsewhere than the polynomial. Its outputs
/// are meant for the end of the polynomial: y + D (u_end - u_held).
void Trials::finish_lowered(Own& own, const StepTask& task) {
  const auto given = polynomials(task);
  const InputBlock meant(given.data(), own.inputs(), task.degree);
  for (std::size_t i = 0; i < own.inputs(); ++i) own.input_slopes[i] = meant.slope(i, task.size);
  auto& participant = *own.participant;
  if (own.stand_in) {
    own.held.assign(participant.inputs().begin(), participant.inputs().end());
    own.raw.assign(participant.outputs().begin(), participant.outputs().end());
  }
  if (participant.step.input_degree >= task.degree) {
    if (own.replaced)
      at_home(own, [&] { own.stand_in->correct({task.size, meant, meant, task.size, {}}, participant.outputs()); });
    return;
  }
  if (own.renews_feedthrough) {
    at_home_and_count(own, [&] {
      const Observation end{task.to, task.size, participant.inputs(), participant.outputs(), {}};
      if (renew_feedthrough(*own.estimator, own.facets, end)) ++participant.counters.linearizations;
    });
  }
  const InputBlock held(participant.step.part_coefficients.data(), own.inputs(), participant.step.input_degree);
  for (std::size_t i = 0; i < own.inputs(); ++i) {
    const double end = meant.value(i, task.size);
    own.gap[i] = end - participant.inputs()[i];
    own.slope_gap[i] = own.input_slopes[i] - held.slope(i, participant.step.last_part);
    participant.inputs()[i] = end;
  }
  if (!own.replaced && !own.corrects_lowered) return;
  at_home(
      own, [&] { correct(own, task, meant, held); }, participant.outputs());
}

void Trials::correct(Own& own, const StepTask& task, const InputBlock& meant, const InputBlock& held) {
  const auto outputs = own.participant->outputs();
  if (own.stand_in) {
    own.stand_in->correct({task.size, meant, held, own.participant->step.last_part, own.gap}, outputs);
  } else {
    const Linearization& at = own.estimator ? own.estimator->in_force() : own.rollback->here;
    for (std::size_t i = 0; i < own.outputs(); ++i) outputs[i] += row_times(at.D, i, own.gap);
  }
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
      values[0] = own.participant->outputs()[i];
      for (std::size_t k = 0; k < kept.past.count; ++k) values[k + 1] = kept.past.values[k * own.outputs() + i];
      numerics::interpolate(std::span(nodes).first(count), std::span(values).first(count),
                            std::span(polynomial).first(count));
      slopes[i] = polynomial[1];
    }
    return;
  }
  at_home_and_count(
      own, [&] { find_slopes(own, task, slopes); }, slopes);
}

void Trials::find_slopes(Own& own, const StepTask& task, std::span<double> slopes) {
  ByRollback& kept = *own.rollback;
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
  if (!own.corrects_lowered || own.participant->step.input_degree >= task.degree) return;
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
  const auto before = [&](std::size_t s) {
    Own& own = own_[s];
    if (!own.rollback) return true;
    own.rollback->adopted = is_last_trial(*own.rollback, tasks[s]);
    if (own.rollback->adopted) {
      adopt_trial(own, tasks[s]);
    } else {
      go_back(own);
    }
    return !own.rollback->adopted;
  };
  const auto after = [&](std::size_t s) {
    Own& own = own_[s];
    if (own.participant->failure || own.participant->result.outcome == StepOutcome::Rejected) return;
    if (!own.rollback || !own.rollback->adopted) take_step(own, tasks[s], result);
    if (!own.rollback) return;
    own.facets.rollback->release(*std::exchange(own.rollback->saved, std::nullopt));
    own.rollback->moved = false;
  };
  engine_.executor().run({.tasks = tasks, .readings = readings_, .before = before, .after = after});
}

void Trials::take_step(Own& own, const StepTask& task, TrialBlock& result) {
  const auto range = engine_.graph().outputs_of(own.id);
  const auto outputs = own.participant->outputs();
  result.outcomes[own.id] = own.participant->result.outcome;
  finish_lowered(own, task);
  if (own.rollback) read_slopes(own, task, std::span(result.slopes).subspan(range.first, range.count));
  std::copy(outputs.begin(), outputs.end(), result.signals.begin() + static_cast<std::ptrdiff_t>(range.first));
}

/// The last trial, as it was, is the step.
void Trials::adopt_trial(Own& own, const StepTask& task) {
  const auto& participant = *own.participant;
  const ByRollback& kept = *own.rollback;
  std::copy(kept.tried_outputs.begin(), kept.tried_outputs.end(), participant.outputs().begin());
  std::copy(kept.input_after.begin(), kept.input_after.end(), participant.inputs().begin());
  engine_.executor().adopt_step(own.id, task.to, kept.stopped_at);
}

std::string Trials::refusal() const {
  const auto refused = std::find_if(own_.begin(), own_.end(),
                                    [](const Own& own) { return own.rollback && !own.rollback->refusal.empty(); });
  return refused == own_.end() ? std::string() : refused->rollback->refusal;
}

void Trials::rethrow_failure() const {
  for (const auto& own : own_) {
    if (own.rollback && own.rollback->failure) std::rethrow_exception(own.rollback->failure);
  }
}

void Trials::keep_before_commit() {
  kept_input_slopes_ = input_slopes_;
  for (auto& own : own_) {
    own.kept_gap = own.gap;
    own.kept_held = own.held;
    own.kept_raw = own.raw;
  }
}

void Trials::take_back(Time from) {
  std::copy(kept_input_slopes_.begin(), kept_input_slopes_.end(), input_slopes_.begin());
  for (auto& own : own_) {
    own.gap = own.kept_gap;
    own.held = own.kept_held;
    own.raw = own.kept_raw;
  }
  for_all([&](SubsystemId s) {
    Own& own = own_[s];
    if (!own.rollback) return;
    if (own.rollback->saved) own.facets.rollback->release(*own.rollback->saved);
    begin_rollback(own, from);
  });
}

void Trials::follow(const Trials& others) {
  std::copy(others.input_slopes_.begin(), others.input_slopes_.end(), input_slopes_.begin());
  for (std::size_t s = 0; s < own_.size(); ++s) {
    Own& own = own_[s];
    own.gap = others.own_[s].gap;
    if (!own.stand_in) continue;
    own.held.assign(own.participant->inputs().begin(), own.participant->inputs().end());
    for (std::size_t j = 0; j < own.gap.size(); ++j) own.held[j] -= own.gap[j];
  }
}

void Trials::forget_past() {
  for_all([&](SubsystemId s) {
    Own& own = own_[s];
    if (own.rollback) {
      own.rollback->past.count = 0;
      return;
    }
    at_home(own, [&] {
      own.estimator->forget_past();
      if (own.stand_in) own.stand_in->forget_past();
      own.held.clear();
      own.raw.clear();
    });
  });
}

std::optional<FactCode> Trials::loss(const Own& own) const {
  const bool costarica = kinds_[own.id] == coupling::TrialKind::Costarica;
  const bool knows_rates = engine_.subsystem(own.id).capabilities().state_derivatives;
  if (costarica && !knows_rates) return FactCode::TrialsWithoutStateDerivatives;
  if (costarica && depends_on_time_alone(own.id)) return FactCode::OutputsDependOnTimeAlone;
  if (engine_.estimator(own.id).source == coupling::EstimatorChoice::Source::Named) return std::nullopt;
  if (kinds_[own.id] == coupling::TrialKind::Continued) {
    return knows_rates ? FactCode::StatesContinued : FactCode::OutputsContinued;
  }
  if (own.rollback && own.rollback->slopes_from_outputs) return FactCode::SlopesFromOutputs;
  return std::nullopt;
}

bool Trials::depends_on_time_alone(SubsystemId s) const {
  const Graph& graph = engine_.graph();
  bool fed = false;
  for (const InputId input : graph.inputs_of(s)) fed = fed || graph.source(input) != nullptr;
  return !fed && engine_.subsystem(s).variables().states.empty();
}

std::vector<Fact> Trials::notes() const {
  std::vector<Fact> notes;
  for (const auto& own : own_) {
    if (own.rollback || own.replaced || loss(own)) continue;
    notes.push_back({FactCode::TrialsEstimated, {engine_.graph().name(own.id)}});
  }
  for (auto& note : losses()) notes.push_back(std::move(note));
  return notes;
}

std::vector<Fact> Trials::losses() const {
  std::vector<Fact> notes;
  for (const auto& own : own_) {
    const auto& name = engine_.graph().name(own.id);
    const auto& can = engine_.subsystem(own.id).capabilities();
    if (const auto code = loss(own)) notes.push_back({*code, {name}});
    if (can.input_degree < kMaxInputDegree && own.inputs() > 0) {
      Fact& lowered = notes.emplace_back(
          Fact{FactCode::InputDegreeLowered, {name}, {{"from", kMaxInputDegree}, {"to", can.input_degree}}});
      if (!own.corrects_lowered) lowered.values.emplace_back("fitted", 1);
    }
  }
  return notes;
}

std::vector<Fact> Trials::closing_notes() const {
  std::vector<Fact> notes;
  for (const auto& own : own_) {
    if (!own.replaced) continue;
    auto note = note_of(quality(own), engine_.estimator(own.id), engine_.graph().name(own.id));
    if (note) notes.push_back(std::move(*note));
  }
  return notes;
}

/// Over several processes each brings what it remembers of its own.
Trials::Memory Trials::memory() const {
  Memory memory{input_slopes_, {}};
  memory.subsystems.resize(own_.size());
  if (!engine_.executor().is_distributed()) {
    for (const auto& own : own_) memory.subsystems[own.id] = memory_of(own);
    return memory;
  }
  for_all([&](SubsystemId s) {
    const auto bytes = engine_.executor().bytes_of(s, [&] { return base::to_bytes(memory_of(own_[s])); });
    base::from_bytes(bytes, memory.subsystems[s]);
  });
  return memory;
}

Trials::OfSubsystem Trials::memory_of(const Own& own) const {
  OfSubsystem one;
  one.gap = own.gap;
  if (own.estimator) one.estimator = own.estimator->memory();
  if (own.rollback) one.past = own.rollback->past;
  if (own.stand_in) one.stand_in = own.stand_in->memory();
  one.held = own.held;
  one.raw = own.raw;
  return one;
}

void Trials::restore(const Memory& memory) {
  // Copied, because the subsystems' spans point to the storage.
  std::copy(memory.input_slopes.begin(), memory.input_slopes.end(), input_slopes_.begin());
  for_all([&](SubsystemId s) {
    Own& own = own_[s];
    const auto& one = memory.subsystems[s];
    own.gap = one.gap;
    if (own.rollback) {
      own.rollback->past = *one.past;
      own.rollback->moved = false;
      return;
    }
    at_home(
        own,
        [&] {
          own.estimator->restore(*one.estimator);
          if (own.stand_in) own.stand_in->restore(one.stand_in);
          own.held = one.held;
          own.raw = one.raw;
          pass_on(own);
        },
        std::span(own.passed_on));
  });
}

}  // namespace entrain::trials
