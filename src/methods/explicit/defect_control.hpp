#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "entrain/coupled_system.hpp"
#include "entrain/method.hpp"
#include "methods/step_control.hpp"

namespace entrain {

/// Macro steps of an explicit method chosen by the connection defect (paper 003, (53)): the distance between an input
/// as it ended its step and the output there. Nothing is taken back: a step that was too long is followed by a shorter
/// one (docs/theory/jacobi.md).
class DefectControl {
 public:
  struct Settings {
    double relative_tolerance = 1e-3;  ///< defect allowed, relative to the range of the output so far
    double absolute_tolerance = 0.0;   ///< defect allowed anyway, in the unit of the output
    Duration min_step = 0.0;           ///< s; 0 = a thousandth of the macro step
    Duration max_step = 0.0;           ///< s; 0 = a hundred macro steps
    int degree = 0;                    ///< of the inputs: the defect falls with the power degree + 1 of the step
  };

  void start(const CoupledSystem& system, const RunSettings& run, const Settings& settings);
  /// The size of the next step, at most to `until`.
  Duration next(Time until);
  /// After everybody made the step, to `reached`: judges it and proposes the next.
  void judge(const CoupledSystem& system, Time reached);

  Time now() const { return memory_.now; }
  Duration elapsed() const { return memory_.now - start_; }
  /// Steps with a larger defect than allowed.
  std::uint64_t beyond_tolerance() const { return memory_.beyond_tolerance; }

  struct Memory {
    Time now = 0.0;
    Duration proposed = 0.0;
    std::vector<OutputRange> ranges;  ///< by output
    std::uint64_t beyond_tolerance = 0;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(now, proposed, ranges, beyond_tolerance);
    }
  };
  const Memory& memory() const { return memory_; }
  void restore(const Memory& memory) { memory_ = memory; }

 private:
  Settings settings_;
  StepControlSettings control_;
  Time start_ = 0.0;
  Time stop_ = 0.0;
  Memory memory_;
};

}  // namespace entrain
