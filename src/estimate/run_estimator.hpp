#pragma once

#include <functional>
#include <memory>

#include "entrain/error_estimate.hpp"
#include "entrain/simulation.hpp"

namespace entrain::session {
class Session;
}

namespace entrain::estimate {

class CallMeter;

struct EstimateOptions {
  bool enabled = true;
  std::function<void(double fraction)> progress;  ///< of the work after the run; may be empty
  /// Where larger steps show no order, smaller ones are run as well; else the difference is claimed undivided.
  bool refines = true;
  CallMeter* meter = nullptr;  ///< of the companions too; borrowed, may be null
};

/// Beside a run: keeps the samples that are compared, and propagates the error where companions would not see it. After
/// it: makes the companions.
class RunEstimator {
 public:
  /// `description`: as it is really run (method chosen, defaults filled in). Copies what it needs.
  RunEstimator(SystemDescription description, RunOptions options, Extensions extensions, EstimateOptions estimate);
  ~RunEstimator();
  RunEstimator(RunEstimator&&) noexcept;
  RunEstimator& operator=(RunEstimator&&) noexcept;

  /// Before the run, which it must outlive.
  void watch(session::Session& run);
  Observer& observer();  ///< of the run; nothing is kept when the estimate is switched off
  /// After the simulation of the run is gone: an FMU may allow one instance only. Never throws for a companion that
  /// fails: the reasons name it.
  ErrorEstimate estimate(const RunSummary& summary);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace entrain::estimate
