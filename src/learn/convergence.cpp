#include "learn/convergence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/signal_range.hpp"
#include "entrain/fact_codes.hpp"
#include "learn/learning_loop.hpp"
#include "learn/waveform_loop.hpp"
#include "numerics/exponential.hpp"
#include "numerics/learning_gain.hpp"
#include "numerics/linear_fit.hpp"
#include "session/learned.hpp"

namespace entrain::learning {
namespace {

constexpr std::size_t kMostKnown = 120;  // states and outputs; beyond, the estimate takes longer than some seconds
constexpr std::size_t kMostCorrections = 40;
constexpr std::size_t kPilotSteps = 400;  // enough for a few periods of what the step resolves
constexpr double kFitTolerance = 1e-9;    // of a step that is called linear

/// The states and inputs of all subsystems in the first steps.
class FirstSteps : public Observer {
 public:
  /// The system is asked anew each time: a run may make it anew.
  explicit FirstSteps(RepeatedRun& run) : run_(run), now_(run.system().states()) {}
  void communicated(const Sample&, const RunSummary& summary) override {
    run_.system().read_states(now_);
    states_.insert(states_.end(), now_.begin(), now_.end());
    if (summary.macro_steps == 0) return;
    const auto inputs = run_.system().inputs();
    inputs_.insert(inputs_.end(), inputs.begin(), inputs.end());
    ++steps_;
  }

  /// x(k+1) = [A B rest] (x(k), u(k), 1) over steps of `span` macro steps of one subsystem, as one matrix with a column
  /// per state; nullopt when its steps are not so.
  std::optional<Matrix> fitted_step(SubsystemId s, std::size_t span) const {
    const Graph& graph = run_.system().graph();
    const auto states = run_.system().states_of(s);
    const auto inputs = graph.inputs_of(s);
    Matrix samples(steps_ / span, states.count + inputs.count + 1);
    Matrix targets(steps_ / span, states.count);
    for (std::size_t k = 0; k < steps_ / span; ++k) {
      const double* x = states_.data() + k * span * now_.size() + states.first;
      const double* u = inputs_.data() + k * span * graph.inputs() + inputs.first;
      for (std::size_t i = 0; i < states.count; ++i) {
        samples(k, i) = x[i];
        targets(k, i) = x[span * now_.size() + i];
      }
      for (std::size_t i = 0; i < inputs.count; ++i) samples(k, states.count + i) = u[i];
      samples(k, states.count + inputs.count) = 1.0;
    }
    return numerics::linear_fit(samples, targets, kFitTolerance);
  }

  /// Of an input in the first steps: connections of several units are compared by it. 1 for one that does not move.
  double range(InputId input) const {
    const std::size_t inputs = run_.system().graph().inputs();
    base::SignalRange values = base::SignalRange::nothing();
    for (std::size_t k = 0; k < steps_; ++k) values.take(inputs_[k * inputs + input]);
    return values.span() > 0.0 && std::isfinite(values.span()) ? values.span() : 1.0;
  }

 private:
  RepeatedRun& run_;
  std::vector<double> now_, states_, inputs_;
  std::size_t steps_ = 0;
};

/// Columns `first` .. of the rows of `fit`, transposed: how the states follow what these rows belong to.
Matrix part_of_fit(const Matrix& fit, std::size_t first, std::size_t count) {
  Matrix result(fit.cols, count);
  for (std::size_t i = 0; i < fit.cols; ++i) {
    for (std::size_t j = 0; j < count; ++j) result(i, j) = fit(first + j, i);
  }
  return result;
}

/// The steps of all subsystems, and how many of them were fitted.
struct Steps {
  std::vector<StepMatrices> all;
  std::size_t fitted = 0;
};

Steps linear_steps(CoupledSystem& system, const FirstSteps& first_steps, std::span<const LearnedWire> wires,
                   Duration step) {
  const Graph& graph = system.graph();
  Steps steps;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const SubsystemId id{s};
    Linearization here;
    system.linearize_all(std::span(&id, 1), std::span(&here, 1));
    StepMatrices own;
    own.span = span_of(system, id, step);
    if (const auto fit = first_steps.fitted_step(id, own.span)) {
      const std::size_t states = system.states_of(id).count;
      own.A = part_of_fit(*fit, 0, states);
      own.B = part_of_fit(*fit, states, graph.inputs_of(id).count);
      ++steps.fitted;
    } else {
      numerics::PhiBlocks exact =
          numerics::exact_step_matrices(here.A, here.B, step * static_cast<double>(own.span), 0);
      own.A = std::move(exact.exponential);
      own.B = std::move(exact.gamma[0]);
    }
    own.C = std::move(here.C);
    own.D = std::move(here.D);
    const auto outputs = graph.outputs_of(id);
    own.late.assign(outputs.count, false);
    for (const auto& wire : wires) {
      const std::size_t output = wire.connection.output;
      if (wire.late && output >= outputs.first && output < outputs.first + outputs.count) {
        own.late[output - outputs.first] = true;
      }
    }
    steps.all.push_back(std::move(own));
  }
  return steps;
}

/// Why there can be no estimate; nullopt = there can.
std::optional<Fact> obstacle(const CoupledSystem& system, std::span<const LearnedWire> wires,
                             const LearnOptions& options, Duration step) {
  std::vector<StepMatrices> spans(system.size());
  for (std::size_t s = 0; s < system.size(); ++s) {
    const auto& can = system.capabilities(SubsystemId{s});
    if (!can.states || !can.linearization) {
      const auto& name = system.graph().name(SubsystemId{s});
      return Fact{FactCode::ConvergenceNotEstimated, {name}, {{"why", render({FactCode::NoLinearization, {name}})}}};
    }
    spans[s].span = span_of(system, SubsystemId{s}, step);
  }
  const std::size_t cycle = cycle_of(spans);
  if (cycle > 1 && options.cutoff > 0.0) {
    return Fact{
        FactCode::ConvergenceNotEstimated, {}, {{"why", "the filter is not estimated with steps of several sizes"}}};
  }
  const std::size_t known = system.states() + system.graph().outputs();
  const std::size_t corrections = corrections_in_cycle(wires, cycle);
  if (known <= kMostKnown && corrections <= kMostCorrections) return std::nullopt;
  return Fact{FactCode::TooLargeToEstimate,
              {},
              {{"known", known},
               {"corrections", corrections},
               {"cycle", cycle},
               {"most_known", kMostKnown},
               {"most_corrections", kMostCorrections}}};
}

}  // namespace

ConvergenceEstimate estimate_convergence(RepeatedRun& run, std::span<const LearnedWire> wires,
                                         const LearnOptions& options) {
  ConvergenceEstimate result;
  const auto& settings = run.settings();
  if (auto why = obstacle(run.system(), wires, options, settings.step)) {
    result.notes.push_back(*std::move(why));
    return result;
  }
  FirstSteps first_steps(run);
  run.run(settings.start + static_cast<double>(kPilotSteps) * settings.step, nullptr, first_steps);
  run.initialize();
  const Steps steps = linear_steps(run.system(), first_steps, wires, settings.step);
  std::vector<double> scales;
  for (const auto& wire : wires) scales.push_back(first_steps.range(wire.connection.input));
  const auto cycle = static_cast<double>(cycle_of(steps.all));
  const auto gain = numerics::learning_gain(
      learning_loop(run.system().graph(), steps.all, wires, scales),
      {options.gain, options.cutoff.value_or(0.0) * settings.step, options.forgetting.value_or(0.0)});
  result.gamma = gain.largest;
  result.radius = std::pow(gain.radius, 1.0 / cycle);
  Fact& estimated = result.notes.emplace_back(
      Fact{FactCode::ConvergenceEstimated,
           {},
           {{"gamma", gain.largest}, {"frequency", gain.angle / (cycle * settings.step), "rad/s"}}});
  if (steps.fitted == run.system().size()) estimated.values.emplace_back("own_steps", 1);
  if (gain.largest < 1.0 && gain.radius < 1.0) estimated.values.emplace_back("falls", 1);
  result.notes.push_back({FactCode::DelayedLoopRadius, {}, {{"radius", *result.radius}}});
  return result;
}

ConvergenceEstimate estimate_waveform_convergence(RepeatedRun& run, const WaveformLaw& law, LearnInputs kind,
                                                  const LearnOptions& options) {
  ConvergenceEstimate result;
  const auto& settings = run.settings();
  const auto& wires = law.wires();
  CoupledSystem& system = run.system();
  for (const auto& wire : wires) {
    if (wire.source_span == 1 && wire.consumer_span == 1) continue;
    result.notes.push_back(
        {FactCode::ConvergenceNotEstimated, {}, {{"why", "waveforms are not estimated with steps of several sizes"}}});
    return result;
  }
  if (auto why = obstacle(system, wires, options, settings.step)) {
    result.notes.push_back(*std::move(why));
    return result;
  }
  FirstSteps first_steps(run);
  run.run(settings.start + static_cast<double>(kPilotSteps) * settings.step, nullptr, first_steps);
  run.initialize();
  std::vector<Linearization> subsystems(run.system().size());
  for (std::size_t s = 0; s < subsystems.size(); ++s) {
    const SubsystemId id{s};
    run.system().linearize_all(std::span(&id, 1), std::span(&subsystems[s], 1));
  }
  const auto taken = session::waveforms_of(run.system(), settings.step, WaveformLaw::orders_of(kind));
  std::vector<int> degrees;
  std::vector<double> scales;
  for (const auto& wire : wires) {
    const int degree = taken.input_degree[run.system().graph().owner(wire.connection.input)];
    degrees.push_back(std::min(degree == 2 ? 1 : degree, static_cast<int>(WaveformLaw::orders_of(kind)) - 1));
    scales.push_back(first_steps.range(wire.connection.input));
  }
  const auto gain = numerics::learning_gain(
      waveform_loop(run.system().graph(), subsystems, settings.step, wires, degrees, scales),
      {options.gain, options.cutoff.value_or(0.0) * settings.step, options.forgetting.value_or(0.0)});
  result.gamma = gain.largest;
  result.radius = gain.radius;
  Fact& estimated =
      result.notes.emplace_back(Fact{FactCode::ConvergenceEstimated,
                                     {},
                                     {{"gamma", gain.largest}, {"frequency", gain.angle / settings.step, "rad/s"}}});
  if (gain.largest < 1.0 && gain.radius < 1.0) estimated.values.emplace_back("falls", 1);
  result.notes.push_back({FactCode::DelayedLoopRadius, {}, {{"radius", gain.radius}}});
  return result;
}

}  // namespace entrain::learning
