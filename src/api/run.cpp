#include "entrain/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <utility>

#include "api/rehearsal.hpp"
#include "api/together.hpp"
#include "base/facts/error_record.hpp"
#include "base/file_error.hpp"
#include "base/printable.hpp"
#include "base/private_folder.hpp"
#include "base/process_state.hpp"
#include "base/quoting.hpp"
#include "base/replace_file.hpp"
#include "control/control_channel.hpp"
#include "coupling/engine.hpp"
#include "description/system_file.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/ranks.hpp"
#include "entrain/recording.hpp"
#include "entrain/report.hpp"
#include "entrain/system.hpp"
#include "entrain/watchdog.hpp"
#include "estimate/run_estimator.hpp"
#include "ranks/placement.hpp"
#include "ranks/rank_link.hpp"
#include "record/frame_file.hpp"
#include "record/log_file.hpp"
#include "record/results_file.hpp"
#include "record/run_folder.hpp"
#include "record/selection.hpp"
#include "record/step_history.hpp"
#include "record/stream_capture.hpp"
#include "report/steps_json.hpp"
#include "session/session.hpp"
#include "subsystem/traced.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;

/// The files of a run besides its results: run.json, at its start and at its end, steps.json and timeline.json at its
/// end. With `append` the files of the run before stay as they are until this one goes on.
class RunFiles : public recording::StepHistory {
 public:
  /// Borrows the result. `folder`: where an FMU that changes the working directory cannot move it.
  RunFiles(const RunResult& run, fs::path folder, bool append)
      : run_(run), folder_(std::move(folder)), summary_file_(folder_ / "run.json"), waits_(append) {}

  void begin(std::span<const Signal> signals, const RunSummary& summary) override {
    recording::StepHistory::begin(signals, summary);
    if (!waits_) write_summary(summary, nullptr);
    summary_file_.reserve();
  }
  void communicated(const Sample& sample, const RunSummary& summary) override {
    waits_ = false;
    recording::StepHistory::communicated(sample, summary);
  }
  /// Of the run as it ended. Without a verdict its grade is pending.
  void write(const Verdict* verdict) const {
    if (waits_ && run_.summary.termination == Termination::Failed) return;  // it was refused before it went on
    write_summary(run_.summary, verdict);
    try {
      base::replace_file(folder_ / "steps.json", reporting::steps_json(*this, run_.summary));
      base::replace_file(folder_ / "timeline.json", reporting::timeline_json(calls_, run_.summary));
    } catch (const Error&) {
      if (run_.summary.termination == Termination::Completed) throw;  // else a full disk has ended the run already
    }
  }
  /// Of a process that ends without destructors.
  void leave_nothing_behind() const { summary_file_.release(); }
  void write_verdict() const { write_summary(run_.summary, &run_.verdict); }
  /// Before the simulation is gone.
  void take_calls(const std::vector<coupling::CallLog::Call>& calls) {
    using Seconds = std::chrono::duration<double>;
    calls_.clear();
    coupling::CallLog::Clock::time_point first = coupling::CallLog::Clock::time_point::max();
    for (const auto& call : calls) first = std::min(first, call.begun);
    for (const auto& call : calls) {
      calls_.push_back({call.subsystem, call.batch, call.trial, call.from, call.size,
                        Seconds(call.begun - first).count(), Seconds(call.ended - first).count()});
    }
  }

 private:
  void write_summary(const RunSummary& summary, const Verdict* verdict) const {
    summary_file_.replace(summary_json(summary, run_.recorded, verdict, &run_.estimate));
  }

  const RunResult& run_;
  fs::path folder_;
  std::vector<reporting::TimedCall> calls_;
  mutable base::ReservedFile summary_file_;
  bool waits_;
};

std::vector<Signal> recorded_signals(const Simulation& simulation, const SystemDescription& description) {
  std::vector<Signal> recorded;
  for (const auto index : recording::select_signals(simulation.signals(), description.record.variables)) {
    recorded.push_back(simulation.signals()[index]);
  }
  return recorded;
}

template <class Function, class... Arguments>
void call_if_set(const Function& function, const Arguments&... arguments) {
  if (function) function(arguments...);
}

/// In the place of a recorder, where another rank records: the same calls of the subsystems, and no file.
class ShadowRecorder : public Observer {
 public:
  explicit ShadowRecorder(const RecordDescription& record) : record_(record) {}
  void begin(std::span<const Signal> signals, const RunSummary&) override {
    needs_ = {};
    for (const auto index : recording::select_signals(signals, record_.variables)) needs_.add(signals[index], index);
    needs_.slopes = record_.interval.has_value();
  }
  void communicated(const Sample&, const RunSummary&) override {}
  Needs needs() const override { return needs_; }

 private:
  const RecordDescription& record_;
  Needs needs_;
};

/// Writes the checkpoint file. To be observed last: what is recorded by then is part of it.
class CheckpointWriter : public Observer {
 public:
  /// Borrows the first two.
  CheckpointWriter(Simulation& simulation, const CheckpointOptions& options, std::string directory)
      : simulation_(simulation), options_(options), directory_(std::move(directory)) {}

  void communicated(const Sample& sample, const RunSummary& summary) override {
    if (!options_.file || !options_.every) return;
    const auto passed = multiples_until(sample.t, summary);
    if (passed <= written_) return;
    written_ = passed;
    write();
  }
  void resume(const Sample& sample, const RunSummary& summary, std::span<const std::byte>) override {
    if (options_.every) written_ = multiples_until(sample.t, summary);
  }
  /// After the run: where the user interrupted it, or where it ended if no interval was given.
  void write_last(const RunSummary& summary, bool interrupted) {
    const bool at_end = summary.termination == Termination::Completed && !options_.every;
    const bool by_user = summary.termination == Termination::Interrupted && interrupted;
    if (options_.file && (at_end || by_user)) write();
  }

 private:
  std::uint64_t multiples_until(Time t, const RunSummary& summary) const {
    constexpr double kTimeRounding = 1e-9;  // of the interval
    return static_cast<std::uint64_t>(std::floor((t - summary.start) / *options_.every + kTimeRounding));
  }
  void write() { simulation_.save(*options_.file, directory_); }

  Simulation& simulation_;
  const CheckpointOptions& options_;
  std::string directory_;
  std::uint64_t written_ = 0;  ///< multiples of the interval that have been passed
};

/// Throws Error where the run cannot be continued or written, before anything has happened.
void check_checkpoints(const CheckpointOptions& options, const Simulation& simulation, bool paced, bool writes) {
  if (paced && options.every) {
    throw Error(
        ErrorCode::InvalidSystem, {FactCode::CheckpointPaced},
        {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Leave --every out: one is written at the end"});
  }
  if (options.resume) simulation.check_resume(*options.resume);
  if (options.append && !options.resume) {
    throw Error(ErrorCode::InvalidSystem, {FactCode::NothingToAppendTo});
  }
  if (!options.file) return;
  simulation.require_serialization();
  if (!writes) return;
  std::error_code unknown;  // reported when the file is written
  if (fs::is_directory(*options.file, unknown)) throw base::file_error("create", *options.file, EISDIR);
  const auto folder = fs::absolute(*options.file).parent_path();
  if (!fs::is_directory(folder, unknown)) throw base::file_error("create", *options.file, ENOENT);
}

/// The folder of the run that wrote the checkpoint.
fs::path continued_folder(const fs::path& checkpoint) {
  const auto before = read_checkpoint_info(checkpoint);
  if (fs::is_directory(before.directory)) return before.directory;
  throw Error(ErrorCode::FileFailed, {FactCode::ResultsGone, {checkpoint.string(), before.directory}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Leave --append away"});
}

/// A checkpoint in the place of a file of the run would replace it.
void check_place(const fs::path& checkpoint, const RunResult& run) {
  const auto file = fs::absolute(checkpoint).lexically_normal();
  for (const auto& name : {run.results.filename(), fs::path("run.json"), fs::path("steps.json"),
                           fs::path("timeline.json"), fs::path("calls.csv"), fs::path("frames.csv"),
                           fs::path("fmu.log"), fs::path("system.resolved.toml"), fs::path("report.html")}) {
    if (file != fs::absolute(run.folder / name).lexically_normal()) continue;
    throw Error(ErrorCode::FileFailed, {FactCode::CheckpointIsRunFile, {file.string()}},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Choose another name"});
  }
}

/// A run that is continued takes the method and the step that were chosen for its beginning.
SystemDescription with_choice_of(SystemDescription description, const fs::path& checkpoint) {
  const auto before = checkpointed_system(checkpoint);
  description.method = before.method;
  description.method_options = before.method_options;
  description.step = before.step;
  return description;
}

/// A run into a folder, from the sound system to its last file.
class DirectoryRun {
 public:
  DirectoryRun(const SystemDescription& description, const RunDirectoryOptions& options, const Extensions& extensions)
      : description_(description), options_(options) {
    if (options.capture_streams) streams_.emplace();
    if (options.watchdog) process_.emplace();
    RunOptions run = options.run;
    const auto& checkpoint = options.checkpoint;
    run.tries_everything = run.tries_everything || checkpoint.file || checkpoint.resume;
    run.log.handler = [this](const LogMessage& message) {
      if (log_file_) log_file_->add(message);
      call_if_set(options_.run.log.handler, message);
    };
    run.log.failed_at_end = [this](const Error& error) {
      if (!result_.failed_at_end) result_.failed_at_end = error;
    };
    interrupt_ = run.interrupt;
    std::vector<Fact> found;
    if (run.ranks != nullptr) {
      found = api::agree(*run.ranks, description, extensions, run);
      interrupt_ = run.interrupt = &run.ranks->link().interrupt();
    }
    simulation_.emplace(description, run, extensions);
    if (is_shared()) tell_ranks(std::move(found));
    result_.recorded = recorded_signals(*simulation_, description);
    call_if_set(options.progress.prepared, *simulation_);
    real_time_ = run.real_time;
    if (!real_time_ && description.real_time) real_time_ = RealTimeOptions{.factor = description.real_time->value};
    check_checkpoints(options.checkpoint, *simulation_, real_time_.has_value(), is_first());
    if (real_time_ && !is_shared()) warn_of_pace(run, extensions);
    // With every default, and a method and a step in place of "auto".
    auto really = resolved(simulation_->session().description(), extensions);
    result_.system = really;
    make_folder(really);
    run.log = {};  // fmu.log is that of the run
    estimator_.emplace(std::move(really), std::move(run), extensions,
                       estimate::EstimateOptions{options.estimate, options.progress.estimating});
  }

  RunResult run() {
    const auto folder = fs::absolute(result_.folder);
    RunFiles files(result_, folder, options_.checkpoint.append);
    std::optional<Recorder> recorder;
    ShadowRecorder shadow(description_.record);
    if (options_.results && is_first()) {
      recorder.emplace(folder / result_.results.filename(), description_.record, options_.checkpoint.append);
      if (real_time_) recorder->never_wait();
    }
    recording::FrameFile frames(folder / "frames.csv");
    CheckpointWriter checkpoints(*simulation_, options_.checkpoint, folder.string());
    simulation_->observe(files);
    if (recorder) simulation_->observe(*recorder);
    if (options_.results && !is_first()) simulation_->observe(shadow);
    estimator_->watch(simulation_->session());
    simulation_->observe(estimator_->observer());
    for (Observer& observer : options_.observers) simulation_->observe(observer);
    simulation_->observe(frames);
    simulation_->observe(checkpoints);
    if (options_.calls && !is_shared()) trace_calls();
    if (options_.control && !is_shared()) open_control(folder);
    call_if_set(options_.progress.begun, result_);
    if (is_shared()) ranks()->link().restart_clock();
    result_.summary = run_watched(files, recorder, checkpoints);
    if (is_shared()) {
      result_.summary.ranks = api::rank_summaries(*ranks(), description_);
      if (!result_.summary.ranks.empty()) api::share_longest_call(*ranks(), result_.summary);
    }
    if (control_) control_->close(result_.summary);
    if (recorder) result_.recorded_until = recorder->recorded_until();
    if (recorder && recorder->dropped_rows() > 0) note_dropped(recorder->dropped_rows());
    call_if_set(options_.progress.ended, result_);
    // Last, because it can fail too, when the disk is full; what happened has been reported by then.
    const bool completed = write_files(files);
    release(files);
    if (completed) estimate_watched(files);
    if (options_.report && is_first()) write_report();
    call_if_set(options_.progress.written, result_);
    return std::move(result_);
  }

 private:
  Ranks* ranks() const { return options_.run.ranks; }
  /// Subsystems live in other processes, too.
  bool is_shared() const { return ranks() != nullptr && ranks()->size() > 1; }
  /// Of these, the one that writes and speaks.
  bool is_first() const { return ranks() == nullptr || ranks()->is_first(); }

  /// Where the subsystems are, and what was found about the ranks.
  void tell_ranks(std::vector<Fact> found) {
    auto& session = simulation_->session();
    const auto& link = ranks()->link();
    const int size = ranks()->size();
    session.note(
        {FactCode::RanksPlaced, {}, {{"ranks", size}, {"nodes", link.nodes().size()}, {"by", link.placement().by}}});
    const auto idle = ranks::idle_ranks(link.placement().ranks, size);
    if (!idle.empty()) {
      Fact fact{FactCode::RanksIdle, {}, {{"count", idle.size()}, {"ranks", size}}};
      for (const int rank : idle) fact.subjects.push_back(std::to_string(rank));
      session.note(std::move(fact));
    }
    for (auto& fact : found) {
      call_if_set(options_.progress.warned, fact);
      session.note(std::move(fact));
    }
  }

  /// Before the run: whether the pace can be kept.
  void warn_of_pace(RunOptions run, const Extensions& extensions) {
    run.real_time = real_time_;
    auto& session = simulation_->session();
    for (auto& fact : api::rehearse(session.description(), session.system(), run, extensions)) {
      call_if_set(options_.progress.warned, fact);
      session.note(std::move(fact));
    }
  }

  void note_dropped(std::uint64_t rows) {
    if (result_.summary.pacing) result_.summary.pacing->dropped_rows = rows;
    result_.summary.warnings.push_back({FactCode::RowsDropped, {}, {{"count", rows}}});
  }

  /// A run that cannot be controlled is a run all the same.
  void open_control(const fs::path& folder) {
    auto& session = simulation_->session();
    control::ControlledRun run;
    for (const auto& signal : session.signals()) run.signals.push_back(signal.name);
    run.outputs = session.system().graph().outputs();
    run.set = [&session](std::string_view variable, const Value& value) { session.set(variable, value); };
    run.read = [&session](std::span<const std::size_t> signals, std::span<double> values) {
      session.read(signals, values);
    };
    run.summary = [&session]() -> const RunSummary& { return session.summary(); };
    run.interrupted = [&session] { return session.is_interrupted(); };
    try {
      control_ = std::make_unique<control::ControlChannel>(folder, std::move(run));
      session.control(control_.get());
    } catch (const std::system_error& error) {
      session.note({FactCode::ControlUnavailable, {}, {{"why", error.code().message()}}});
    }
  }

  std::string_view format() const {
    return description_.record.format ? std::string_view(description_.record.format->value) : kCsvFormat;
  }

  /// Every subsystem gets its share of what fits into a page.
  void trace_calls() {
    constexpr std::size_t kMostRows = 8192;  // of calls.csv: one per call and input
    constexpr std::size_t kFewestCalls = 16;
    constexpr std::size_t kMostCalls = 4096;
    auto& executor = simulation_->session().system().engine().executor();
    std::size_t rows = 1;
    for (std::size_t s = 0; s < executor.size(); ++s) {
      rows += std::max<std::size_t>(1, executor.subsystem(SubsystemId{s}).variables().inputs.size());
    }
    calls_.assign(executor.size(), subsystem::TracedCalls(std::clamp(kMostRows / rows, kFewestCalls, kMostCalls)));
    for (std::size_t s = 0; s < executor.size(); ++s) {
      auto& participant = executor.of(SubsystemId{s});
      executor.divide_steps(SubsystemId{s}, 1);  // ends the short path of held inputs
      participant.subsystem = subsystem::traced(std::move(participant.subsystem), calls_[s]);
      if (participant.split != nullptr) participant.split = participant.subsystem->facets().split;
    }
  }

  void write_calls() {
    if (calls_.empty()) return;
    std::vector<const Subsystem*> subsystems;
    const auto& executor = simulation_->session().system().engine().executor();
    for (std::size_t s = 0; s < executor.size(); ++s) subsystems.push_back(&executor.subsystem(SubsystemId{s}));
    base::replace_file(fs::absolute(result_.folder) / "calls.csv", subsystem::calls_csv(subsystems, calls_));
  }

  /// True when the run is completed, and all its files are there.
  bool write_files(const RunFiles& files) {
    try {
      write_calls();
      if (result_.summary.termination == Termination::Completed) {
        files.write(nullptr);
        return true;
      }
    } catch (const Error& error) {  // a full disk at the very end is a failure like any other
      fail_late(result_.summary, error);
    }
    judge_result();
    files.write(&result_.verdict);
    return false;
  }

  static void fail_late(RunSummary& summary, const Error& error) {
    summary.termination = Termination::Failed;
    summary.message = error.what();
    summary.failure = error;
  }

  void make_folder(const SystemDescription& really) {
    const auto& checkpoint = options_.checkpoint;
    if (!is_first()) return make_shadow_folder();
    if (checkpoint.append && options_.folder) {
      throw Error(ErrorCode::InvalidSystem, {FactCode::AppendElsewhere});
    }
    result_.folder = checkpoint.append ? continued_folder(*checkpoint.resume)
                                       : make_run_directory(description_.name, options_.folder);
    result_.results = result_.folder / recording::results_file_name(format());
    lock_.emplace(result_.folder);
    if (checkpoint.file) check_place(*checkpoint.file, result_);
    if (!checkpoint.append && recording::contains_run(result_.folder)) make_empty();
    if (checkpoint.append) check_continued();
    log_file_.emplace(fs::absolute(result_.folder) / "fmu.log", checkpoint.append);
    if (streams_) streams_->into(fs::absolute(result_.folder) / "fmu.log");
    if (process_) process_->follow_streams();
    if (checkpoint.append) return;
    base::replace_file(result_.folder / "system.resolved.toml",
                       (options_.note.empty() ? std::string() : fmt::format("# {}\n", base::printable(options_.note))) +
                           system_text(really));
  }

  /// Of a rank that writes nothing to be kept.
  void make_shadow_folder() {
    shadow_folder_.emplace();
    result_.folder = shadow_folder_->content();
    result_.results = result_.folder / recording::results_file_name(format());
    log_file_.emplace(result_.folder / "fmu.log", false);
    if (streams_) streams_->into(result_.folder / "fmu.log");
    if (process_) process_->follow_streams();
  }

  void make_empty() const {
    if (!options_.overwrite) {
      throw Error(ErrorCode::FileFailed, {FactCode::RunFolderTaken, {result_.folder.string()}},
                  {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Add --overwrite, or choose another folder"});
    }
    recording::remove_run(result_.folder);
  }

  /// Before anything is written.
  void check_continued() const {
    recording::continued_results_file(format(), result_.results);
    std::error_code missing;
    if (fs::file_size(result_.results, missing) == 0 || missing) {
      throw base::file_error("go on in", result_.results, ENOENT);
    }
  }

  RunSummary run_watched(RunFiles& files, const std::optional<Recorder>& recorder, CheckpointWriter& checkpoints) {
    std::optional<Watchdog> watchdog;
    if (options_.watchdog) {
      watchdog.emplace([&](const Error& fault) {
        result_.summary = simulation_->abandon(fault);
        result_.abandoned = true;
        if (recorder) result_.recorded_until = recorder->recorded_until();
        judge_result();
        take_calls(files);
        files.write(&result_.verdict);  // first: a lock that the FMU holds may stop what is printed
        leave_nothing_behind(files);
        call_if_set(options_.progress.ended, result_);
      });
    }
    if (options_.checkpoint.resume) simulation_->resume(*options_.checkpoint.resume);
    simulation_->run();
    RunSummary summary = simulation_->summary();
    take_calls(files);
    try {
      checkpoints.write_last(summary, is_interrupted());
    } catch (const Error& error) {  // a full disk at the very end is a failure like any other
      fail_late(summary, error);
    }
    return summary;
  }

  void take_calls(RunFiles& files) {
    files.take_calls(simulation_->session().system().engine().executor().call_log().calls());
  }

  /// When the process ends without destructors.
  void leave_nothing_behind(const RunFiles& files) const {
    files.leave_nothing_behind();
    if (control_) control_->leave_nothing_behind();
    if (streams_) streams_->remove_if_empty();
  }

  /// By the user, not by a subsystem.
  bool is_interrupted() const {
    const auto* flag = interrupt_;
    if (control_ && control_->has_stopped_run()) return true;
    return options_.run.stop.stop_requested() || (flag != nullptr && flag->load());
  }

  void judge_result() {
    result_.verdict =
        judge(result_.summary, result_.estimate, {tolerances_of(description_), options_.system, options_.arguments});
  }

  /// When the files of the run are final and its subsystems are gone: nothing that happens here harms them.
  void estimate_watched(const RunFiles& files) {
    std::optional<Watchdog> watchdog;
    if (options_.watchdog) {
      watchdog.emplace([&](const Error& fault) {
        result_.estimate.reasons = {{FactCode::EstimateNotPossible, {}, {{"why", fault.what()}}}};
        result_.abandoned = true;
        judge_result();
        files.write_verdict();
        leave_nothing_behind(files);
        call_if_set(options_.progress.written, result_);
      });
    }
    result_.estimate = estimator_->estimate(result_.summary);
    judge_result();
    files.write_verdict();
  }

  void write_report() {
    entrain::report(result_.folder, result_.folder / "report.html");
    result_.report = result_.folder / "report.html";
  }

  void release(const RunFiles& files) {
    std::optional<Watchdog> watchdog;
    if (options_.watchdog) {
      watchdog.emplace([&](const Error& fault) {
        result_.failed_at_end = fault;
        note_end(files);
        leave_nothing_behind(files);
        call_if_set(options_.progress.failed_at_release, fault, result_);
      });
    }
    simulation_.reset();
    if (is_shared()) share_failed_end();
    if (result_.failed_at_end) note_end(files);
  }

  /// The first one that failed while it was released, in any of the processes.
  void share_failed_end() {
    std::optional<base::ErrorRecord> own;
    if (result_.failed_at_end) own.emplace(*result_.failed_at_end);
    try {
      for (const auto& bytes : ranks()->link().gather(base::to_bytes(own))) {
        std::optional<base::ErrorRecord> there;
        base::from_bytes(bytes, there);
        if (there && !result_.failed_at_end) result_.failed_at_end = there->error();
      }
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the ranks have parted, which was reported
    }
  }

  /// The files of the run are there already: one of them is written again.
  void note_end(const RunFiles& files) {
    const Error& error = *result_.failed_at_end;
    result_.summary.warnings.push_back(
        base::quoting({FactCode::FmuEndFailed, {error.context().subsystem}}, error, error.what()));
    const bool completed = result_.summary.termination == Termination::Completed;
    files.write(completed ? nullptr : &result_.verdict);
  }

  const SystemDescription& description_;
  const RunDirectoryOptions& options_;
  const std::atomic<bool>* interrupt_ = nullptr;
  std::optional<base::PrivateFolder> shadow_folder_;
  std::optional<recording::StreamCapture> streams_;  ///< lives longest: FMUs print to the end
  std::optional<base::ProcessState> process_;
  std::optional<recording::RunFolderLock> lock_;
  std::optional<recording::LogFile> log_file_;  ///< its folder is made once the system is known to be sound
  RunResult result_;
  std::optional<estimate::RunEstimator> estimator_;
  std::optional<RealTimeOptions> real_time_;
  std::vector<subsystem::TracedCalls> calls_;  ///< of each subsystem; empty = not asked for
  std::optional<Simulation> simulation_;
  std::unique_ptr<control::ControlChannel> control_;
};

}  // namespace

SystemDescription checkpointed_system(const fs::path& checkpoint) {
  const auto info = read_checkpoint_info(checkpoint);
  std::vector<Problem> problems;
  auto description = description::parse_system(info.system_file, "checkpoint", problems);
  if (!problems.empty()) throw Error(std::move(problems));
  description.name = info.name;
  return description;
}

RunResult run(const SystemDescription& description, const RunDirectoryOptions& options, const Extensions& extensions) {
  if (options.report) require_pages();
  const bool chosen_before = options.checkpoint.resume && description.method.value == default_method();
  if (!chosen_before) return DirectoryRun(description, options, extensions).run();
  const auto continued = with_choice_of(description, *options.checkpoint.resume);
  return DirectoryRun(continued, options, extensions).run();
}

}  // namespace entrain
