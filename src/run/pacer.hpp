#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "entrain/fact.hpp"
#include "entrain/real_time.hpp"
#include "run/duration_counts.hpp"
#include "run/thread_priority.hpp"

namespace entrain::running {

/// Holds a run at the pace of the wall clock: a macro step from t begins when the wall clock has reached t, and its
/// deadline is the time that it leads to. Deadlines are computed from the start, never from each other, so that nothing
/// drifts (docs/real_time.md). Nothing is allocated after construction.
class Pacer {
 public:
  /// `interrupted` ends a wait.
  Pacer(const RealTimeOptions& options, std::function<bool()> interrupted);

  /// Waits for the beginning of the macro step from `t`.
  void before_step(Time t);
  /// The macro step and all that follows from it are done. Throws Error where its deadline is missed and the rule is
  /// to stop.
  void after_step(Time from, Time to);
  /// The run was paused for so many nanoseconds: the deadlines move.
  void shift(std::int64_t nanoseconds);
  /// The simulated time has changed other than by steps: the pace begins anew.
  void restart() { begun_ = false; }
  std::int64_t now() const { return clock_->now(); }

  PacingSummary summary() const;
  std::optional<Fact> granted_priority() const;
  /// The priority is given back.
  void end() { priority_.reset(); }

 private:
  std::int64_t instant_of(Time t) const;
  void wait_until(std::int64_t due);
  void miss(Time to, std::int64_t late, std::int64_t period);

  RealTimeOptions options_;
  std::function<bool()> interrupted_;
  WallClock* clock_;
  bool begun_ = false;
  Time start_ = 0.0;
  std::int64_t origin_ = 0;      ///< instant of the start
  std::int64_t step_began_ = 0;  ///< instant
  std::int64_t last_latency_ = 0;
  DurationCounts latency_, computing_, slack_, overrun_;
  std::int64_t least_slack_ = 0;
  PacingSummary summary_;
  std::unique_ptr<ThreadPriority> priority_;
  std::optional<Fact> granted_;
};

}  // namespace entrain::running
