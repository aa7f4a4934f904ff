#include "methods/explicit/residual_power.hpp"

#include <algorithm>

#include "coupling/bonds.hpp"
#include "coupling/engine.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::method {

void ResidualPowerCorrection::start(const CoupledSystem& system, const Options& options, const RunSettings& settings) {
  options_ = options;
  step_ = settings.step;
  memory_.now = settings.start;
  memory_.energies.assign(system.engine().bonds().size(), 0.0);
  memory_.taken.assign(memory_.energies.size(), 0.0);
  memory_.actions.assign(memory_.energies.size(), 0);
  corrections_.assign(system.graph().inputs(), 0.0);
}

double ResidualPowerCorrection::damper(std::size_t bond, double flow) const {
  if (options_.most_damping <= 0.0) return options_.gain * memory_.energies[bond];
  if (memory_.energies[bond] <= 0.0 || flow == 0.0) return 0.0;
  return std::min(memory_.energies[bond] / (step_ * flow * flow), options_.most_damping);
}

void ResidualPowerCorrection::before_step(CoupledSystem& system) {
  for (std::size_t b = 0; b < memory_.energies.size(); ++b) {
    const coupling::PowerBond& bond = system.engine().bonds()[b];
    const double flow = bond.flow_to_si * system.outputs()[bond.flow.output];
    const double damping = damper(b, flow);
    corrections_[bond.effort.input] = -damping * flow / bond.effort_to_si;
    if (options_.most_damping <= 0.0 || damping == 0.0) continue;
    memory_.taken[b] += step_ * damping * flow * flow;
    ++memory_.actions[b];
  }
  system.set_corrections(corrections_);
}

void ResidualPowerCorrection::after_step(const CoupledSystem& system, Time now) {
  for (std::size_t b = 0; b < memory_.energies.size(); ++b) {
    const coupling::PowerBond& bond = system.engine().bonds()[b];
    const double wrong_effort = system.inputs()[bond.effort.input] - bond.sent_effort(system.outputs());
    memory_.energies[b] += (now - memory_.now) * bond.power(wrong_effort, system.outputs()[bond.flow.output]);
  }
  memory_.now = now;
}

std::vector<Fact> ResidualPowerCorrection::notes(const CoupledSystem& system) const {
  std::vector<Fact> notes;
  for (std::size_t b = 0; b < memory_.actions.size(); ++b) {
    if (memory_.actions[b] == 0) continue;
    notes.push_back({FactCode::EnergyTakenBack,
                     {system.engine().bonds()[b].name},
                     {{"steps", memory_.actions[b]}, {"energy", memory_.taken[b], "J"}}});
  }
  return notes;
}

}  // namespace entrain::method
