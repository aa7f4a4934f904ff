#include "methods/hermite/missiles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/bytes.hpp"
#include "coupling/engine.hpp"
#include "entrain/fact_codes.hpp"
#include "numerics/cubic_hermite.hpp"

namespace entrain::method {
namespace {

// Of the tolerance: an old linearization must not be what makes the steps small. A hundredth, because
// linearization_tolerance is relative to the range of a signal, the tolerance to as little as size_floor::kQuiet of it.
constexpr double kLinearizationShare = 0.01;

}  // namespace

void MissilesStrategy::start(CoupledSystem& system, HermiteStep& step, bool adaptive, const StepSettings& settings,
                             int gap_order) {
  coupling_.emplace(system, step.trials(), step.unknowns());
  controller_ = {settings, {}};
  adaptive_ = adaptive;
  gap_order_ = gap_order;
  middle_ = step.trials().make_block();
  terms_.assign(system.graph().outputs(), 0.0);
  steps_missed_ = 0;
  gap_.assign(system.graph().connections().size(), 0.0);
}

/// An output that is the difference of large terms cannot be better than they are.
void MissilesStrategy::propose(CoupledSystem&, HermiteStep& step) {
  if (!adaptive_) return;
  for (const OutputId y : step.unknowns()) {
    terms_[y] = std::max(terms_[y], step.trials().size_of_terms(y));
  }
}

/// (I - J) (z - z0) = g(z0) - z0 for values and slopes z at the end of the step; adaptive: judged by the defect in its
/// middle, before any subsystem has made the step. Where there is no solution, or none in numbers, the defect is
/// infinite: estimates of fast motion overflow over steps that are far too long.
CouplingStrategy::Attempt MissilesStrategy::solve(CoupledSystem& system, HermiteStep& step) {
  if (!adaptive_) {
    coupling_->solve(system, step);
    step.write_inputs(system);
    return {};
  }
  failure_ = nullptr;
  try {
    coupling_->solve(system, step);
    step.write_inputs(system);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::SolverFailed) throw;
    failure_ = std::current_exception();
  }
  defect_ = failure_ ? std::numeric_limits<double>::infinity() : midpoint_defect(system, step);
  if (std::isnan(defect_)) defect_ = std::numeric_limits<double>::infinity();
  if (!(defect_ > 1.0)) return {};
  return {false, shrinkage(safe_growth(defect_, controller_.settings().order, controller_.settings()))};
}

void MissilesStrategy::cannot_shorten(const CoupledSystem&, const HermiteStep&) {
  if (failure_) std::rethrow_exception(failure_);
}

/// Of the inputs, in the middle of the step, in units of the tolerance.
double MissilesStrategy::midpoint_defect(CoupledSystem& system, HermiteStep& step) {
  step.run_half(middle_);
  double largest = 0.0;
  for (const OutputId y : step.unknowns()) {
    const double relative = step.middle_defect(system, middle_, y) / controller_.allowed(step.size(y, terms_[y]));
    if (!(relative <= largest)) largest = relative;  // NaN stays
    if (std::isnan(largest)) break;
  }
  return largest;
}

double MissilesStrategy::largest_gap(const HermiteStep& step) const {
  double largest = 0.0;
  for (const OutputId y : step.unknowns()) {
    const double gap = std::abs(step.block().signals[y] - step.right().values[y]);
    largest = std::max(largest, gap / controller_.allowed(step.size(y, terms_[y])));
  }
  return largest;
}

std::optional<Duration> MissilesStrategy::next_size(const HermiteStep& step, const Taken& taken) {
  const double gap = largest_gap(step);
  const bool could_not_be_cut = defect_ > 1.0;
  if (could_not_be_cut || (gap > 1.0 && taken.at_min_step)) ++steps_missed_;
  const auto& settings = controller_.settings();
  const double growth =
      std::min(safe_growth(defect_, settings.order, settings), safe_growth(gap, gap_order_, settings));
  return next_by_error(controller_, growth, step, taken);
}

/// Estimates that did not predict what came.
std::optional<double> MissilesStrategy::judge(const HermiteStep& step) {
  if (!adaptive_) return std::nullopt;
  const double gap = largest_gap(step);
  if (gap <= kWorthRepeating) return std::nullopt;
  return shrinkage(safe_growth(gap, gap_order_, controller_.settings()));
}

std::optional<Duration> MissilesStrategy::accepted(const CoupledSystem& system, HermiteStep& step, const Taken& taken) {
  const auto next = adaptive_ ? next_size(step, taken) : std::nullopt;
  const auto& connections = system.graph().connections();
  for (std::size_t c = 0; c < connections.size(); ++c) {
    const OutputId y = connections[c].output;
    gap_[c] =
        system.engine().transfer().factor(connections[c].input) * (step.block().signals[y] - step.right().values[y]);
  }
  for (const OutputId y : step.unknowns()) step.block().slopes[y] = step.right().slopes[y];
  return next;
}

/// The past makes up for what an older linearization misses, so that few are needed (docs/theory/missiles.md).
Missiles::Missiles() {
  options_.estimator.reconstruction = 2;
  options_.estimator.linearize = trials::LinearizationRenewal::WhenNeeded;
  options_.start = FirstStep::Short;
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
  options_.bind(binder, "the macro step follows the estimated error");
}

void Missiles::check(const Graph&, const WrittenOptions& written, std::vector<Problem>& problems) const {
  options_.check(name(), {{"min_step", options_.min_step, 0.0}}, written, problems);
}

std::vector<std::string> Missiles::step_tolerances() const {
  if (!options_.adaptive) return {};
  return traits().knobs.tolerances;
}

void Missiles::start(CoupledSystem& system, const RunSettings& settings) {
  trials::EstimatorOptions estimator = options_.estimator;
  if (options_.adaptive) {
    estimator.linearization_tolerance =
        std::min(estimator.linearization_tolerance, kLinearizationShare * options_.relative_tolerance);
  }
  marcher_.start(system, settings, options_, estimated_kinds(system), estimator);
  const int gap_order = options_.estimator.reconstruction == 2 ? 4 : 3;
  strategy_.start(system, marcher_.step(), marcher_.adapts(), options_.step_settings(), gap_order);
}

MethodMemory Missiles::memory() const {
  return {marcher_.steps(), {}, base::to_bytes(marcher_, strategy_)};
}

void Missiles::restore(const MethodMemory& memory) {
  base::from_bytes(memory.bytes, marcher_, strategy_);
  marcher_.restored();
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
  std::copy(strategy_.gaps().begin(), strategy_.gaps().end(), values.begin());
}

std::vector<Fact> Missiles::notes(const CoupledSystem&) const {
  return marcher_.step().trials().losses();
}

std::vector<Fact> Missiles::closing_notes(const CoupledSystem&) const {
  auto notes = marcher_.step().closing_notes();
  notes.push_back(
      {FactCode::CouplingEquations,
       {},
       {{"unknowns", 2 * marcher_.step().unknowns().size()}, {"factorizations", strategy_.factorizations()}}});
  return notes;
}

std::vector<Fact> Missiles::warnings(const CoupledSystem&) const {
  auto warnings = marcher_.warnings();
  if (strategy_.steps_missed() > 0) {
    warnings.push_back({FactCode::ToleranceMissed, {}, {{"count", strategy_.steps_missed()}}});
  }
  return warnings;
}

}  // namespace entrain::method
