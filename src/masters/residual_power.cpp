#include "masters/residual_power.hpp"

#include "coupling/bonds.hpp"

namespace entrain {

void ResidualPowerCorrection::start(const CoupledSystem& system, double gain, Time now) {
  gain_ = gain;
  now_ = now;
  energies_.assign(system.bonds().size(), 0.0);
  corrections_.assign(system.graph().inputs(), 0.0);
}

void ResidualPowerCorrection::before_step(CoupledSystem& system) {
  for (std::size_t b = 0; b < energies_.size(); ++b) {
    const PowerBond& bond = system.bonds()[b];
    const double flow = bond.flow_to_si * system.outputs()[bond.flow.output];
    corrections_[bond.effort.input] = -gain_ * energies_[b] * flow / bond.effort_to_si;
  }
  system.set_corrections(corrections_);
}

void ResidualPowerCorrection::after_step(const CoupledSystem& system, Time now) {
  for (std::size_t b = 0; b < energies_.size(); ++b) {
    const PowerBond& bond = system.bonds()[b];
    const double wrong_effort = system.inputs()[bond.effort.input] - bond.told_effort(system.outputs());
    energies_[b] += (now - now_) * bond.power(wrong_effort, system.outputs()[bond.flow.output]);
  }
  now_ = now;
}

std::vector<double> ResidualPowerCorrection::memory() const {
  std::vector<double> numbers = energies_;
  numbers.push_back(now_);
  return numbers;
}

void ResidualPowerCorrection::restore(std::span<const double> numbers) {
  energies_.assign(numbers.begin(), numbers.end() - 1);
  now_ = numbers.back();
}

}  // namespace entrain
