#include "entrain/run.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/printable.hpp"
#include "entrain/recording.hpp"
#include "entrain/report.hpp"
#include "entrain/system.hpp"
#include "entrain/watchdog.hpp"
#include "report/run_verdict.hpp"
#include "report/steps_json.hpp"
#include "results/log_file.hpp"
#include "results/replace_file.hpp"
#include "results/results_file.hpp"
#include "results/selection.hpp"
#include "results/step_history.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;

/// The files of a run besides its results: run.json, at its start and at its end, and steps.json at its end.
class RunFiles : public StepHistory {
 public:
  explicit RunFiles(const RunResult& run) : folder_(run.folder), recorded_(run.recorded) {}

  void begin(std::span<const Signal> signals, const RunSummary& summary) override {
    StepHistory::begin(signals, summary);
    fs::remove(folder_ / "steps.json");  // of an earlier run into this folder
    write_summary(summary);
  }
  void write(const RunSummary& summary) const {
    write_summary(summary);
    replace_file(folder_ / "steps.json", steps_json(*this, summary));
  }

 private:
  void write_summary(const RunSummary& summary) const {
    replace_file(folder_ / "run.json", summary_json(summary, recorded_));
  }

  const fs::path folder_;
  const std::vector<Signal>& recorded_;
};

std::vector<Signal> recorded_signals(const Simulation& simulation, const SystemDescription& description) {
  std::vector<Signal> recorded;
  for (const auto index : select_signals(simulation.signals(), description.record.variables)) {
    recorded.push_back(simulation.signals()[index]);
  }
  return recorded;
}

/// What is really run: with every default, and a method in place of "auto".
SystemDescription really_run(SystemDescription description, const RunSummary& summary, const Extensions& extensions) {
  if (description.method.value != summary.method) {
    description.method = {summary.method, {"auto", 0, 0}};
    auto& options = description.method_options[summary.method];
    for (const auto& [name, value] : summary.parameters) options[name] = {value, {}};
  }
  return resolved(description, extensions);
}

template <class Function, class... Arguments>
void tell(const Function& function, const Arguments&... arguments) {
  if (function) function(arguments...);
}

/// A run into a folder, from the sound system to its last file.
class DirectoryRun {
 public:
  DirectoryRun(const SystemDescription& description, const RunDirectoryOptions& options, const Extensions& extensions)
      : description_(description), options_(options) {
    RunOptions run = options.run;
    run.log.handler = [this](const LogMessage& message) {
      if (log_file_) log_file_->add(message);
      tell(options_.run.log.handler, message);
    };
    simulation_.emplace(description, run, extensions);
    result_.recorded = recorded_signals(*simulation_, description);
    tell(options.progress.prepared, *simulation_);
    make_folder(extensions);
  }

  RunResult run() {
    RunFiles files(result_);
    Recorder recorder(result_.results, description_.record);
    simulation_->observe(files);
    simulation_->observe(recorder);
    for (Observer& observer : options_.observers) simulation_->observe(observer);
    result_.summary = run_watched(files);
    result_.verdict = run_verdict(result_.summary, files);
    tell(options_.progress.ended, result_);
    // Last, because it can fail too, when the disk is full; what happened has been told by then.
    files.write(result_.summary);
    if (options_.report) write_report();
    tell(options_.progress.written, result_);
    release();
    return std::move(result_);
  }

 private:
  void make_folder(const Extensions& extensions) {
    result_.folder = make_run_directory(description_.name, options_.folder);
    log_file_.emplace(result_.folder / "fmu.log");
    replace_file(result_.folder / "system.resolved.toml",
                 (options_.note.empty() ? std::string() : fmt::format("# {}\n", printable(options_.note))) +
                     system_text(really_run(description_, simulation_->summary(), extensions)));
    const auto& format = description_.record.format;
    result_.results = result_.folder / results_file_name(format ? std::string_view(format->value) : kCsvFormat);
  }

  RunSummary run_watched(const RunFiles& files) {
    std::optional<Watchdog> watchdog;
    if (options_.watchdog) {
      watchdog.emplace([&](const Error& fault) {
        const auto& abandoned = simulation_->abandon(fault);
        files.write(abandoned);  // first: a lock that the FMU holds may stop what is printed
        result_.summary = abandoned;
        result_.abandoned = true;
        tell(options_.progress.ended, result_);
      });
    }
    return simulation_->run();
  }

  void write_report() {
    entrain::report(result_.folder, result_.folder / "report.html");
    result_.report = result_.folder / "report.html";
  }

  void release() {
    std::optional<Watchdog> watchdog;
    if (options_.watchdog) {
      watchdog.emplace([&](const Error& fault) { tell(options_.progress.failed_at_release, fault, result_); });
    }
    simulation_.reset();
  }

  const SystemDescription& description_;
  const RunDirectoryOptions& options_;
  std::optional<LogFile> log_file_;  ///< its folder is made once the system is known to be sound
  RunResult result_;
  std::optional<Simulation> simulation_;
};

}  // namespace

RunResult run(const SystemDescription& description, const RunDirectoryOptions& options, const Extensions& extensions) {
  if (options.report) require_pages();
  return DirectoryRun(description, options, extensions).run();
}

}  // namespace entrain
