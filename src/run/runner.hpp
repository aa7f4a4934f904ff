#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/bytes.hpp"
#include "entrain/coupled_system.hpp"
#include "entrain/method.hpp"
#include "entrain/simulation.hpp"
#include "run/constraint_forces.hpp"
#include "run/control_hook.hpp"
#include "run/correction_schedule.hpp"
#include "run/coupling_residual.hpp"
#include "run/drift_monitor.hpp"
#include "run/energy_monitor.hpp"
#include "run/inner_reader.hpp"
#include "run/pacer.hpp"
#include "run/recordable.hpp"
#include "run/step_watcher.hpp"

namespace entrain::running {

/// The loop: initialises, lets the method advance, notifies the observers, keeps the summary true.
class Runner {
 public:
  /// `summary` comes with what is known before the run (names, parameters). Borrows system, method and interrupt.
  /// `threads` are those that the subsystems share.
  Runner(CoupledSystem& system, Method& method, const RunSettings& settings, RunSummary summary,
         const std::atomic<bool>* interrupt, int threads);
  /// Ends the run as interrupted, like `interrupt`.
  void stop_on(std::stop_token stop) { stop_ = std::move(stop); }

  void observe(Observer& observer) { observers_.push_back(&observer); }
  /// Called between macro steps, before the observers; borrowed.
  void watch(StepWatcher& watcher) { watchers_.push_back(&watcher); }
  /// Before every macro step, what the inputs are corrected by; borrowed, null = nothing.
  void correct(CorrectionSchedule* corrections) { corrections_ = corrections; }
  /// Integrals that both sides of a connection keep are brought together.
  void correct_drift() { drift_.correct(); }
  /// Rigid connections, whose forces are found before every macro step.
  void constrain(std::vector<coupling::Constraint> constraints) { constraints_.set(std::move(constraints)); }
  /// At the pace of the wall clock.
  void pace(const RealTimeOptions& options) {
    pacer_.emplace(options, [this] { return is_interrupted(); });
  }
  /// Attended to between macro steps; borrowed, null = nothing.
  void control(ControlHook* hook) { control_ = hook; }
  /// It was asked to end from outside: looked at between macro steps.
  bool is_interrupted() const;
  /// To the first communication time at or after `t`. Ends the run (and notifies the observers) at the stop time, on
  /// failure and on interruption.
  void run_until(Time t);
  /// The start of the run, or else one macro step.
  void advance();

  /// Ends a run that is under way as failed, from another thread: see Simulation::abandon.
  void abandon(const Error& fault);

  /// A call of run_until or resume is under way: an observer asks.
  bool is_inside() const { return inside_; }
  /// The subsystems are initialised and the method has started.
  bool is_initialized() const { return initialized_; }

  const RunSummary& summary() const { return summary_; }
  const std::vector<Signal>& signals() const { return recordable_.signals; }
  double value(std::size_t signal);
  /// The latest values of these signals, inside a run too; NaN for those that are inside a subsystem.
  void read(std::span<const std::size_t> signals, std::span<double> values);

  /// Something that was found out before the run: among the notes or the warnings of the summary.
  void note(Fact fact);
  /// From now on so many threads share the subsystems.
  void share(int threads) { threads_ = threads; }
  /// A value was set by the program at the time reached.
  void note_change(ValueChange change);

  struct Position {
    CoupledSystem::Saved system;
    MethodMemory method;
    CouplingResidual residual;
    EnergyMonitor energy;
    DriftMonitor::Memory drift;
    ConstraintForces::Memory constraints;
    RunSummary summary;
  };
  Position position();
  void restore(const Position& position);

  /// The same for another process, what the observers remember included.
  base::Bytes save();
  /// In place of the start; `set_values` is called between the initialization and the restored state.
  void resume(std::span<const std::byte> bytes, ResumedFrom from, const std::function<void()>& set_values);

 private:
  void begin();
  void initialize();
  Sample sample();
  enum class Steps { All, One };
  void advance_while_before(Time t, Steps steps);
  void proceed(Time t, Steps steps);
  [[gnu::noinline]] bool attend();
  void notify_observers();
  void correct_inputs();
  void deliver_corrections();
  void note_macro_step(Duration size);
  void fill_sample_values();
  void fill_slopes();
  void exchange_discrete();
  void pass_scenario();
  bool is_plain() const;
  [[gnu::noinline]] bool waits_for_others();
  [[gnu::noinline]] void prepare_step();
  [[gnu::noinline]] void follow_step(Time before);
  void follow_corrections();
  void pass_instant();
  void collect_warnings();
  void finish(Termination termination, std::string message);
  void fail(const std::exception& error);
  void refresh_summary();
  void refresh_residuals();
  void limit_seconds();
  void note_real_time();
  void note_scenario();

  CoupledSystem& system_;
  Method& method_;
  RunSettings settings_;
  RunSummary summary_;
  const std::atomic<bool>* interrupt_;
  std::stop_token stop_;
  bool inside_ = false;
  bool initialized_ = false;
  int threads_;
  CouplingResidual residual_;
  EnergyMonitor energy_;
  DriftMonitor drift_;
  ConstraintForces constraints_;
  std::vector<double> own_corrections_;  // by input, of drift and constraints; empty = there are none
  CorrectionSchedule* corrections_ = nullptr;
  ControlHook* control_ = nullptr;
  std::optional<Pacer> pacer_;
  std::vector<Observer*> observers_;
  std::vector<StepWatcher*> watchers_;
  Observer::Needs needs_;
  Recordable recordable_;
  InnerReader inner_;
  std::vector<double> values_, slopes_, states_, differences_;
  std::vector<unsigned char> communicated_;
  std::vector<Frame> frames_;
  std::uint64_t frame_count_ = 0;
  std::chrono::steady_clock::time_point resumed_;
  double seconds_before_ = 0.0;
};

}  // namespace entrain::running
