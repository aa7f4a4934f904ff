#pragma once

#include <vector>

#include "run/correction_schedule.hpp"
#include "session/prepare.hpp"

namespace entrain::learning {

/// A system that is run from its start again and again: its subsystems are reset where all of them can be, else made
/// anew.
class RepeatedRun {
 public:
  struct Settings {
    int threads = 1;
    const std::atomic<bool>* interrupt = nullptr;
    std::optional<RealTimeOptions> real_time = {};
  };
  /// Throws Error with every problem of the system.
  RepeatedRun(SystemDescription description, const Extensions& extensions, Settings settings);

  CoupledSystem& system() { return *prepared_.system; }
  /// Parts outside, or the wall clock, take part: no two runs are the same.
  bool on_a_bench() { return has_parts_outside() || settings_.real_time.has_value(); }
  bool has_parts_outside();
  const RunSettings& settings() const { return prepared_.settings; }

  /// From the start to the first communication time at or after `horizon`. How it went is in the summary.
  RunSummary run(Time horizon, running::CorrectionSchedule* corrections, Observer& observer);

  /// Subsystems initialised at the start, signals consistent: for a look at them. The next run begins afresh.
  void initialize();
  /// A subsystem has failed: all are made anew before the next run.
  void require_rebuild() { rebuild_ = true; }
  /// An option of the method, from the next run on.
  void set_option(const std::string& name, OptionValue value);
  /// Every option of the method in force.
  std::map<std::string, OptionValue> options() { return options_in_force(*prepared_.method); }

 private:
  void make();
  void rewind();
  bool all_can_be_reset();
  void require_that_it_can_be_repeated();

  SystemDescription description_;
  Extensions extensions_;
  Settings settings_;
  session::Prepared prepared_;
  bool used_ = false;
  bool rebuild_ = false;
};

}  // namespace entrain::learning
