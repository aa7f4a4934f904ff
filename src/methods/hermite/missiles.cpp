#include "methods/hermite/missiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "entrain/fact_codes.hpp"

namespace entrain {
namespace {

constexpr int kDefectOrder = 4;
constexpr double kErrorSafety = 0.8;
constexpr double kErrorGrowth = 1.5;     // at most, from one step to the next
constexpr double kErrorShrinkage = 0.2;  // at most
constexpr double kWorthIt = 1.1;         // a step that could grow by less stays: gains and factors can be kept
// Of the largest magnitude so far, or of the terms that the signal is the difference of (those come from signals with
// tolerances of their own): what the tolerance is relative to where a signal is small. A tenth, because an error
// made while all is quiet is a relative one when the signal has grown; less would chase signals that pass through zero.
constexpr double kLeastSize = 0.1;
// Of the tolerance: an old linearization must not be what makes the steps small. A hundredth, because
// linearization_tolerance is relative to the range of a signal, the tolerance to as little as kLeastSize of it.
constexpr double kLinearizationShare = 0.01;

/// The step that brings an error of this order from `error` down to 1, as a factor.
double step_factor(double error, int order) {
  return error > 0.0 ? kErrorSafety * std::pow(error, -1.0 / order) : kErrorGrowth;
}

}  // namespace

/// The past makes good what an older linearization misses, so that few are needed (docs/theory/missiles.md).
Missiles::Missiles() {
  common_.estimator.reconstruction = 2;
  common_.estimator.linearize = LinearizationRenewal::WhenNeeded;
  common_.start = FirstStep::Short;
}

const MethodTraits& Missiles::traits() const {
  static const MethodTraits kTraits{
      .name = "missiles",
      .summary = "the coupling as one linear system of estimates; implicit, one step each",
      .family = MethodFamily::Implicit,
      .order = 4,
      .calls_per_step = 1.5,
      .patent_declared = true,
      .knobs = {.tolerances = {"relative_tolerance"}},
      .linear_step = {.hermite = StepEnd::Estimate}};
  return kTraits;
}

void Missiles::bind(OptionBinder& binder) {
  common_.bind(binder, "the macro step follows the estimated error");
  binder.number("relative_tolerance", relative_tolerance_,
                "adaptive: error of a coupling signal per step, relative to its size there, at least a tenth of its "
                "largest so far",
                {1e-14, 1.0});
}

std::vector<AdaptiveOption> Missiles::adaptive_options() const {
  auto options = HermiteMethod::adaptive_options();
  options.push_back({"min_step", common_.min_step, 0.0});
  options.push_back({"relative_tolerance", relative_tolerance_, kRelativeTolerance});
  return options;
}

std::vector<std::string> Missiles::step_tolerances() const {
  if (!common_.adaptive) return {};
  return traits().knobs.tolerances;
}

EstimatorOptions Missiles::estimator_options() const {
  EstimatorOptions options = common_.estimator;
  if (common_.adaptive)
    options.linearization_tolerance =
        std::min(options.linearization_tolerance, kLinearizationShare * relative_tolerance_);
  return options;
}

void Missiles::start_solving(CoupledSystem& system) {
  coupling_.emplace(system, *trials_, unknowns_);
  middle_ = trials_->make_block();
  terms_.assign(system.graph().outputs(), 0.0);
  steps_missed_ = 0;
  gap_.assign(system.graph().connections().size(), 0.0);
}

void Missiles::find_right_end(CoupledSystem& system, Window& window, MacroStepReport& report) {
  if (!common_.adaptive) {
    solve(system, window);
    return;
  }
  was_cut_ = false;
  const Graph& graph = system.graph();
  for (const OutputId y : unknowns_) {
    const SubsystemId s = graph.owner(y);
    terms_[y] = std::max(terms_[y], trials_->estimator(s)->size_of_terms(y - graph.outputs_of(s).first));
  }
  defect_ = tried_defect(system, window);
  while (defect_ > 1.0) {
    const double factor = std::clamp(step_factor(defect_, kDefectOrder), kErrorShrinkage, kErrorSafety);
    if (!shorten(window, factor * window.size)) break;
    was_cut_ = true;
    ++report.rejected;
    defect_ = tried_defect(system, window);
  }
}

/// The defect of the solution over this step; infinite if there is none while the step can still be cut: estimates of
/// fast motion grow beyond all bounds over steps that are far too long.
double Missiles::tried_defect(CoupledSystem& system, const Window& window) {
  try {
    solve(system, window);
  } catch (const Error& error) {
    Window shorter = window;
    if (error.code() != ErrorCode::SolverFailed || !shorten(shorter, kErrorSafety * window.size)) throw;
    return std::numeric_limits<double>::infinity();
  }
  const double defect = midpoint_defect(system, window);
  return std::isnan(defect) ? std::numeric_limits<double>::infinity() : defect;
}

/// How far the inputs are from the estimated outputs in the middle of the step, beyond what both differ at its start
/// (restart = "c1"): the Hermite polynomials miss the outputs by order h^4 there. Known before anyone really steps, so
/// that the step can be cut without rollback. In units of the tolerance.
double Missiles::midpoint_defect(CoupledSystem& system, const Window& window) {
  const Duration h = window.size;
  set_tasks({memory_.now + 0.5 * h, 0.5 * h});
  trials_->run(tasks_, middle_);
  set_tasks(window);
  const std::span<const double> start =
      common_.restart == HermiteRestart::Real ? std::span<const double>(memory_.left.values) : system.outputs();
  const auto start_slopes = real_slopes();
  double largest = 0.0;
  for (const OutputId y : unknowns_) {
    const double left = memory_.left.values[y];
    const double right = right_.values[y];
    double defect = 0.0;
    if (memory_.slopes_known) {
      defect = 0.5 * (left + right) + h * (memory_.left.slopes[y] - right_.slopes[y]) / 8.0 - middle_.signals[y];
      defect -= 0.5 * (left - start[y]) + h * (memory_.left.slopes[y] - start_slopes[y]) / 8.0;
    } else {
      defect = left + 0.75 * (right - left) - 0.25 * h * right_.slopes[y] - middle_.signals[y];
    }
    const double relative = std::abs(defect) / (relative_tolerance_ * size_of(y));
    if (!(relative <= largest)) largest = relative;  // NaN stays
    if (std::isnan(largest)) break;
  }
  return largest;
}

void Missiles::solve(CoupledSystem& system, const Window& window) {
  solve_estimated(system, window, *coupling_);
  write_inputs(system, window);
}

/// Of a signal over the step under way.
double Missiles::size_of(OutputId y) const {
  return std::max(
      {std::abs(memory_.left.values[y]), std::abs(right_.values[y]), kLeastSize * std::max(magnitude(y), terms_[y])});
}

double Missiles::largest_gap() const {
  double largest = 0.0;
  for (const OutputId y : unknowns_) {
    const double gap = std::abs(block_.signals[y] - right_.values[y]);
    largest = std::max(largest, gap / (relative_tolerance_ * size_of(y)));
  }
  return largest;
}

void Missiles::adapt(const Window& window) {
  const double gap = largest_gap();
  const bool could_not_be_cut = defect_ > 1.0;
  if (could_not_be_cut || (gap > 1.0 && window.size <= least_step())) ++steps_missed_;
  double factor =
      std::min(step_factor(defect_, kDefectOrder), step_factor(gap, common_.estimator.reconstruction == 2 ? 4 : 3));
  factor = std::clamp(factor, kErrorShrinkage, was_cut_ ? 1.0 : kErrorGrowth);
  if (!was_cut_ && factor >= 1.0 && (factor < kWorthIt || was_shortened(window))) return;
  set_next_step(factor * window.size);
}

void Missiles::look_back(const CoupledSystem& system, const Window& window) {
  if (common_.adaptive) adapt(window);
  const auto& connections = system.graph().connections();
  for (std::size_t c = 0; c < connections.size(); ++c) {
    const OutputId y = connections[c].output;
    gap_[c] = connections[c].factor * (block_.signals[y] - right_.values[y]);
  }
  for (const OutputId y : unknowns_) block_.slopes[y] = right_.slopes[y];
}

std::vector<Signal> Missiles::own_signals(const Graph& graph) const {
  std::vector<Signal> signals;
  for (const auto& connection : graph.connections()) {
    signals.push_back({graph.name(connection.input) + ":gap", "",
                       "what the output turned out to be - what the step was made with", Causality::Method,
                       graph.owner(connection.input)});
  }
  return signals;
}

void Missiles::own_values(std::span<double> values) const {
  std::copy(gap_.begin(), gap_.end(), values.begin());
}

std::vector<Fact> Missiles::notes(const CoupledSystem&) const {
  return trials_->losses();
}

std::vector<Fact> Missiles::closing_notes(const CoupledSystem&) const {
  return {{FactCode::CouplingEquations,
           {},
           {{"unknowns", 2 * unknowns_.size()}, {"factorizations", coupling_->equations.factorizations()}}}};
}

std::vector<Fact> Missiles::warnings(const CoupledSystem& system) const {
  auto warnings = HermiteMethod::warnings(system);
  if (steps_missed_ > 0) {
    warnings.push_back({FactCode::ToleranceMissed, {}, {{"count", steps_missed_}}});
  }
  return warnings;
}

}  // namespace entrain
