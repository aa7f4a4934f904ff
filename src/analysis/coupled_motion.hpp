#pragma once

#include "analysis/linear_network.hpp"
#include "numerics/sparse_eigenvalues.hpp"

namespace entrain::analysis {

/// The network without any coupling error, dx/dt = M x, for networks of any size: M = A + B L (I - D L)^-1 C, with the
/// outputs as intermediate results. Throws Error{LoopNotSolved} naming an output when I - D L is singular.
numerics::SchurComplement coupled_motion(const LinearNetwork& network);

/// The largest |eigenvalue| of M, 1/s: by all of them while the matrices are small, else to a few percent.
double fastest_rate(const LinearNetwork& network);
/// The largest e^(step Re(eigenvalue)): how much the motion itself grows over a step.
double own_growth(const LinearNetwork& network, Duration step);

}  // namespace entrain::analysis
