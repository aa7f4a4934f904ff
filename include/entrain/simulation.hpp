#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/extensions.hpp"
#include "entrain/run_summary.hpp"
#include "entrain/system_description.hpp"

namespace entrain {
namespace session {
class Session;
}
class Ranks;

/// A recordable signal, in the order of Sample::values.
struct Signal {
  std::string name;  ///< "subsystem.variable"
  std::string unit;
  std::string description;
  Causality causality = Causality::Output;
  std::size_t subsystem = 0;  ///< index into RunSummary::subsystems
  ValueType type = ValueType::Real;
  std::optional<std::size_t> discrete = std::nullopt;  ///< where Sample::discrete has it exactly
  std::vector<std::string> other_names = {};           ///< that it can be asked for by, as `name`
};

/// Bytes that passed from one terminal to another, at one instant.
struct Frame {
  Time t = 0.0;
  std::string from, to;  ///< "subsystem.variable"
  Binary bytes;
};

/// What is known at one communication time. Spans are valid during the call only.
struct Sample {
  Time t = 0.0;
  std::span<const double> values;               ///< one per signal; stale where Observer::Needs must ask for it
  std::span<const double> slopes;               ///< their time derivatives; NaN where unknown; empty unless asked for
  std::span<const unsigned char> communicated;  ///< per subsystem: did it reach a communication time at t?
  /// Per connection |input - output|, in the unit of the input; NaN where not both ends communicated at t; empty unless
  /// asked for.
  std::span<const double> differences = {};
  /// The signals that are no real numbers. Among `values` they are the nearest number, texts and bytes NaN.
  std::span<const Value> discrete = {};
  std::span<const Frame> frames = {};  ///< since the sample before
};

/// Watches a run. Borrowed by the simulation; must outlive it. What it throws ends the run as failed.
class ENTRAIN_API Observer {
 public:
  virtual ~Observer() = default;
  virtual void begin(std::span<const Signal>, const RunSummary&) {}
  virtual void communicated(const Sample& sample, const RunSummary& summary) = 0;
  /// The run has ended, also by a failure; the summary contains how. Once per end: a run restored from a checkpoint
  /// ends again.
  virtual void end(const RunSummary&) {}
  /// What costs extra calls of the subsystems at every communication time. Asked once, after begin.
  struct Needs {
    bool states = false;
    bool slopes = false;
    bool differences = false;
    bool discrete = false;                ///< signals that are no real numbers
    std::vector<std::size_t> inner = {};  ///< locals and parameters: indices of their signals

    /// What the signal with this index needs.
    void add(const Signal& signal, std::size_t index) {
      states = states || signal.causality == Causality::State;
      discrete = discrete || signal.discrete.has_value();
      if (signal.causality == Causality::Local || signal.causality == Causality::Parameter) inner.push_back(index);
    }
  };
  virtual Needs needs() const { return {}; }

  /// What it must know to go on in another process: part of a checkpoint file. Asked between macro steps.
  virtual std::vector<std::byte> memory() const { return {}; }
  /// Of a run continued from a checkpoint file, in place of the sample of the start: where it stands. What was reported
  /// up to here is not reported again. `memory`: of the observer in the same place of the saving simulation; empty =
  /// none.
  virtual void resume(const Sample&, const RunSummary&, std::span<const std::byte> /*memory*/) {}
};

struct Learned;
/// One line of what a subsystem logs, safe to be printed.
struct LogMessage {
  std::string subsystem;
  Time time = 0.0;       ///< at which it was called
  std::string category;  ///< its own word; may be empty
  std::string text;
};
/// May be called from any thread, several at once.
using LogHandler = std::function<void(const LogMessage&)>;

struct Logging {
  LogHandler handler = {};  ///< called with what the subsystems log, at once
  bool everything = false;  ///< FMUs are asked for all their categories, not for those of trouble alone
  /// Called again and again while a call takes long (call-takes-long), also when the subsystem is gone. Simulation sets
  /// it, for the note of its summary; what is to be printed goes to a LongCallWatch (entrain/watchdog.hpp).
  std::function<void(const Fact&)> long_call = {};
  /// Asked while a call of an isolated subsystem lasts: true ends the process that it is in, and with it the run.
  /// Simulation sets it.
  std::function<bool()> interrupted = {};
  /// Called when a subsystem fails while it is released, when its run is over: it threw, or its process ended.
  std::function<void(const Error&)> failed_at_end = {};
};

struct RunOptions {
  int threads = 1;  ///< 0 = as many as pay, by the times of the first steps (docs/adr/0118); the results are the same
  /// Checked once per macro step; set it (from a signal handler, another thread) to end the run as interrupted.
  const std::atomic<bool>* interrupt = nullptr;
  /// The same for threads; checked likewise.
  std::stop_token stop = {};
  /// Corrections from repeated runs (entrain/learning.hpp); the description must be with_learned. Copied.
  const Learned* learned = nullptr;
  Logging log = {};
  /// What FMUs claim is tried for everything that may be called (Simulation::checkpoint, slopes for an observer);
  /// false: for what the method and the system file use, and the rest counts as absent (Capabilities::tried).
  bool tries_everything = true;
  /// At the pace of the wall clock. Simulation takes it from the description where it is not set here.
  std::optional<RealTimeOptions> real_time = {};
  /// The processes that share the subsystems (entrain/ranks.hpp), all of which make the same calls; null = this one.
  Ranks* ranks = nullptr;
};

/// What a checkpoint file contains about itself.
struct CheckpointInfo {
  std::string version;      ///< of Entrain, that wrote it
  std::string name;         ///< of the system
  std::string system_file;  ///< the system as it was run, as the text of a system file with absolute paths
  std::string directory;    ///< of the results; empty = not known
  Time time = 0.0;
};
/// Throws Error{FileFailed} for a file that is no checkpoint, is damaged or was written by another version.
ENTRAIN_API CheckpointInfo read_checkpoint_info(const std::filesystem::path& file);

/// A coupled system that can be run, looked at between its macro steps, and run again. Construction checks everything
/// and throws Error with all problems.
class ENTRAIN_API Simulation {
 public:
  explicit Simulation(const SystemDescription& description, RunOptions options = {}, const Extensions& extensions = {});
  ~Simulation();
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;

  void observe(Observer& observer);

  /// Runs to the stop time. Never throws for a failing run: the summary contains how it ended.
  const RunSummary& run();
  /// Runs to the first communication time at or after `t`; may be called again.
  const RunSummary& run_until(Time t);
  /// One macro step; of a run that has not begun, its start alone. What counts and measures in the summary is refreshed
  /// by run_until and at the end only; `reached` and `termination` always are.
  const RunSummary& advance();

  /// "subsystem.variable" has this value from now on: an input that no output feeds, or a tunable parameter. Between
  /// macro steps: between two calls of run_until, or inside Observer::communicated. Before the run it is a start value,
  /// of any parameter. What is set during the run is kept in RunSummary::changes and is part of a checkpoint.
  /// Throws Error{InvalidSystem} for what is not there, cannot be set or does not fit; then nothing has changed.
  void set(std::string_view variable, const Value& value);

  /// Back to before the start; values set before the run are kept, others are not. Subsystems that cannot be reset are
  /// made anew, which Error{MissingCapability} refuses for those that exist once per process. Observers stay and are
  /// notified of the next run; checkpoints of this simulation must not be used any more.
  void reset();

  /// Ends the run as failed while the thread that runs it stands still inside a subsystem: for the handler of a
  /// Watchdog, and from there only. Observers are notified; what is recorded so far is kept.
  const RunSummary& abandon(const Error& fault);

  const RunSummary& summary() const noexcept;
  const std::vector<Signal>& signals() const noexcept;
  /// The latest value of "subsystem.variable"; throws Error{InvalidSystem} for an unknown name.
  double value(std::string_view signal) const;

  /// Everything a later `restore` needs: subsystems, signals, memory of the method.
  /// Needs rollback in every subsystem (else Error{MissingCapability}); must not outlive the simulation.
  class Checkpoint;
  std::shared_ptr<const Checkpoint> checkpoint();
  void restore(const Checkpoint& checkpoint);

  /// Throws Error{MissingCapability} that names every subsystem whose state cannot be written to a file
  /// (Rollback::can_serialize).
  void require_serialization() const;
  /// Writes a checkpoint file, from which another process goes on to the same bits (docs/checkpoints.md). Between macro
  /// steps: between two calls of run_until, inside Observer::communicated, or after an interruption. The file is
  /// replaced in one go. `directory`: of the results of this run, which a resumed one will name.
  /// Throws as require_serialization does, and Error{FileFailed}.
  void save(const std::filesystem::path& file, const std::string& directory = {});
  /// Before the run: goes on at the time of the file. Observers receive `begin` and `resume`; then call run or
  /// run_until. Throws Error{FileFailed} for a file that cannot be read or is damaged, Error{InvalidSystem} for one of
  /// another system, of other FMU or CSV files or of another version, with what differs; then nothing has happened. A
  /// subsystem that fails ends the run as failed.
  void resume(const std::filesystem::path& file);
  /// Throws what `resume` would throw, and does nothing else.
  void check_resume(const std::filesystem::path& file) const;

  /// What it is made of, for the engine itself; no public header declares more.
  session::Session& session();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace entrain
