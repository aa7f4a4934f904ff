#include "methods/explicit/residual_power.hpp"

#include "coupling/bonds.hpp"
#include "coupling/engine.hpp"

namespace entrain::method {

void ResidualPowerCorrection::start(const CoupledSystem& system, double gain, Time now) {
  gain_ = gain;
  memory_.now = now;
  memory_.energies.assign(system.engine().bonds().size(), 0.0);
  corrections_.assign(system.graph().inputs(), 0.0);
}

void ResidualPowerCorrection::before_step(CoupledSystem& system) {
  for (std::size_t b = 0; b < memory_.energies.size(); ++b) {
    const coupling::PowerBond& bond = system.engine().bonds()[b];
    const double flow = bond.flow_to_si * system.outputs()[bond.flow.output];
    corrections_[bond.effort.input] = -gain_ * memory_.energies[b] * flow / bond.effort_to_si;
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

}  // namespace entrain::method
