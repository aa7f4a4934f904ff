#pragma once

#include <span>
#include <vector>

#include "entrain/coupled_system.hpp"

namespace entrain::method {

/// Takes back, step by step, the energy that wrong efforts have brought into a system (docs/theory/energy.md).
///
/// In the step to t(k+1) the receiver of an effort worked with u(k), while its sender now returns y(k+1):
///     E(k+1) = E(k) + h (u(k) - y(k+1)) f(k+1),    u(k+1) = y(k+1) - gain E(k+1) f(k+1),
/// where f is the receiver's flow. The second term is a damper whose constant grows with the energy to be taken back.
class ResidualPowerCorrection {
 public:
  void start(const CoupledSystem& system, double gain, Time now);
  bool any() const { return gain_ > 0.0 && !memory_.energies.empty(); }

  /// Inputs are about to be fixed.
  void before_step(CoupledSystem& system);
  void after_step(const CoupledSystem& system, Time now);

  struct Memory {
    Time now = 0.0;
    std::vector<double> energies;  ///< by bond, in J

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(now, energies);
    }
  };
  const Memory& memory() const { return memory_; }
  void restore(const Memory& memory) { memory_ = memory; }

 private:
  double gain_ = 0.0;
  Memory memory_;
  std::vector<double> corrections_;  // by input
};

}  // namespace entrain::method
