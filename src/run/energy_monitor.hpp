#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coupling/bonds.hpp"
#include "entrain/coupled_system.hpp"
#include "entrain/simulation.hpp"

namespace entrain::running {

/// The energy that the coupling adds or loses: per bond, the power that one side received less what the
/// other side gave, at the end of every step (docs/theory/energy.md).
class EnergyMonitor {
 public:
  explicit EnergyMonitor(const CoupledSystem& system);

  void begin(Time start);
  /// After a macro step; `communicated` as Method::communicated.
  void update(Time now, std::span<const SubsystemId> communicated = {}) {
    if (meters_.empty()) return;
    communicated.empty() ? measure_all(now) : measure_of(communicated, now);
  }

  std::vector<BondSummary> summary() const;
  /// The passivity observer: bonds at which the coupling injected more than a share of what went through them.
  std::vector<Fact> warnings() const;
  /// Residual power and energy of each bond, as in `bond_signals`.
  void values(std::span<double> values) const;

  struct Meter {
    SubsystemId one, other;
    Time measured = 0.0;
    std::uint64_t measurements = 0;
    double power = 0.0;
    double energy = 0.0;
    double most_power = 0.0;
    double transferred = 0.0;
    double most_energy = 0.0;  // that the coupling had injected ...
    Time most_time = 0.0;      // ... at this time

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(one, other, measured, measurements, power, energy, most_power, transferred, most_energy, most_time);
    }
  };
  template <class Visitor>
  void fields(Visitor& visit) {
    visit(meters_);
  }

 private:
  void measure_all(Time now);
  [[gnu::noinline]] void measure_of(std::span<const SubsystemId> communicated, Time now);
  void measure(std::size_t bond, Time now);

  const CoupledSystem* system_;
  std::vector<Meter> meters_;
  std::vector<std::vector<std::uint32_t>> meters_of_;  // by Meter::one
};

/// Recordable: "bonds.NAME.residual_power" and "bonds.NAME.residual_energy".
std::vector<Signal> bond_signals(std::span<const coupling::PowerBond> bonds, const Graph& graph);

}  // namespace entrain::running
