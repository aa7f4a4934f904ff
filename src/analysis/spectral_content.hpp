#pragma once

#include <vector>

#include "analysis/linear_network.hpp"

namespace entrain::analysis {

/// Oscillating motions of a linear network: those of the subsystems by themselves, whose e^(A step) is part of the step
/// matrix, and those of the coupled system. Measures of a coupling oscillate with their phase in a macro step.
class SpectralContent {
 public:
  /// Throws Error{LoopNotSolved} as exact_coupling does.
  explicit SpectralContent(const LinearNetwork& network);

  /// Phase that the fastest motion covers in a step, rad. After a motion has decayed within the step, the next slower
  /// one is counted.
  double phase_in(Duration step) const;

 private:
  struct Motion {
    double frequency;  // rad/s
    Duration life;
  };
  void add(const Matrix& dynamics);

  std::vector<Motion> motions_;  // the fastest first
};

}  // namespace entrain::analysis
