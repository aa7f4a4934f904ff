#pragma once

#include "entrain/subsystem.hpp"

namespace entrain {

/// A discrete linear system x(k+1) = A x(k) + B v(k), r(k) = C x(k) + D v(k), whose output r is to become its own input
/// v, and is passed on one step late for now.
struct DelayedLoop {
  Matrix A, B, C, D;
};

struct LearningFilter {
  double gain = 1.0;
  double cutoff = 0.0;  ///< of the first-order filter applied forwards and backwards, in cycles per step; 0 = none
};

struct LearningGain {
  double largest = 0.0;  ///< gamma: the largest factor of any sinusoidal error from one repetition to the next
  double angle = 0.0;    ///< where, in rad per step
  double radius = 0.0;   ///< spectral radius of the loop with its delay
};

/// How the error of learning c <- Q(c + gain e) changes from repetition to repetition: the largest singular value, on
/// the unit circle, of Q (I + gain (L - I)(I - L/z)^-1), where L(z) = C (z I - A)^-1 B + D.
LearningGain learning_gain(const DelayedLoop& loop, const LearningFilter& filter);

}  // namespace entrain
