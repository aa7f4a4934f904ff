#include "methods/explicit/jacobi.hpp"

#include "base/bytes.hpp"
#include "coupling/bonds.hpp"
#include "coupling/engine.hpp"
#include "entrain/fact_codes.hpp"
#include "methods/linear_stages.hpp"

namespace entrain::method {

/// One macro step: the inputs of all subsystems from the same outputs, then all subsystems at once.
MacroStepReport Jacobi::advance(CoupledSystem& system) {
  if (!only_steps_) return advance_with_options(system);
  system.hold_all_inputs();
  const CommonStep& step = stepper_.window();
  system.commit_everyone(step);
  return stepper_.count_step(step.to);
}

/// The same with extrapolated inputs, steps of several sizes, events, and what the options add.
MacroStepReport Jacobi::advance_with_options(CoupledSystem& system) {
  return stepper_.advance(system, [&] {
    if (power_.any()) power_.before_step(system);
    stepper_.prepare_all(system);
    if (late_.any()) late_.before_steps(system, stepper_);
    stepper_.commit(system, everyone_);
    if (late_.any()) late_.after_steps(system);
    if (power_.any()) power_.after_step(system, stepper_.next_time());
  });
}

void Jacobi::start(CoupledSystem& system, const RunSettings& settings) {
  if (options_.by_energy()) {
    energy_control_.start(system, options_.energy_tolerances, options_.bounds(), settings);
  }
  const bool delays = options_.feedthrough == FeedthroughTreatment::Delay;
  const ResidualPowerCorrection::Options power{options_.energy_gain, options_.passivity_damping};
  stepper_.start(system, settings, options_,
                 {.control = options_.by_energy() ? &energy_control_ : nullptr,
                  .refresh = options_.feedthrough == FeedthroughTreatment::Refresh,
                  .remembers = delays || power.any()});
  late_.start(system, delays ? options_.late.outputs(system) : std::vector<OutputId>());
  power_.start(system, power, settings);
  only_steps_ = stepper_.in_lockstep() && !delays && !power.any();
  everyone_.clear();
  for (std::size_t s = 0; s < system.size(); ++s) everyone_.emplace_back(s);
}

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
  options_.bind(binder);
  binder.choice("feedthrough", options_.feedthrough,
                "outputs that follow inputs at once: hold: as a step returns them; delay: exact, but one step late; "
                "refresh: evaluated again at every communication time");
  binder.number("energy_gain", options_.energy_gain,
                "residual-power correction: the effort of every power bond is changed by -gain * residual energy * "
                "flow; in SI units of effort / (J flow), 0 = none",
                {0.0, 1e300});
  binder.number(
      "passivity_damping", options_.passivity_damping,
      "passivity controller: the largest damper at a power bond that takes back the energy which the coupling "
      "injected; in SI units of effort / flow, 0 = none",
      {0.0, 1e300});
  binder.choice("step_control", options_.step_control,
                "size of the macro steps: fixed; energy: by the residual energy of the power bonds (ECCO)");
  options_.energy_tolerances.bind(binder);
  options_.late.bind(binder);
}

Requirements Jacobi::requirements() const {
  Requirements needs = options_.requirements();
  needs.refresh_all = options_.feedthrough == FeedthroughTreatment::Refresh;
  needs.uses.linearization = options_.feedthrough == FeedthroughTreatment::Delay;  // late outputs
  needs.steps_together = needs.refresh_all || options_.energy_gain > 0.0 || options_.passivity_damping > 0.0;
  needs.free_step = needs.free_step || options_.by_energy();
  needs.fixed_step = "adaptive = false and step_control = \"fixed\"";
  if (options_.energy_gain > 0.0) needs.power_bonds = "energy_gain";
  if (options_.passivity_damping > 0.0) needs.power_bonds = "passivity_damping";
  if (options_.by_energy()) needs.power_bonds = "step_control = \"energy\"";
  return needs;
}

void Jacobi::check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const {
  options_.check(name(), options_.by_energy(), written, problems);
  if (options_.by_energy() && options_.degree > 0) {
    problems.push_back(
        problem_of(Fact{FactCode::EnergyNeedsHeldInputs}, "use degree = 0", position_of(written, "degree")));
  }
  if (options_.adaptive && (options_.by_energy() || options_.feedthrough == FeedthroughTreatment::Refresh)) {
    problems.push_back(
        problem_of(Fact{FactCode::AdaptiveConflict}, "use one of them", position_of(written, "adaptive")));
  }
  options_.late.check(graph, written, problems);
}

void Jacobi::check_times(const RunSettings& settings, const WrittenOptions& written,
                         std::vector<Problem>& problems) const {
  if (options_.by_energy()) EnergyControl::check_times(options_.bounds(), settings, written, problems);
}

std::vector<std::string> Jacobi::step_tolerances() const {
  if (options_.by_energy()) return {"energy_relative_tolerance", "energy_absolute_tolerance"};
  if (!options_.adaptive) return {};
  return traits().knobs.tolerances;
}

MethodMemory Jacobi::memory() const {
  return {stepper_.steps(), {}, base::to_bytes(stepper_, late_, power_, energy_control_)};
}

void Jacobi::restore(const MethodMemory& memory) {
  base::from_bytes(memory.bytes, stepper_, late_, power_, energy_control_);
}

std::vector<Fact> Jacobi::notes(const CoupledSystem& system) const {
  auto notes = options_.notes(system);
  if (options_.energy_gain > 0.0) {
    notes.push_back({FactCode::ResidualPowerCorrection,
                     {},
                     {{"bonds", system.engine().bonds().size()}, {"gain", options_.energy_gain}}});
  }
  if (options_.feedthrough == FeedthroughTreatment::Delay) notes.push_back(options_.late.note(system));
  return notes;
}

}  // namespace entrain::method
