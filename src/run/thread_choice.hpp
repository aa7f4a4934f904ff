#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

#include "run/step_watcher.hpp"

namespace entrain::running {

/// Finds out in the first macro steps whether threads pay, and uses as many as do (docs/adr/0118). What it decides by
/// is the clock; the results are the same bits with any number.
class ThreadChoice final : public StepWatcher {
 public:
  /// What was chosen: threads, and the seconds of a macro step without and with them.
  using Chosen = std::function<void(int threads, double without, double with)>;

  /// `most`: threads that there may be. `chosen` is called once, when they pay.
  ThreadChoice(int most, Chosen chosen) : most_(most), chosen_(std::move(chosen)) {}

  void begin(CoupledSystem& system, const RunSettings& settings) override;
  void after_step(CoupledSystem& system, Time from, Time to) override;
  void end(const RunSummary& /*summary*/) override { phase_ = Phase::Decided; }

 private:
  enum class Phase : std::uint8_t { Warming, Alone, Together, Decided };
  using Clock = std::chrono::steady_clock;

  /// True when the window that is measured has been long enough.
  bool is_measured();
  void open_window(Phase phase);
  /// The least number of threads with which the subsystems could be as fast as with any.
  int useful_threads(CoupledSystem& system, double macro_step) const;

  int most_;
  Chosen chosen_;
  Phase phase_ = Phase::Decided;
  int windows_ = 0;  // of the phase, measured
  std::uint64_t steps_ = 0;
  Clock::time_point opened_{};
  double best_ = 0.0;     // seconds of a macro step, in the windows of the phase
  double without_ = 0.0;  // threads
  int threads_ = 1;
};

/// How many threads may be of use: one for each subsystem that computes in this process. 1 where only the user can know
/// whether it may be: two FMUs of one file share its code, and may share memory that was meant for one thread.
/// `fmus`: the file of each subsystem; empty = it is none.
int threads_allowed(const CoupledSystem& system, const std::vector<std::filesystem::path>& fmus);

}  // namespace entrain::running
