#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "entrain/choices.hpp"
#include "entrain/envelope.hpp"
#include "entrain/export.hpp"
#include "entrain/variable.hpp"

namespace entrain {

/// What happens when a macro step ends after its deadline.
enum class OverrunRule {
  CatchUp,  ///< deadlines stay; the next steps begin at once until the pace is reached again
  Skip,     ///< whole periods are given up: the next step begins with the next period
  Stop,     ///< the run ends as failed
};
template <>
struct ChoiceNames<OverrunRule> {
  static constexpr std::array<ChoiceName<OverrunRule>, 3> all{
      {{OverrunRule::CatchUp, "catch-up"}, {OverrunRule::Skip, "skip"}, {OverrunRule::Stop, "stop"}}};
};

/// The clock that a paced run follows. A program may bring another one: tests run in simulated wall time.
class ENTRAIN_API WallClock {
 public:
  virtual ~WallClock() = default;
  /// Nanoseconds since any fixed instant; never goes back.
  virtual std::int64_t now() noexcept = 0;
  /// Returns at `instant` or later, or earlier when a signal arrives.
  virtual void sleep_until(std::int64_t instant) noexcept = 0;
};
/// CLOCK_MONOTONIC, with absolute sleeps.
ENTRAIN_API WallClock& monotonic_clock() noexcept;

/// A run at the pace of the wall clock (docs/real_time.md).
struct RealTimeOptions {
  double factor = 1.0;  ///< simulated seconds per second
  OverrunRule overrun = OverrunRule::CatchUp;
  /// Asks for SCHED_FIFO, locked memory and a core of its own; a note says what was granted.
  bool priority = false;
  WallClock* clock = nullptr;  ///< borrowed; nullptr = monotonic_clock
};

/// How a quantity was distributed over the macro steps of a paced run, in s.
struct TimingQuantiles {
  double median = 0.0;
  double p90 = 0.0;
  double p99 = 0.0;
  double p999 = 0.0;
  double most = 0.0;
};

/// How a paced run kept its pace.
struct PacingSummary {
  double factor = 1.0;
  OverrunRule overrun = OverrunRule::CatchUp;
  std::uint64_t steps = 0;
  std::uint64_t missed = 0;           ///< macro steps that ended after their deadline
  double worst_overrun = 0.0;         ///< s after the deadline
  Time worst_time = 0.0;              ///< simulated: of that deadline
  std::uint64_t skipped_periods = 0;  ///< with OverrunRule::Skip
  double behind = 0.0;        ///< s that the simulated time lags behind since the start: skipped periods, pauses
  TimingQuantiles latency;    ///< from the deadline to the wake-up, of steps that waited
  TimingQuantiles computing;  ///< of a macro step, with everything between two steps
  double least_slack = 0.0;   ///< s left before the deadline; negative: an overrun
  double median_slack = 0.0;
  /// Computing times: how many steps took less than each limit, and at least the limit before it; the last: the rest.
  std::vector<double> histogram_limits;
  std::vector<std::uint64_t> histogram_counts;
  std::uint64_t dropped_rows = 0;  ///< of the results, because the disk was slower
  /// Over the simulated time: latency, computing time and slack, in s.
  Envelope track{3};
};

}  // namespace entrain
