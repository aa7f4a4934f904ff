#include "methods/explicit/jacobi.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/suggest.hpp"
#include "coupling/bonds.hpp"
#include "entrain/fact_codes.hpp"
#include "methods/linear_stages.hpp"

namespace entrain {
namespace {

bool depends_on_a_connected_input(const Graph& graph, OutputId output) {
  for (const InputId input : graph.inputs_of(graph.owner(output))) {
    if (graph.source(input) != nullptr && graph.feedthrough(output, input)) return true;
  }
  return false;
}

}  // namespace

const MethodTraits& Jacobi::traits() const {
  static const MethodTraits kTraits{
      .name = "jacobi",
      .summary = "parallel, explicit; inputs extrapolated from the history",
      .family = MethodFamily::Explicit,
      .learnable = true,
      .knobs = {.degree = "degree",
                .max_degree = kMaxInputDegree,
                .tolerances = {"relative_tolerance", "absolute_tolerance"}},
      .linear_step = {.stages = [](const MethodConfig& config, const LinearNetwork& network,
                                   std::span<const std::size_t>, Duration step) {
        return parallel_choice(network.subsystems.size(), config.degree.value_or(0), step);
      }}};
  return kTraits;
}

void Jacobi::bind(OptionBinder& binder) {
  ExplicitMethod::bind(binder);
  binder.choice("feedthrough", feedthrough_,
                "outputs that follow inputs at once: hold: as a step returns them; delay: exact, but one step late; "
                "refresh: evaluated again at every communication time");
  binder.number("energy_gain", energy_gain_,
                "residual-power correction: the effort of every power bond is changed by -gain * residual energy * "
                "flow; in SI units of effort / (J flow), 0 = none",
                {0.0, 1e300});
  binder.choice("step_control", step_control_,
                "size of the macro steps: fixed; energy: by the residual energy of the power bonds (ECCO)");
  energy_tolerances_.bind(binder);
  binder.names("delayed", delayed_, "\"subsystem.output\" to pass on late; empty = all with feedthrough");
}

Requirements Jacobi::requirements() const {
  Requirements needs = ExplicitMethod::requirements();
  needs.refresh_all = feedthrough_ == FeedthroughTreatment::Refresh;
  needs.steps_together = needs.refresh_all || energy_gain_ > 0.0;
  needs.free_step = needs.free_step || step_control_ == MacroStepControl::Energy;
  needs.fixed_step = "adaptive = false and step_control = \"fixed\"";
  if (energy_gain_ > 0.0) needs.power_bonds = "energy_gain";
  if (step_control_ == MacroStepControl::Energy) needs.power_bonds = "step_control = \"energy\"";
  return needs;
}

void Jacobi::check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const {
  ExplicitMethod::check(graph, written, problems);
  if (step_control_ == MacroStepControl::Energy && input_degree() > 0) {
    problems.push_back(
        problem_of(Fact{FactCode::EnergyNeedsHeldInputs}, "use degree = 0", position_of(written, "degree")));
  }
  if (adaptive() && (step_control_ == MacroStepControl::Energy || feedthrough_ == FeedthroughTreatment::Refresh)) {
    problems.push_back(
        problem_of(Fact{FactCode::AdaptiveConflict}, "use one of them", position_of(written, "adaptive")));
  }
  std::vector<std::string> known;
  for (std::size_t y = 0; y < graph.outputs(); ++y) known.push_back(graph.name(OutputId{y}));
  for (const auto& name : delayed_) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    problems.push_back(
        problem_of(Fact{FactCode::DelayedUnknown, {name}}, suggestion(name, known), position_of(written, "delayed")));
  }
}

std::vector<std::string> Jacobi::step_tolerances() const {
  if (step_control_ == MacroStepControl::Energy) return {"energy_relative_tolerance", "energy_absolute_tolerance"};
  return ExplicitMethod::step_tolerances();
}

void Jacobi::check_times(const RunSettings& settings, const WrittenOptions& written,
                         std::vector<Problem>& problems) const {
  ExplicitMethod::check_times(settings, written, problems);
  if (step_control_ == MacroStepControl::Energy) energy_control().check_times(settings, written, problems);
}

EnergyControlOptions Jacobi::energy_control() const {
  return {energy_tolerances_, min_step(), max_step()};
}

/// A subsystem that can neither be evaluated nor linearized keeps its outputs as its steps return them.
std::vector<OutputId> Jacobi::late_outputs(const CoupledSystem& system) const {
  std::vector<OutputId> late;
  if (feedthrough_ != FeedthroughTreatment::Delay) return late;
  const Graph& graph = system.graph();
  for (std::size_t y = 0; y < graph.outputs(); ++y) {
    const OutputId output{y};
    const auto& can = system.capabilities(graph.owner(output));
    const bool wanted = delayed_.empty()
                            ? depends_on_a_connected_input(graph, output)
                            : std::find(delayed_.begin(), delayed_.end(), graph.name(output)) != delayed_.end();
    if (wanted && (can.output_refresh || can.linearization)) late.push_back(output);
  }
  return late;
}

void Jacobi::start(CoupledSystem& system, const RunSettings& settings) {
  ExplicitMethod::start(system, settings);
  everyone_.clear();
  for (std::size_t s = 0; s < system.size(); ++s) everyone_.emplace_back(s);
  late_.start(system, late_outputs(system));
  energy_.start(system, energy_gain_, settings.start);
  refresh_ = feedthrough_ == FeedthroughTreatment::Refresh;
  adapts_ = step_control_ == MacroStepControl::Energy;
  if (adapts_) control_.start(system, energy_control(), settings);
  first_values_.assign(system.inputs().begin(), system.inputs().end());
  starts_.assign(system.size(), 1);
  ends_.assign(system.size(), 1);
}

void Jacobi::note_start_of_steps(CoupledSystem& system) {
  for (const SubsystemId s : everyone_) {
    starts_[s] = starts_step(s) ? 1 : 0;
    ends_[s] = ends_step(s) ? 1 : 0;
    if (starts_[s] == 0) continue;
    const auto values = system.coefficients(s, degree_in_force(s), 0);
    const std::size_t first = system.graph().inputs_of(s).first;
    std::copy(values.begin(), values.end(), first_values_.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

void Jacobi::step_everyone(CoupledSystem& system) {
  prepare_all(system);
  if (!late_.any()) return commit(system, everyone_);
  note_start_of_steps(system);
  late_.before_steps(system, first_values_, starts_);
  commit(system, everyone_);
  late_.after_steps(system, ends_);
}

void Jacobi::advance_subsystems(CoupledSystem& system) {
  if (adapts_) choose_step(control_.now(), control_.step());
  if (energy_.any()) energy_.before_step(system);
  step_everyone(system);
  if (energy_.any()) energy_.after_step(system, next_time());
  if (adapts_) control_.take(system, next_time());
  if (refresh_) system.refresh_signals(next_time());
}

std::vector<Fact> Jacobi::notes(const CoupledSystem& system) const {
  auto notes = ExplicitMethod::notes(system);
  if (energy_gain_ > 0.0) {
    notes.push_back(
        {FactCode::ResidualPowerCorrection, {}, {{"bonds", system.bonds().size()}, {"gain", energy_gain_}}});
  }
  if (feedthrough_ != FeedthroughTreatment::Delay) return notes;
  std::vector<std::string> names;
  for (const OutputId output : late_outputs(system)) names.push_back(system.graph().name(output));
  notes.push_back({names.empty() ? FactCode::NothingDelayed : FactCode::OutputsDelayed, names});
  return notes;
}

}  // namespace entrain
