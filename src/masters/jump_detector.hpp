#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "entrain/ids.hpp"

namespace entrain {

/// Tells a jump of a signal from a fast change: a step that misses its prediction by a good part of the signal's range,
/// and by far more than the steps before.
class JumpDetector {
 public:
  /// Looks at these outputs only: a jump of one that nobody reads is nobody's concern.
  void start(std::span<const double> values, std::span<const OutputId> watched);
  /// One step of all signals: what was predicted and what came. True when one of them jumped.
  bool jumped(std::span<const double> predicted, std::span<const double> actual);
  /// The next miss has nothing to be compared with.
  void forget_past();

  void save(std::vector<double>& numbers) const;
  const double* restore(const double* numbers);

 private:
  struct Seen {
    double low = 0.0;
    double high = 0.0;
    double usual_miss = 0.0;  // a maximum that fades
  };
  bool is_jump(const Seen& seen, double miss, double value) const;

  std::vector<OutputId> watched_;
  std::vector<Seen> seen_;   // of the watched ones
  std::uint64_t steps_ = 0;  // since the start or the last jump
  std::uint64_t all_steps_ = 0;
};

}  // namespace entrain
