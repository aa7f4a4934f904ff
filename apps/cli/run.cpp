#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/printable.hpp"
#include "cli/checkpoints.hpp"
#include "cli/common.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/system_arguments.hpp"
#include "description/record_formats.hpp"
#include "description/system_file.hpp"
#include "entrain/entrain.hpp"
#include "entrain/learning.hpp"
#include "facade/learned.hpp"
#include "facade/resolve.hpp"
#include "report/learned_json.hpp"
#include "report/page.hpp"
#include "report/run_page.hpp"
#include "report/steps_json.hpp"
#include "report/summary_json.hpp"
#include "report/verdict.hpp"
#include "results/log_file.hpp"
#include "results/recorder.hpp"
#include "results/replace_file.hpp"
#include "results/run_directory.hpp"
#include "results/selection.hpp"
#include "results/step_history.hpp"

namespace entrain::cli {
namespace {

struct RunArguments : SystemArguments {
  std::optional<std::string> learned;
  std::optional<std::string> out;
  int threads = 1;
  bool json = false;
  bool quiet = false;
  bool report = false;
  std::vector<std::string> watched;
  bool verbose = false;
  CheckpointArguments checkpoint;
};

/// The folder of the results; that of the run before where they are to be continued.
std::filesystem::path results_folder(const RunArguments& arguments, const std::string& name,
                                     const std::optional<CheckpointInfo>& before) {
  if (!arguments.checkpoint.append) return make_run_directory(name, arguments.out);
  if (std::filesystem::is_directory(before->directory)) return before->directory;
  throw Error(ErrorCode::FileFailed,
              fmt::format("the results of the checkpoint '{}' are no longer in '{}'", *arguments.checkpoint.resumed,
                          before->directory),
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Leave --append away"});
}

/// With the method, step and options of the correction; whoever asks for others on the command line is told.
SystemDescription corrected(SystemDescription description, const RunArguments& arguments, const Learned& learned) {
  SystemDescription asked;
  asked.method.value = learnable_method();
  for (const auto& assignment : arguments.options) apply_option(asked, assignment);
  auto problems = contradictions(learned, {arguments.method, arguments.step, asked.method_options[learnable_method()]});
  if (!problems.empty()) throw Error(std::move(problems));
  return with_learned(std::move(description), learned);
}

/// The files of a run besides its results: run.json, at its start and at its end, and steps.json at its end.
class RunFiles : public StepHistory {
 public:
  RunFiles(std::filesystem::path folder, std::filesystem::path results, std::vector<Signal> recorded)
      : folder_(std::move(folder)), results_(std::move(results)), recorded_(std::move(recorded)) {}

  const std::filesystem::path& folder() const { return folder_; }
  const std::filesystem::path& results() const { return results_; }
  std::string json(const RunSummary& summary) const { return summary_json(summary, recorded_); }

  void begin(std::span<const Signal> signals, const RunSummary& summary) override {
    StepHistory::begin(signals, summary);
    std::filesystem::remove(folder_ / "steps.json");  // of an earlier run into this folder
    write_summary(folder_ / "run.json", summary, recorded_);
  }
  void write(const RunSummary& summary) const {
    write_summary(folder_ / "run.json", summary, recorded_);
    write_steps(folder_ / "steps.json", *this, summary);
  }

 private:
  std::filesystem::path folder_;
  std::filesystem::path results_;
  std::vector<Signal> recorded_;
};

std::vector<Signal> recorded_signals(const Simulation& simulation, const SystemDescription& description) {
  std::vector<Signal> recorded;
  for (const auto index : select_signals(simulation.signals(), description.record.variables)) {
    recorded.push_back(simulation.signals()[index]);
  }
  return recorded;
}

/// What is really run: with every default, and a method in place of "auto".
SystemDescription really_run(SystemDescription description, const RunSummary& summary) {
  if (description.method.value != summary.method) {
    description.method = {summary.method, {"auto", 0, 0}};
    auto& options = description.method_options[summary.method];
    for (const auto& [name, value] : summary.parameters) options[name] = {value, {}};
  }
  return resolved(description);
}

/// Of a run to its end: may it be trusted, and why.
std::string verdict_line(const RunSummary& summary, const RunFiles& files) {
  using Json = nlohmann::ordered_json;
  const Verdict verdict =
      verdict_of(Json::parse(files.json(summary)), Json::parse(steps_json(files, summary)), {.samples = 1});
  return fmt::format("verdict: {}{}\n", verdict.headline,
                     verdict.reasons.empty() ? std::string() : ". " + verdict.reasons.front());
}

void report_end(const RunArguments& arguments, const RunSummary& summary, const RunFiles& files) {
  const bool completed = summary.termination == Termination::Completed;
  if (!completed) {
    const auto reason = summary.message.empty() ? std::string(to_string(summary.termination)) : summary.message;
    print_error(reason);
    print_error(fmt::format("{}; the results up to t = {} s are in {}", to_string(summary.termination),
                            short_number(summary.reached), files.folder().string()));
  }
  if (arguments.json) {
    print(files.json(summary));
  } else if (!arguments.quiet) {
    print(brief_summary(summary, stdout_style()));
    if (completed) print(verdict_line(summary, files) + fmt::format("results: {}\n", files.results().string()));
  }
}

void write_report(const RunArguments& arguments, const std::filesystem::path& folder) {
  replace_file(folder / "report.html", run_page(folder));
  if (!arguments.quiet && !arguments.json) {
    print(fmt::format("report: {}\n", (folder / "report.html").string()));
  }
}

int run(const RunArguments& arguments) {
  if (arguments.report) require_pages();
  std::optional<CheckpointInfo> before;
  if (arguments.checkpoint.resumed) before = read_checkpoint_info(*arguments.checkpoint.resumed);
  auto description = arguments.system.empty() ? arguments.changed(described_by(*before)) : arguments.described();
  std::optional<Learned> learned;
  if (arguments.learned) {
    learned = read_learned(*arguments.learned);
    description = corrected(std::move(description), arguments, *learned);
  }
  std::optional<LogFile> log_file;  // its folder is made once the system is known to be sound
  const auto log = [&](const LogMessage& message) {
    if (log_file) log_file->add(message);
    if (arguments.verbose) print_error(log_line(message));
  };
  std::optional<Simulation> simulation;
  simulation.emplace(description, RunOptions{.threads = arguments.threads,
                                             .interrupt = &catch_signals(),
                                             .learned = learned ? &*learned : nullptr,
                                             .log = {log, arguments.verbose}});
  const auto recorded = recorded_signals(*simulation, description);
  Watch watch(arguments.watched);
  if (const auto problems = watch.problems(simulation->signals()); !problems.empty()) {
    for (const auto& problem : problems) print_error(to_string(problem));
    return kWrongUsage;
  }
  arguments.checkpoint.check(*simulation);
  const auto folder = results_folder(arguments, description.name, before);
  CheckpointWriter checkpoints(*simulation, arguments.checkpoint, std::filesystem::absolute(folder).string());
  log_file.emplace(folder / "fmu.log");
  replace_file(folder / "system.resolved.toml",
               (learned ? fmt::format("# corrected by --learned {}\n", printable(*arguments.learned)) : std::string()) +
                   write_system(really_run(description, simulation->summary())));
  const std::string format = description.record.format ? description.record.format->value : std::string(kCsvFormat);
  RunFiles files(folder, folder / results_file_name(format), recorded);
  Recorder recorder(arguments.checkpoint.append ? continued_results_file(format, files.results())
                                                : make_results_file(format, files.results()),
                    description.record);
  Progress progress(watch);
  simulation->observe(files);
  simulation->observe(recorder);
  if (!arguments.quiet && !arguments.json) {
    simulation->observe(watch);
    simulation->observe(progress);
  }
  simulation->observe(checkpoints);
  const RunSummary summary = [&] {
    const Watchdog watchdog([&](const Error& fault) {
      const auto& abandoned = simulation->abandon(fault);
      files.write(abandoned);  // first: a lock that the FMU holds may stop what is printed
      report_end(arguments, abandoned, files);
      std::fflush(stdout);
    });
    if (before) simulation->resume(*arguments.checkpoint.resumed);
    simulation->run();
    checkpoints.write_last(simulation->summary(), catch_signals());
    return simulation->summary();
  }();
  report_end(arguments, summary, files);
  for (const auto& line : watch.lines()) print(line + '\n');
  // Last, because it can fail too, when the disk is full; what happened has been told by then.
  files.write(summary);
  if (arguments.report) write_report(arguments, folder);
  const Watchdog watchdog([&](const Error& fault) {
    print_error(fault.what());
    print_error(fmt::format("that was after the run; its results are in {}", folder.string()));
  });
  simulation.reset();
  return summary.termination == Termination::Completed ? kDone : kFailed;
}

}  // namespace

Command add_run(CLI::App& program) {
  auto* command = add_subcommand(program, "run", "Run a system and write its results",
                                 "entrain run examples/mechanical --method gauss-seidel --step 1e-4");
  const auto arguments = std::make_shared<RunArguments>();
  arguments->add_system(*command);
  arguments->add_method(*command);
  arguments->checkpoint.add(*command);
  command->get_option("SYSTEM")->required(false);
  command->parse_complete_callback([given = arguments.get()] {
    if (given->system.empty() && !given->checkpoint.resumed) throw CLI::RequiredError("SYSTEM");
  });
  command
      ->add_option("--learned", arguments->learned, "Corrections from 'entrain learn' (its method and step are used)")
      ->type_name("FILE");
  command->add_option("--out", arguments->out, "Folder for the results (default: runs/NAME-N)")->type_name("DIR");
  command->add_option("--threads", arguments->threads, "Threads; the results do not depend on them")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  command->add_option("--watch", arguments->watched, "Show the course of a signal; may be repeated")
      ->type_name("SUB.VAR")
      ->allow_extra_args(false);
  command->add_flag("--report", arguments->report, "Write report.html, a page to look at");
  command->add_flag("--json", arguments->json, "Print run.json and nothing else");
  command->add_flag("--quiet", arguments->quiet, "Print nothing but errors");
  command->add_flag("--verbose", arguments->verbose, "Print what FMUs log, at once; it is kept in fmu.log anyway");
  return {command, [arguments] { return run(*arguments); }};
}

}  // namespace entrain::cli
