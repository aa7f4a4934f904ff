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
  Time now() const { return memory_.now; }
  Duration step() const { return memory_.step; }
  /// After a step to this time: the size of the next one.
  void take(const CoupledSystem& system, Time now);

  struct Memory {
    Time now = 0.0;
    Duration step = 0.0;
    double previous_error = 1.0;
    double largest_power = 0.0;  ///< that went through any bond, in W

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(now, step, previous_error, largest_power);
    }
  };
  const Memory& memory() const { return memory_; }
  void restore(const Memory& memory) { memory_ = memory; }

 private:
  double error_of_step(const CoupledSystem& system, Duration size);

  EnergyControlOptions options_;
  Memory memory_;
};

}  // namespace entrain
