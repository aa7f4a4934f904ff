// Where an indicator changes its sign, to the last digits of time.
#include <arkode/arkode_erkstep.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/ode_impl.hpp"

namespace entrain::numerics {
namespace {

Duration resolution(Time t) {
  return 4.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(t), std::numeric_limits<double>::min());
}

}  // namespace

void OdeSolver::Impl::keep_start_of_step(Time t) {
  step_start = t;
  std::copy(entries(x.get()).begin(), entries(x.get()).end(), x_of_step.begin());
}

// The integrators look for roots on an interpolant of the last step. That of ARKODE has degree 5, far less than its
// method of order 8: there the root is found again on the solution itself.
Time OdeSolver::Impl::settle_on_root(Time root, Time to) {
  const int flag = multistep() ? CVodeGetRootInfo(memory.get(), directions.data())
                               : ERKStepGetRootInfo(memory.get(), directions.data());
  require(flag);
  if (!multistep()) root = refined_root(root, to);
  return past_the_root(root, to);
}

/// The indicator that changed its sign first in the list.
std::size_t OdeSolver::Impl::culprit() const {
  const auto first = std::find_if(directions.begin(), directions.end(), [](int direction) { return direction != 0; });
  return first == directions.end() ? 0 : static_cast<std::size_t>(first - directions.begin());
}

/// The state moved along its slope, for times so short that nothing else can be seen.
void OdeSolver::Impl::shift(Duration by) {
  const auto state = entries(x.get());
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += by * slopes[i];
}

/// Newton's method on the solution: from the start of the internal step to the root, and a correction of the root.
Time OdeSolver::Impl::refined_root(Time root, Time to) {
  constexpr int kMostCorrections = 4;
  const std::size_t which = culprit();
  for (int k = 0;; ++k) {
    integrate_from_start_of_step(root);
    indicate_here(root);
    const double value = z[which];
    const Duration probe = 1e-6 * (root - step_start);
    differentiate_here(root);
    shift(-probe);
    indicate_here(root - probe);
    shift(probe);
    const double rate = (value - z[which]) / probe;
    const Time corrected = root - value / rate;
    const bool sane = std::isfinite(corrected) && corrected > step_start && corrected <= to;
    if (!sane || k == kMostCorrections || std::abs(corrected - root) <= resolution(root)) return root;
    root = corrected;
  }
}

/// Too near for a step of its own, the interpolant serves.
void OdeSolver::Impl::integrate_from_start_of_step(Time to) {
  if (to - step_start <= 64.0 * resolution(to)) return;
  std::copy(x_of_step.begin(), x_of_step.end(), entries(x.get()).begin());
  blind = true;
  start(step_start, to);
  Time reached = step_start;
  const int flag = evolve(to, false, reached);
  blind = false;
  if (flag < 0) give_up(step_start, reached);
}

/// To where the indicators that changed really have their new signs, so that the event handler sees it, and
/// the next integration does not find it again. Where one only touches zero nothing is moved.
Time OdeSolver::Impl::past_the_root(Time root, Time to) {
  constexpr int kMostDoublings = 24;
  if (changed(root)) return root;
  differentiate_here(root);
  Duration moved = 0.0;
  for (int k = 0; k < kMostDoublings; ++k) {
    const Duration wanted = std::ldexp(resolution(root), k);
    if (root + wanted > to) break;
    shift(wanted - moved);
    moved = wanted;
    if (changed(root + moved)) return root + moved;
  }
  shift(-moved);
  return root;
}

bool OdeSolver::Impl::changed(Time t) {
  indicate_here(t);
  for (std::size_t i = 0; i < directions.size(); ++i) {
    if (directions[i] != 0 && !(directions[i] * z[i] > 0.0)) return false;
  }
  return true;
}

}  // namespace entrain::numerics
