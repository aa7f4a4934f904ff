#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/simulation.hpp"
#include "entrain/verdict.hpp"

namespace entrain {

/// A run that left its files in a folder.
struct RunResult {
  RunSummary summary;
  SystemDescription system;  ///< as it was really run: with every default, a method and a step in place of "auto"
  ErrorEstimate estimate;    ///< of every output that is connected or recorded
  Verdict verdict;           ///< once the errors are estimated
  std::filesystem::path folder;
  std::filesystem::path results;       ///< results.csv, .h5 or .mat
  std::optional<Time> recorded_until;  ///< time of the last row that the results really contain; nullopt = none
  std::filesystem::path report;        ///< report.html; empty when it was not asked for
  std::vector<Signal> recorded;        ///< the signals in the results, in their order
  bool abandoned = false;              ///< an FMU crashed or hung, and the process ends: see Watchdog
  /// What subsystems did wrong while they were released, after the run; a warning of the summary, too.
  std::optional<Error> failed_at_end;
};

/// Called in the course of a run into a folder; each function may be empty.
struct RunProgress {
  /// The system is sound and nothing is written yet. What it throws ends the run before it began.
  std::function<void(const Simulation&)> prepared = {};
  /// Something to know before the run, of a paced one: a note or a warning, which is in the summary too.
  std::function<void(const Fact&)> warned = {};
  /// The folder of the run is there, and its first step is about to be made.
  std::function<void(const RunResult&)> begun = {};
  /// The run has ended, also by a failure; the summary is about to be written, and there is no verdict yet. Of an
  /// abandoned run it is written already, and the function is called on the thread of the Watchdog.
  std::function<void(const RunResult&)> ended = {};
  /// The files of the run are final, its subsystems gone; its error is being estimated, and this part is done.
  std::function<void(double fraction)> estimating = {};
  /// All files are written, the verdict with them. When an FMU crashed or hung while the error was estimated, called on
  /// the thread of the Watchdog.
  std::function<void(const RunResult&)> written = {};
  /// An FMU crashed or hung while it was released. The process ends: see Watchdog.
  std::function<void(const Error&, const RunResult&)> failed_at_release = {};
};

/// Checkpoint files of a run: written during the run, and continued from (docs/checkpoints.md).
struct CheckpointOptions {
  /// Written at the first communication time at or after each multiple of `every` since the start; without `every`, at
  /// the end of the run. On interruption in both cases.
  std::optional<std::filesystem::path> file = {};
  std::optional<Duration> every = {};
  std::optional<std::filesystem::path> resume = {};  ///< go on from here
  bool append = false;                               ///< in the folder of the run that wrote it
};

struct RunDirectoryOptions {
  RunOptions run = {};                               ///< a log handler is called besides fmu.log
  std::optional<std::filesystem::path> folder = {};  ///< made if need be; nullopt = the first free runs/NAME-N
  /// A folder that contains a run is refused; with this all files of that run are removed first.
  bool overwrite = false;
  /// What FMUs write to the standard streams of the process goes to fmu.log. For a program that prints to copies of
  /// them.
  bool capture_streams = false;
  bool report = false;      ///< write report.html
  bool results = true;      ///< write the results; without, an observer keeps them, and write_results can do it later
  bool calls = false;       ///< write calls.csv: steps and trials of every subsystem with the inputs that they got
  bool estimate = true;     ///< the errors, by further runs if need be, and with them the grade
  std::string system = {};  ///< as it was named on the command line, for the command that a verdict proposes
  std::string arguments = {};  ///< the other arguments: "--method missiles"
  CheckpointOptions checkpoint = {};
  std::vector<std::reference_wrapper<Observer>> observers = {};  ///< after those that write the files
  RunProgress progress = {};
  std::string note = {};  ///< a line to stand at the head of system.resolved.toml, as a comment
  /// Watch over FMUs: when one crashes or hangs, the files are completed before the process ends.
  bool watchdog = true;
  /// The run can be controlled while it goes on (entrain/control.hpp), by a socket in its folder.
  bool control = true;
};

/// Runs a system as the program does and leaves in the folder: run.json (at the start and at the end), results,
/// steps.json, system.resolved.toml, fmu.log when a subsystem logs, calls.csv and report.html when asked for. When they
/// are final, the errors are estimated, which RunOptions::interrupt ends; the verdict goes into run.json. Never throws
/// for a failing run: the summary says how it ended. The folder is locked while it is written: a second run into it is
/// refused. Throws Error with every problem of the system, or Error{FileFailed}.
ENTRAIN_API RunResult run(const SystemDescription& description, const RunDirectoryOptions& options = {},
                          const Extensions& extensions = {});

/// One of the runs of `run_until_trusted`.
struct RunAttempt {
  int number = 1;
  RunRefinement refinement = {};  ///< what is changed of the system; nothing at first
  std::string method = {};        ///< in place of the one before, with its degree; empty = the same
};

struct MeetOptions {
  double budget = 50.0;                                 ///< steps of subsystems in all runs, relative to the first run
  std::function<void(const RunAttempt&)> attempt = {};  ///< called before each run; may be empty
};

/// Runs again with smaller steps, or with the method that the adviser offers where that takes fewer calls, in the same
/// folder, until the grade is trusted. The last run otherwise, with the
/// reason why there is no further one last in its verdict. Throws as `run`.
ENTRAIN_API RunResult run_until_trusted(SystemDescription description, RunDirectoryOptions options,
                                        const MeetOptions& meet = {}, const Extensions& extensions = {});

/// The system that a checkpoint file was written by. Throws Error{FileFailed}.
ENTRAIN_API SystemDescription checkpointed_system(const std::filesystem::path& checkpoint);

/// The folder of a run: `folder`, created if need be, or the first free `runs/NAME-N`. Two programs at once never get
/// the same new one. Throws Error{FileFailed}.
ENTRAIN_API std::filesystem::path make_run_directory(const std::string& system_name,
                                                     const std::optional<std::filesystem::path>& folder = {});

}  // namespace entrain
