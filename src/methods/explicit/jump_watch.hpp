#pragma once

#include <cstdint>
#include <vector>

#include "entrain/coupled_system.hpp"
#include "entrain/fact.hpp"
#include "methods/jump_detector.hpp"

namespace entrain::method {

/// Finds unannounced jumps of the connected outputs in the macro steps of an explicit method: what comes is compared
/// with lines through the last two communication times.
class JumpWatch {
 public:
  void start(const CoupledSystem& system);
  /// A macro step begins where the system is now.
  void begin(const CoupledSystem& system);
  /// A step of this size was made: whether an output jumped in it.
  bool sees_jump(const CoupledSystem& system, Duration size);
  /// The step to this time is taken back, because a jump was seen in it.
  void taken_back(Time to) { memory_.jump_by = to; }
  /// The time by which a jump has happened that was seen in a step taken back; in the past if there is none.
  Time jump_by() const { return memory_.jump_by; }
  /// The step stays. True when an output jumped in it. `located`: the step cannot be shorter.
  bool accept(const CoupledSystem& system, Time to, Duration size, bool located);
  /// Lines do not lead across what happens here.
  void forget_past();
  std::vector<Fact> warnings() const;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(memory_, detector_);
  }

 private:
  struct Memory {
    std::vector<double> before;  // outputs where the last step began
    Duration last_size = 0.0;    // of the last step; 0: no line leads from it
    Time jump_by = -kNever;
    std::uint64_t found = 0;
    std::uint64_t late = 0;  // on a step that could have been shorter
    Time first = 0.0;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(before, last_size, jump_by, found, late, first);
    }
  };
  bool comparable(Duration size) const;

  JumpDetector detector_;
  std::vector<double> here_;       // outputs where the step under way began
  std::vector<double> predicted_;  // where it ends, by the lines
  Memory memory_;
};

}  // namespace entrain::method
