#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/signal_range.hpp"
#include "entrain/ids.hpp"

namespace entrain::method {

/// Distinguishes a jump of a signal from a fast change: a step that misses its prediction by a good part of the
/// signal's range, and by far more than the steps before.
class JumpDetector {
 public:
  /// Observes these outputs only: a jump of an output that no subsystem reads has no effect.
  void start(std::span<const double> values, std::span<const OutputId> watched);
  /// One step of all signals: what was predicted and what came. True when one of them jumped.
  bool jumped(std::span<const double> predicted, std::span<const double> actual);
  /// The same, and nothing is remembered of this step.
  bool sees_jump(std::span<const double> predicted, std::span<const double> actual) const;
  /// The next miss has nothing to be compared with.
  void forget_past();

  struct Seen {
    base::SignalRange range;
    double usual_miss = 0.0;  ///< a maximum that fades

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(range, usual_miss);
    }
  };
  struct Memory {
    std::vector<Seen> seen;   ///< of the watched ones
    std::uint64_t steps = 0;  ///< since the start or the last jump
    std::uint64_t all_steps = 0;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(seen, steps, all_steps);
    }
  };
  const Memory& memory() const { return memory_; }
  void restore(const Memory& memory) { memory_ = memory; }

 private:
  bool is_jump(const Seen& seen, double miss, double value) const;

  std::vector<OutputId> watched_;
  Memory memory_;
};

}  // namespace entrain::method
