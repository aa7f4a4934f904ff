#pragma once

#include <span>
#include <vector>

#include "coupling/coupled_system.hpp"
#include "description/options.hpp"

namespace entrain {

struct EnergyControlOptions {
  double relative_tolerance = 1e-4;
  double absolute_tolerance = 1e-6;  ///< J

  void bind(OptionBinder& binder);
};

/// ECCO: the size of the next macro step from the residual energy of the power bonds in the last one
/// (docs/theory/energy.md). A step is never repeated, so nothing is asked of the subsystems. At least one bond.
class EnergyControl {
 public:
  void start(const EnergyControlOptions& options);
  /// After a step of this size: the size of the next one.
  Duration next(const CoupledSystem& system, Duration size);

  std::vector<double> memory() const { return {previous_error_, largest_power_}; }
  void restore(std::span<const double> numbers) {
    previous_error_ = numbers[0];
    largest_power_ = numbers[1];
  }

 private:
  double error_of_step(const CoupledSystem& system, Duration size);

  EnergyControlOptions options_;
  double previous_error_ = 1.0;
  double largest_power_ = 0.0;  // that went through any bond, in W
};

}  // namespace entrain
