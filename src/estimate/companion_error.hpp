#pragma once

#include <span>
#include <vector>

#include "base/signal_range.hpp"
#include "entrain/error_estimate.hpp"

namespace entrain::estimate {

/// One output of one of the runs that are compared.
struct ComparedCourse {
  double factor = 1.0;         ///< its step, in units of the step of the run that is judged
  bool shifted = false;        ///< its first step is that of the run: it communicates where the one beside it does not
  std::vector<double> values;  ///< at the times of that run; NaN where it did not communicate
  base::SignalRange range;     ///< over all its times
};

struct ComparedOutput {
  std::span<const Time> times;
  std::vector<ComparedCourse> courses;  ///< from the smallest step to the largest; one has the factor 1
  double formal_order = 1.0;            ///< of the method in its step
  double least_range = 0.0;             ///< what moves less rests
};

/// What runs with other steps say about an output.
struct CompanionJudgement {
  OutputError error;                ///< without its name
  std::size_t common_times = 0;     ///< below 2 nothing is known
  bool wants_smaller_step = false;  ///< the differences do not fall as they ought to, where they matter
  bool converges = true;
  std::size_t jumps = 0;            ///< of the run
  std::size_t unmatched_jumps = 0;  ///< of the run or of the companion alone
  Duration event_time_error = 0.0;  ///< largest distance of matched jumps, as the common times show it
  double nearest_factor = 1.0;      ///< of the companion that decides
  double range_ratio = 1.0;         ///< of the run and that companion
  bool shows_jumps = false;         ///< a shifted companion was there
};

/// The error of one output, by runs with other steps (docs/theory/error_estimate.md).
CompanionJudgement judge_by_companions(const ComparedOutput& output);

}  // namespace entrain::estimate
