#pragma once

#include <vector>

#include "analysis/linear_network.hpp"

namespace entrain {

/// How far motions turn within a macro step: those of the subsystems by themselves, of whose e^(A step) step matrices
/// are made, and those of the whole. What is measured of a coupling goes up and down with these turns.
class Turning {
 public:
  /// Throws Error{LoopNotSolved} as exact_coupling does.
  explicit Turning(const LinearNetwork& network);

  /// The angle of the fastest, rad; from where it has died away within a step on, that of the next adds to it.
  double in(Duration step) const;

 private:
  struct Motion {
    double frequency;  // rad/s
    Duration life;
  };
  void add(const Matrix& dynamics);

  std::vector<Motion> motions_;  // the fastest first
};

}  // namespace entrain
