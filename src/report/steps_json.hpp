#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/step_history.hpp"

namespace entrain::reporting {

/// Of the steps, when a residual is called usual; the rest may be starts and jumps.
inline constexpr double kUsualPart = 0.95;

struct UsualResidual {
  double size = 0.0;  ///< relative to the range of the output
  std::string connection = {};
};
/// Of the connection where it is largest: the residual that `kUsualPart` of the steps do not exceed.
UsualResidual usual_residual(const recording::StepHistory& history, const RunSummary& summary);

/// The text of steps.json: per channel the lowest and highest value of each span of steps; "high" only where it
/// differs. The coupling residual is that of the worst connection, as part of the range of its output over the whole
/// run; it has times of its own, and "usual", what no connection exceeds on more than 5 % of its steps (counted step by
/// step, not span by span), with the connection that decides it.
std::string steps_json(const recording::StepHistory& history, const RunSummary& summary);

/// A step of a subsystem, and when it was made by the wall clock.
struct TimedCall {
  std::size_t subsystem = 0;
  std::uint64_t batch = 0;  ///< those of one batch may be made at the same time
  bool trial = false;
  Time from = 0.0;
  Duration size = 0.0;
  double begun = 0.0;  ///< s since the first one began
  double ended = 0.0;
};
/// The text of timeline.json: the first calls of a run, each as [subsystem, batch, 1 for a trial, from, size, begun,
/// ended], the last two in microseconds.
std::string timeline_json(const std::vector<TimedCall>& calls, const RunSummary& summary);

}  // namespace entrain::reporting
