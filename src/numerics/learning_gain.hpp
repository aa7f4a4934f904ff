#pragma once

#include <vector>

#include "entrain/subsystem.hpp"

namespace entrain::numerics {

/// A discrete linear system that is run again and again: X(n+1) = A X(n) + B c(n), with the corrections c that are
/// learned. Their errors are e(n) = sum over p of C[p] X(n+p) + D[p] c(n+p): the correct value of an input is known
/// only later. One n is one cycle of macro steps, after which every subsystem has communicated.
struct LearningLoop {
  Matrix A, B;
  std::vector<Matrix> C, D;
};

struct LearningFilter {
  double gain = 1.0;
  double cutoff =
      0.0;  ///< of the first-order filter applied forwards and backwards, in periods per cycle of macro steps; 0 = none
  double forgetting = 0.0;  ///< share of c that is forgotten from repetition to repetition
};

struct LearningGain {
  double largest = 0.0;  ///< gamma: the largest factor of any sinusoidal error from one repetition to the next
  double angle = 0.0;    ///< where, in rad per cycle
  double radius = 0.0;   ///< spectral radius of A: of a run without corrections, per cycle
};

/// How the error of learning c <- Q((1 - forgetting) c + gain e) changes from repetition to repetition: the largest
/// singular value, on the unit circle, of Q ((1 - forgetting) I + gain E), where E(z) = sum of z^p (C[p] (z I - A)^-1 B
/// + D[p]).
LearningGain learning_gain(const LearningLoop& loop, const LearningFilter& filter);

}  // namespace entrain::numerics
