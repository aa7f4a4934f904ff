#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "entrain/coupled_system.hpp"
#include "entrain/method.hpp"

namespace entrain::method {

/// Takes back, step by step, the energy that wrong efforts have brought into a system (docs/theory/energy.md).
///
/// In the step to t(k+1) the receiver of an effort worked with u(k), while its sender now returns y(k+1):
///     E(k+1) = E(k) + h (u(k) - y(k+1)) f(k+1),    u(k+1) = y(k+1) - gain E(k+1) f(k+1),
/// where f is the receiver's flow. The second term is a damper whose constant grows with the energy to be taken back.
///
/// With `most_damping` it is a passivity controller instead (Hannaford, Ryu, "Time-domain passivity control of haptic
/// interfaces", IEEE Trans. Robotics and Automation 18, 2002): while E > 0 the damper E / (h f^2), at most
/// `most_damping`, takes back in one step what the coupling injected; energy that the coupling lost is not given back.
class ResidualPowerCorrection {
 public:
  struct Options {
    double gain = 0.0;          ///< in SI units of effort / (J flow)
    double most_damping = 0.0;  ///< in SI units of effort / flow
    bool any() const { return gain > 0.0 || most_damping > 0.0; }
  };
  void start(const CoupledSystem& system, const Options& options, const RunSettings& settings);
  bool any() const { return options_.any() && !memory_.energies.empty(); }

  /// Inputs are about to be fixed.
  void before_step(CoupledSystem& system);
  void after_step(const CoupledSystem& system, Time now);
  /// What a passivity controller did.
  std::vector<Fact> notes(const CoupledSystem& system) const;

  struct Memory {
    Time now = 0.0;
    std::vector<double> energies;        ///< by bond, in J
    std::vector<double> taken;           ///< by bond: by a passivity controller, in J
    std::vector<std::uint64_t> actions;  ///< by bond: macro steps in which it acted

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(now, energies, taken, actions);
    }
  };
  const Memory& memory() const { return memory_; }
  void restore(const Memory& memory) { memory_ = memory; }

 private:
  double damper(std::size_t bond, double flow) const;

  Options options_;
  Duration step_ = 0.0;
  Memory memory_;
  std::vector<double> corrections_;  // by input
};

}  // namespace entrain::method
