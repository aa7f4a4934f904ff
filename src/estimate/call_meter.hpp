#pragma once

#include <limits>
#include <optional>
#include <stop_token>

#include "coupling/calls_made.hpp"
#include "run/step_watcher.hpp"

namespace entrain::estimate {

/// Counts the calls of subsystems over a run and its companions, and interrupts the one whose next macro step would
/// exceed what is allowed.
class CallMeter final : public running::StepWatcher {
 public:
  explicit CallMeter(double most_calls = std::numeric_limits<double>::infinity()) : most_(most_calls) { decide(0.0); }

  double calls() const { return before_ + in_run_; }
  bool exceeded() const { return exceeded_; }
  /// In the first macro step of the first run, which often begins with shorter ones and with linearizations.
  double calls_to_begin() const { return to_begin_.value_or(0.0); }
  /// For RunOptions::stop. The interruption by the user is another thing, which is looked at during a step, too.
  std::stop_token stop() const { return stop_.get_token(); }

  void begin(CoupledSystem& system, const RunSettings&) override {
    system_ = &system;
    in_run_ = coupling::calls_made(system);
  }
  void after_step(CoupledSystem& system, Time, Time) override {
    const double now = coupling::calls_made(system);
    const double of_step = now - in_run_;
    in_run_ = now;
    if (!to_begin_) to_begin_ = now;
    decide(of_step);
  }
  void end(const RunSummary&) override {
    if (system_ == nullptr) return;
    before_ += coupling::calls_made(*system_);
    in_run_ = 0.0;
    system_ = nullptr;
  }

 private:
  void decide(double next_step) {
    exceeded_ = exceeded_ || calls() + next_step > most_;
    if (exceeded_) stop_.request_stop();
  }

  double most_;
  CoupledSystem* system_ = nullptr;  // of the run under way
  double before_ = 0.0;
  double in_run_ = 0.0;
  std::optional<double> to_begin_;
  bool exceeded_ = false;
  std::stop_source stop_;
};

}  // namespace entrain::estimate
