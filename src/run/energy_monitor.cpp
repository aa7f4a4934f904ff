#include "run/energy_monitor.hpp"

#include <algorithm>
#include <cmath>

namespace entrain {

EnergyMonitor::EnergyMonitor(const CoupledSystem& system) : system_(&system) {
  const Graph& graph = system.graph();
  for (const auto& bond : system.bonds()) {
    meters_.push_back({bond.effort.input, bond.flow.input, bond.flow.offset, 1.0 / bond.flow.factor,
                       graph.owner(bond.effort.input), graph.owner(bond.flow.input), 0.0});
  }
}

void EnergyMonitor::begin(Time start) {
  for (auto& meter : meters_) meter.measured = start;
}

void EnergyMonitor::measure(Time now) {
  // What an input's output is now, in the unit of the input.
  const auto arrived = [this](InputId input) { return system_->transfer().uncorrected(input, system_->signals()); };
  const auto inputs = system_->inputs();
  for (auto& meter : meters_) {
    if (system_->time_of(meter.one) != now || system_->time_of(meter.other) != now)
      continue;  // measured where both communicate
    // The flow in the unit of the side that tells it, so that both products are in one unit.
    const double told_flow = (arrived(meter.flow) - meter.flow_offset) * meter.per_flow_factor;
    const double used_flow = (inputs[meter.flow] - meter.flow_offset) * meter.per_flow_factor;
    const double received = inputs[meter.effort] * told_flow;
    meter.power = received - arrived(meter.effort) * used_flow;
    const Duration size = now - meter.measured;
    meter.measured = now;
    meter.energy += size * meter.power;
    meter.transferred += size * std::abs(received);
    meter.most_power = std::max(meter.most_power, std::abs(meter.power));
  }
}

std::vector<BondSummary> EnergyMonitor::summary() const {
  const Graph& graph = system_->graph();
  const auto name = [&](const Connection& c) { return graph.name(c.output) + " -> " + graph.name(c.input); };
  std::vector<BondSummary> result;
  for (std::size_t b = 0; b < meters_.size(); ++b) {
    const PowerBond& bond = system_->bonds()[b];
    const Meter& meter = meters_[b];
    result.push_back(
        {bond.name, name(bond.effort), name(bond.flow), meter.energy, meter.most_power, meter.transferred});
  }
  return result;
}

void EnergyMonitor::values(std::span<double> values) const {
  for (std::size_t b = 0; b < meters_.size(); ++b) {
    values[2 * b] = meters_[b].power;
    values[2 * b + 1] = meters_[b].energy;
  }
}

std::vector<Signal> bond_signals(std::span<const PowerBond> bonds, const Graph& graph) {
  std::vector<Signal> signals;
  for (const auto& bond : bonds) {
    const std::size_t owner = graph.owner(bond.effort.input);
    signals.push_back({"bonds." + bond.name + ".residual_power", "W",
                       "power received less power given, at the end of the step", Causality::Method, owner});
    signals.push_back(
        {"bonds." + bond.name + ".residual_energy", "J", "its integral since the start", Causality::Method, owner});
  }
  return signals;
}

}  // namespace entrain
