#include "run/energy_monitor.hpp"

#include "coupling/engine.hpp"
#include "entrain/fact_codes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace entrain::running {
namespace {

constexpr double kMostInjected = 0.01;  // of what went through a bond
constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

}  // namespace

EnergyMonitor::EnergyMonitor(const CoupledSystem& system) : system_(&system) {
  const Graph& graph = system.graph();
  for (const auto& bond : system.engine().bonds()) {
    meters_.push_back({graph.owner(bond.effort.input), graph.owner(bond.flow.input), 0.0});
  }
  if (meters_.empty()) return;
  meters_of_.resize(system.size());
  for (std::size_t b = 0; b < meters_.size(); ++b) {
    meters_of_[meters_[b].one].push_back(static_cast<std::uint32_t>(b));
  }
}

void EnergyMonitor::begin(Time start) {
  for (auto& meter : meters_) meter.measured = start;
}

/// Where both sides communicate.
void EnergyMonitor::measure_all(Time now) {
  const bool all_communicate = system_->all_at(now);
  for (std::size_t b = 0; b < meters_.size(); ++b) {
    const Meter& meter = meters_[b];
    if (all_communicate || (system_->time_of(meter.one) == now && system_->time_of(meter.other) == now)) {
      measure(b, now);
    }
  }
}

void EnergyMonitor::measure_of(std::span<const SubsystemId> communicated, Time now) {
  for (const SubsystemId s : communicated) {
    if (system_->time_of(s) != now) continue;
    for (const std::size_t b : meters_of_[s]) {
      if (system_->time_of(meters_[b].other) == now) measure(b, now);
    }
  }
}

void EnergyMonitor::measure(std::size_t bond, Time now) {
  Meter& meter = meters_[bond];
  const coupling::BondPowers powers =
      coupling::powers_of(system_->engine().bonds()[bond], system_->inputs(), system_->outputs());
  const Duration size = now - meter.measured;
  meter.measured = now;
  ++meter.measurements;
  meter.power = powers.residual();
  meter.energy += size * meter.power;
  meter.transferred += size * std::abs(powers.received);
  meter.most_power = std::max(meter.most_power, std::abs(meter.power));
  if (meter.energy > meter.most_energy) meter.most_energy = meter.energy, meter.most_time = now;
}

std::vector<BondSummary> EnergyMonitor::summary() const {
  const Graph& graph = system_->graph();
  const auto name = [&](const Connection& c) { return graph.name(c.output) + " -> " + graph.name(c.input); };
  std::vector<BondSummary> result;
  for (std::size_t b = 0; b < meters_.size(); ++b) {
    const coupling::PowerBond& bond = system_->engine().bonds()[b];
    const Meter& meter = meters_[b];
    const auto measured = [&](double value) { return meter.measurements > 0 ? value : kNotMeasured; };
    result.push_back({bond.name, name(bond.effort), name(bond.flow), measured(meter.energy), measured(meter.most_power),
                      measured(meter.transferred), meter.measurements});
  }
  return result;
}

std::vector<Fact> EnergyMonitor::warnings() const {
  std::vector<Fact> facts;
  for (std::size_t b = 0; b < meters_.size(); ++b) {
    const Meter& meter = meters_[b];
    if (!(meter.most_energy > kMostInjected * meter.transferred)) continue;
    facts.push_back({FactCode::EnergyInjected,
                     {system_->engine().bonds()[b].name},
                     {{"energy", meter.most_energy, "J"},
                      {"time", meter.most_time, "s"},
                      {"transferred", meter.transferred, "J"}}});
  }
  return facts;
}

void EnergyMonitor::values(std::span<double> values) const {
  for (std::size_t b = 0; b < meters_.size(); ++b) {
    values[2 * b] = meters_[b].power;
    values[2 * b + 1] = meters_[b].energy;
  }
}

std::vector<Signal> bond_signals(std::span<const coupling::PowerBond> bonds, const Graph& graph) {
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

}  // namespace entrain::running
