#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "entrain/method.hpp"
#include "methods/explicit/macro_step_control.hpp"
#include "methods/step_controller.hpp"

namespace entrain::method {

/// Macro steps by the connection defect, the distance between an input as it ended its step and the output there: S.
/// Glumac, Z. Kovacic, "Relative consistency and robust stability measures for sequential co-simulation", 2019, (53)
/// (docs/theory/jacobi.md).
class DefectControl final : public MacroStepControl {
 public:
  /// Tolerances: of the defect, relative to the range of the output so far, and in its unit. `order`: of the defect,
  /// the degree of the inputs + 1.
  void start(const CoupledSystem& system, const RunSettings& run, StepSettings settings);

  Time now() const override { return memory_.now; }
  /// No step leads across an announced event.
  Duration next(Time event) const override;
  void judge(const CoupledSystem& system, Time reached) override;
  void restart() override;
  void failed(Duration shorter) override { memory_.proposed = std::min(memory_.proposed, shorter); }
  Duration shortest() const { return controller_.limits().min; }
  /// Steps with a larger defect than allowed.
  std::uint64_t beyond_tolerance() const { return memory_.beyond_tolerance; }

  struct Memory {
    Time now = 0.0;
    Duration proposed = 0.0;
    bool starting = true;                        ///< on the way from a first step
    std::vector<base::SignalRange> ranges = {};  ///< by output
    std::uint64_t beyond_tolerance = 0;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(now, proposed, starting, ranges, beyond_tolerance);
    }
  };
  const Memory& memory() const { return memory_; }
  void restore(const Memory& memory) { memory_ = memory; }

 private:
  StepController controller_;
  Duration step_of_run_ = 0.0;
  Time stop_ = 0.0;
  Memory memory_;
};

}  // namespace entrain::method
