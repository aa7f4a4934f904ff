#pragma once

#include "entrain/linear_network.hpp"

namespace entrain::analysis {

/// The network without any coupling error: y = outputs x, dx/dt = dynamics x, (16) of Glumac and
/// Kovacic (2019).
struct ExactCoupling {
  Matrix outputs;   ///< Y = (I - D L)^-1 C
  Matrix dynamics;  ///< A + B L Y
};

/// Throws Error{LoopNotSolved} naming the outputs when I - D L is singular.
ExactCoupling exact_coupling(const LinearNetwork& network);

}  // namespace entrain::analysis
