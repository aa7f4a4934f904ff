#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/long_calls.hpp"
#include "entrain/learning.hpp"
#include "entrain/simulation.hpp"
#include "run/changes.hpp"
#include "run/correction_schedule.hpp"
#include "run/runner.hpp"
#include "run/thread_choice.hpp"
#include "session/checkpoint_file.hpp"
#include "session/prepare.hpp"

namespace entrain::session {

/// What a Simulation is once its method is chosen: the prepared system, the values set in it, its corrections, its
/// runner, its observers, its checkpoints. The functions of the same name are explained there.
class Session {
 public:
  /// The method of the description is a real one. `choice`: why it was taken, if it was to be chosen.
  Session(SystemDescription description, RunOptions options, const Extensions& extensions,
          std::vector<Fact> choice = {});
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void observe(Observer& observer);
  /// Before the run: these communication times are met, whatever the method would choose (RunSettings::prescribed).
  void prescribe(std::vector<std::vector<Time>> times);
  /// From the next run on, and after every reset; borrowed.
  void watch(running::StepWatcher& watcher);
  /// Attended to between macro steps, from the next run on; borrowed, null = nothing.
  void control(running::ControlHook* hook);
  /// As Runner::note.
  void note(Fact fact) { runner_->note(std::move(fact)); }
  /// As Runner::read.
  void read(std::span<const std::size_t> signals, std::span<double> values) { runner_->read(signals, values); }
  /// It was asked to end from outside.
  bool is_interrupted() const { return runner_->is_interrupted(); }
  const SystemDescription& description() const { return description_; }
  CoupledSystem& system() { return *prepared_.system; }
  const Method& method() const { return *prepared_.method; }
  const RunSummary& run();
  const RunSummary& run_until(Time t);
  const RunSummary& advance();
  void set(std::string_view variable, const Value& value);
  void reset();
  const RunSummary& abandon(const Error& fault);

  const RunSummary& summary() const noexcept;
  const std::vector<Signal>& signals() const noexcept;
  double value(std::string_view signal) const;

  class Checkpoint;
  std::unique_ptr<const Checkpoint> checkpoint();
  void restore(const Checkpoint& checkpoint);

  void require_serialization() const;
  void save(const std::filesystem::path& file, const std::string& directory);
  void resume(const std::filesystem::path& file);
  void check_resume(const std::filesystem::path& file);

 private:
  const SystemIdentity& known_identity();
  CheckpointContent fitting_checkpoint(const std::filesystem::path& file);
  void make();
  void make_runner();
  int most_threads() const;
  bool can_be_reset();
  void note_longest_call();
  void forget_checkpoints() { checkpoints_hold_ = std::make_shared<const char>(); }
  /// Throws inside a run, where only observers can call.
  void require_outside(const char* what) const;
  std::optional<Value> start_of(SubsystemId s, std::size_t parameter) const;

  SystemDescription description_;
  Extensions extensions_;
  RunOptions options_;
  std::optional<Learned> learned_;
  std::vector<Fact> choice_;
  std::optional<running::ThreadChoice> thread_choice_;  // outlives the runner
  Prepared prepared_;
  std::optional<running::CorrectionSchedule> corrections_;
  std::optional<running::Changes> changes_;
  /// Checkpoints in memory belong to one run of one system.
  std::shared_ptr<const char> checkpoints_hold_ = std::make_shared<const char>();
  std::vector<Observer*> observers_;
  std::vector<running::StepWatcher*> watchers_;
  running::ControlHook* control_ = nullptr;
  std::unique_ptr<running::Runner> runner_;
  std::optional<SystemIdentity> identity_;                                              ///< once it was asked for
  std::shared_ptr<base::LongestCall> longest_ = std::make_shared<base::LongestCall>();  ///< of this run
};

/// A place to go back to, in memory.
class Session::Checkpoint {
 public:
  Checkpoint(CoupledSystem& system, running::Runner::Position position, running::Changes::InForce changes,
             std::weak_ptr<const char> held)
      : system_(system), position_(std::move(position)), changes_(std::move(changes)), held_(std::move(held)) {}
  ~Checkpoint() {
    if (is_held()) system_.release(position_.system);
  }
  /// The system is still there, and has not been reset.
  bool is_held() const { return !held_.expired(); }
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;
  const running::Runner::Position& position() const { return position_; }
  const running::Changes::InForce& changes() const { return changes_; }

 private:
  CoupledSystem& system_;
  running::Runner::Position position_;
  running::Changes::InForce changes_;
  std::weak_ptr<const char> held_;
};

}  // namespace entrain::session
