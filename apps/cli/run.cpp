#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <vector>

#include "cli/common.hpp"
#include "cli/progress.hpp"
#include "cli/system_arguments.hpp"
#include "cli/text_report.hpp"
#include "entrain/entrain.hpp"
#include "entrain/text.hpp"

namespace entrain::cli {
namespace {

/// Checkpoint files of a run: written during the run, and continued from.
struct CheckpointArguments {
  std::optional<std::string> file;
  std::optional<double> every;  ///< simulated s; empty = at the end alone
  std::optional<std::string> resumed;
  bool append = false;

  /// --checkpoint, --every, --resume, --append.
  void add(CLI::App& command);
  CheckpointOptions options() const;
};

void CheckpointArguments::add(CLI::App& command) {
  auto* written =
      command.add_option("--checkpoint", file, "Write a file from which the run can be continued")->type_name("FILE");
  command.add_option("--every", every, "Simulated seconds between checkpoints (default: one at the end)")
      ->type_name("T")
      ->check(positive_number())
      ->needs(written);
  auto* from = command.add_option("--resume", resumed, "Go on from a checkpoint file; SYSTEM may be left out")
                   ->type_name("FILE");
  command.add_flag("--append", append, "Go on in the results of the run that wrote the checkpoint")
      ->needs(from)
      ->excludes("--out");
}

CheckpointOptions CheckpointArguments::options() const {
  CheckpointOptions options;
  if (file) options.file = *file;
  options.every = every;
  if (resumed) options.resume = *resumed;
  options.append = append;
  return options;
}

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

/// With the method, step and options of the correction; others on the command line are an error.
SystemDescription corrected(SystemDescription description, const RunArguments& arguments, const Learned& learned) {
  SystemDescription asked;
  asked.method.value = learnable_method();
  for (const auto& assignment : arguments.options) apply_option(asked, assignment);
  auto problems = contradictions(learned, {arguments.method, arguments.step, asked.method_options[learnable_method()]});
  if (!problems.empty()) throw Error(std::move(problems));
  return with_learned(std::move(description), learned);
}

/// A signal to watch that is none.
struct WrongSignals : std::exception {
  explicit WrongSignals(std::vector<Problem> of) : problems(std::move(of)) {}
  std::vector<Problem> problems;
};

/// Of a run to its end: may it be trusted, and why.
std::string verdict_line(const Verdict& verdict) {
  return fmt::format("verdict: {}{}\n", verdict.headline,
                     verdict.reasons.empty() ? std::string() : ". " + render(verdict.reasons.front()));
}

void report_end(const RunArguments& arguments, const RunResult& result) {
  const RunSummary& summary = result.summary;
  const bool completed = summary.termination == Termination::Completed;
  if (!completed) {
    const auto reason = summary.message.empty() ? std::string(to_string(summary.termination)) : summary.message;
    print_error(reason);
    print_error(fmt::format("{}; the results up to t = {} s are in {}", to_string(summary.termination),
                            short_number(summary.reached), result.folder.string()));
  }
  if (arguments.json) {
    print(summary_json(summary, result.recorded));
  } else if (!arguments.quiet) {
    print(brief_summary(summary, stdout_style()));
    if (completed) print(verdict_line(*result.verdict) + fmt::format("results: {}\n", result.results.string()));
  }
}

/// What is printed as the run goes on. Borrows both.
RunProgress printed(const RunArguments& arguments, const Watch& watch) {
  RunProgress progress;
  progress.prepared = [&](const Simulation& simulation) {
    if (auto problems = watch.problems(simulation.signals()); !problems.empty()) {
      throw WrongSignals(std::move(problems));
    }
  };
  progress.ended = [&](const RunResult& result) {
    report_end(arguments, result);
    if (result.abandoned) {
      std::fflush(stdout);
      return;
    }
    for (const auto& line : watch.lines()) print(line + '\n');
  };
  progress.written = [&](const RunResult& result) {
    if (result.report.empty() || arguments.quiet || arguments.json) return;
    print(fmt::format("report: {}\n", result.report.string()));
  };
  progress.failed_at_release = [](const Error& fault, const RunResult& result) {
    print_error(fault.what());
    print_error(fmt::format("that was after the run; its results are in {}", result.folder.string()));
  };
  return progress;
}

int run(const RunArguments& arguments) {
  if (arguments.report) require_pages();
  const auto& resumed = arguments.checkpoint.resumed;
  auto description =
      arguments.system.empty() ? arguments.changed(checkpointed_system(*resumed)) : arguments.described();
  RunDirectoryOptions options;
  std::optional<Learned> learned;
  if (arguments.learned) {
    learned = read_learned(*arguments.learned);
    description = corrected(std::move(description), arguments, *learned);
    options.note = "corrected by --learned " + *arguments.learned;
  }
  Watch watch(arguments.watched);
  Progress progress(watch);
  options.run.threads = arguments.threads;
  options.run.interrupt = &catch_signals();
  options.run.learned = learned ? &*learned : nullptr;
  options.run.log.everything = arguments.verbose;
  if (arguments.verbose) options.run.log.handler = [](const LogMessage& message) { print_error(log_line(message)); };
  if (arguments.out) options.folder = *arguments.out;
  options.report = arguments.report;
  options.checkpoint = arguments.checkpoint.options();
  if (!arguments.quiet && !arguments.json) options.observers = {watch, progress};
  options.progress = printed(arguments, watch);
  try {
    const auto result = entrain::run(description, options);
    return result.summary.termination == Termination::Completed ? kDone : kFailed;
  } catch (const WrongSignals& wrong) {
    for (const auto& problem : wrong.problems) print_error(to_string(problem));
    return kWrongUsage;
  }
}

}  // namespace

Command add_run(CLI::App& program) {
  auto* command = add_subcommand(program, "run", "Run a system and write its results",
                                 "entrain run examples/mechanical --method gauss-seidel --step 1e-4");
  const auto arguments = std::make_shared<RunArguments>();
  arguments->add_system(*command);
  arguments->add_method(*command);
  command->get_option("SYSTEM")->required(false);
  command->parse_complete_callback([given = arguments.get()] {
    if (given->system.empty() && !given->checkpoint.resumed) throw CLI::RequiredError("SYSTEM");
  });
  command
      ->add_option("--learned", arguments->learned, "Corrections from 'entrain learn' (its method and step are used)")
      ->type_name("FILE");
  command->add_option("--out", arguments->out, "Folder for the results (default: runs/NAME-N)")->type_name("DIR");
  arguments->checkpoint.add(*command);
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
