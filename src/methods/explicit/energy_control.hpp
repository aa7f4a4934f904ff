#pragma once

#include <vector>

#include "entrain/method.hpp"
#include "methods/explicit/macro_step_control.hpp"
#include "methods/step_controller.hpp"

namespace entrain::method {

/// Of the residual energy of a step.
struct EnergyTolerances {
  double relative = 1e-2;
  double absolute = 1e-6;  ///< J

  void bind(OptionBinder& binder);
};

/// ECCO: the size of the next macro step from the residual energy of the power bonds in the last one. A step is never
/// repeated, so nothing is asked of the subsystems; events do not end it.
///
/// S. Sadjina, L. T. Kyllingstad, S. Skjong, E. Pedersen: "Energy conservation and power bonds in co-simulations:
/// non-iterative adaptive step size control and error estimation", Engineering with Computers 2017,
/// doi 10.1007/s00366-016-0492-8 (docs/theory/energy.md).
class EnergyControl final : public MacroStepControl {
 public:
  /// The limits, in s; 0 stands for a default.
  struct Bounds {
    Duration min_step = 0.0;
    Duration max_step = 0.0;
  };
  static void check_times(const Bounds& bounds, const RunSettings& settings, const WrittenOptions& written,
                          std::vector<Problem>& problems);

  /// The system has power bonds (Requirements).
  void start(const CoupledSystem& system, const EnergyTolerances& tolerances, const Bounds& bounds,
             const RunSettings& settings);

  Time now() const override { return memory_.now; }
  Duration next(Time) const override { return memory_.step; }
  void judge(const CoupledSystem& system, Time reached) override;

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

  StepController controller_;
  Memory memory_;
};

}  // namespace entrain::method
