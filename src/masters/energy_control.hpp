#pragma once

#include <span>
#include <vector>

#include "entrain/coupled_system.hpp"
#include "entrain/method.hpp"
#include "entrain/options.hpp"

namespace entrain {

/// Of the residual energy of a step.
struct EnergyTolerances {
  double relative = 1e-2;
  double absolute = 1e-6;  ///< J

  void bind(OptionBinder& binder);
};

struct EnergyControlOptions {
  EnergyTolerances tolerances;
  double min_step = 0.0;  ///< s; 0 = a thousandth of the step of the run
  double max_step = 0.0;  ///< s; 0 = a hundred times the step of the run

  void check_times(const RunSettings& settings, const WrittenOptions& written, std::vector<Problem>& problems) const;
  /// With numbers in place of 0.
  EnergyControlOptions in_force(const RunSettings& settings) const;
};

/// ECCO: the size of the next macro step from the residual energy of the power bonds in the last one
/// (docs/theory/energy.md). A step is never repeated, so nothing is asked of the subsystems.
class EnergyControl {
 public:
  /// The system has power bonds (Requirements).
  void start(const CoupledSystem& system, const EnergyControlOptions& options, const RunSettings& settings);
  Time now() const { return now_; }
  Duration step() const { return step_; }
  /// After a step to this time: the size of the next one.
  void take(const CoupledSystem& system, Time now);

  std::vector<double> memory() const { return {now_, step_, previous_error_, largest_power_}; }
  void restore(std::span<const double> numbers);

 private:
  double error_of_step(const CoupledSystem& system, Duration size);

  EnergyControlOptions options_;
  Time now_ = 0.0;
  Duration step_ = 0.0;
  double previous_error_ = 1.0;
  double largest_power_ = 0.0;  // that went through any bond, in W
};

}  // namespace entrain
