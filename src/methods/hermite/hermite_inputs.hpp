#pragma once

#include <span>

#include "entrain/coupled_system.hpp"

namespace entrain {

/// Values and slopes of all signals (as CoupledSystem::signals) at one end of a step.
struct SignalEnd {
  std::span<const double> values;
  std::span<const double> slopes;
};

/// Of the polynomials below.
inline int hermite_degree(bool slopes_known) {
  return slopes_known ? 3 : 2;
}

/// Writes the polynomials of all inputs over a step of this size: cubic Hermite, so that the inputs are C1 over the
/// run; where the left slopes are not known (a start, a jump) the parabola through the left value and both right ones.
void write_hermite_inputs(CoupledSystem& system, const SignalEnd& left, const SignalEnd& right, Duration size,
                          bool slopes_known);

}  // namespace entrain
