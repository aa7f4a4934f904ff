#pragma once

#include <span>
#include <vector>

#include "entrain/coupled_system.hpp"

namespace entrain {

/// Takes back, step by step, the energy that wrong efforts have brought into a system (docs/theory/energy.md).
///
/// In the step to t(k+1) the receiver of an effort worked with u(k), while its sender now tells y(k+1):
///     E(k+1) = E(k) + h (u(k) - y(k+1)) f(k+1),    u(k+1) = y(k+1) - gain E(k+1) f(k+1),
/// where f is the receiver's flow. The second term is a damper whose constant grows with the energy to be taken back.
class ResidualPowerCorrection {
 public:
  void start(const CoupledSystem& system, double gain, Time now);
  bool any() const { return gain_ > 0.0 && !energies_.empty(); }

  /// Inputs are about to be fixed.
  void before_step(CoupledSystem& system);
  void after_step(const CoupledSystem& system, Time now);

  std::vector<double> memory() const;
  void restore(std::span<const double> numbers);

 private:
  double gain_ = 0.0;
  Time now_ = 0.0;
  std::vector<double> energies_;     // by bond, in J
  std::vector<double> corrections_;  // by input
};

}  // namespace entrain
