#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <vector>

#include "cli/common.hpp"
#include "cli/pace_arguments.hpp"
#include "cli/progress.hpp"
#include "cli/supervisor.hpp"
#include "cli/system_arguments.hpp"
#include "cli/text_report.hpp"
#include "cli/usage.hpp"
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
      ->transform(time_in_seconds())
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
  PaceArguments pace;
  std::optional<std::string> learned;
  std::optional<std::string> out;
  bool overwrite = false;
  int threads = 0;  // as many as pay
  bool json = false;
  bool quiet = false;
  bool report = false;
  bool calls = false;
  std::vector<std::string> watched;
  bool verbose = false;
  CheckpointArguments checkpoint;
  RequiredGrade required = RequiredGrade::NotUnreliable;
  bool no_estimate = false;
  bool meet = false;
  double budget = MeetOptions().budget;
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

void print_failure(const RunResult& result) {
  const RunSummary& summary = result.summary;
  if (summary.termination == Termination::Completed) return;
  const auto reason = summary.message.empty() ? std::string(to_string(summary.termination)) : summary.message;
  print_error(reason);
  const auto kept = result.recorded_until
                        ? fmt::format("the results up to t = {} s", short_number(*result.recorded_until))
                        : std::string("no results");
  print_error(fmt::format("{}; {} are in {}", to_string(summary.termination), kept, result.folder.string()));
}

/// Everything that is printed of a run.
void print_result(const RunArguments& arguments, const RunResult& result, const Watch& watch) {
  const RunSummary& summary = result.summary;
  print_failure(result);
  if (arguments.json) {
    print_exact(summary_json(summary, result.recorded, &result.verdict, &result.estimate));
  } else if (!arguments.quiet) {
    if (arguments.verbose) print(full_summary(summary, stdout_style(), result.verdict.grade));
    print(brief_summary(summary, result.verdict, result.estimate, stdout_style()));
    if (summary.termination == Termination::Completed) print(fmt::format("results: {}\n", result.results.string()));
  }
  for (const auto& line : watch.lines()) print(line + '\n');
  const bool has_report = !result.report.empty() && !arguments.quiet && !arguments.json;
  if (has_report) print(fmt::format("report: {}\n", result.report.string()));
  if (result.abandoned) std::fflush(output());
}

/// What is printed as the run goes on. Borrows all.
RunProgress printed(const RunArguments& arguments, const Watch& watch, Progress& shown) {
  RunProgress progress;
  progress.begun = [](const RunResult& result) { tell_supervisor(result.folder); };
  progress.prepared = [&](const Simulation& simulation) {
    if (auto problems = watch.problems(simulation.signals()); !problems.empty()) {
      throw WrongSignals(std::move(problems));
    }
  };
  progress.warned = [&](const Fact& fact) {
    if (!arguments.quiet && kind_of(fact.code) == FactKind::Warning) print_error("warning: " + render(fact));
  };
  progress.ended = [&](const RunResult& result) {
    if (result.abandoned) print_result(arguments, result, watch);
  };
  if (!arguments.quiet && !arguments.json) {
    progress.estimating = [&](double fraction) { shown.estimating(fraction); };
  }
  progress.written = [&](const RunResult& result) {
    shown.estimating(1.0);
    if (result.abandoned) print_result(arguments, result, watch);
  };
  progress.failed_at_release = [&](const Error& fault, const RunResult& result) {
    print_result(arguments, result, watch);
    print_error(fault.what());
    print_error(fmt::format("that was after the run; its results are in {}", result.folder.string()));
    std::fflush(output());
  };
  return progress;
}

/// With --meet: which run this is.
void print_attempt(const RunAttempt& attempt) {
  if (attempt.number == 1) return;
  std::string changed;
  if (!attempt.method.empty()) changed += ", " + attempt.method;
  if (attempt.refinement.step) changed += fmt::format(", step {} s", short_number(*attempt.refinement.step));
  for (const auto& [name, value] : attempt.refinement.options) changed += fmt::format(", {} = {}", name, value);
  print_error(fmt::format("not trusted yet; run {}{}", attempt.number, changed));
}

RunDirectoryOptions run_options(const RunArguments& arguments) {
  RunDirectoryOptions options;
  options.run.threads = arguments.threads;
  options.run.interrupt = &catch_signals();
  options.run.tries_everything = false;
  options.run.log.everything = arguments.verbose;
  if (arguments.verbose) options.run.log.handler = [](const LogMessage& message) { print_error(log_line(message)); };
  if (arguments.out) options.folder = *arguments.out;
  options.overwrite = arguments.overwrite;
  options.capture_streams = !arguments.verbose;
  options.report = arguments.report;
  options.calls = arguments.calls;
  options.estimate = !arguments.no_estimate;
  options.system = arguments.system.empty() ? std::string() : quoted_argument(arguments.system);
  options.arguments = arguments.other_arguments();
  options.checkpoint = arguments.checkpoint.options();
  return options;
}

/// `ranks`: null of a run in this process alone.
int run_with(const RunArguments& arguments, Ranks* ranks) {
  if (arguments.report) require_pages();
  const auto& resumed = arguments.checkpoint.resumed;
  auto description =
      arguments.system.empty() ? arguments.changed(checkpointed_system(*resumed)) : arguments.described();
  description = arguments.pace.changed(std::move(description));
  RunDirectoryOptions options = run_options(arguments);
  options.run.ranks = ranks;
  options.run.real_time = arguments.pace.options(description);
  std::optional<Learned> learned;
  if (arguments.learned) {
    learned = read_learned(*arguments.learned);
    description = corrected(std::move(description), arguments, *learned);
    options.note = "corrected by --learned " + *arguments.learned;
    options.run.learned = &*learned;
  }
  Watch watch(arguments.watched);
  Progress progress(watch);
  // Nothing is printed by the thread of a paced run.
  if (!arguments.quiet && !arguments.json && !options.run.real_time) options.observers = {watch, progress};
  if (options.run.real_time && !arguments.watched.empty()) options.observers = {watch};
  options.progress = printed(arguments, watch, progress);
  try {
    const auto result = arguments.meet ? run_until_trusted(description, options, {arguments.budget, print_attempt})
                                       : entrain::run(description, options);
    print_result(arguments, result, watch);
    if (result.failed_at_end) {
      print_error(result.failed_at_end->what());
      print_error(fmt::format("that was after the run; its results are in {}", result.folder.string()));
      return kFailed;
    }
    if (result.summary.termination != Termination::Completed) return kFailed;
    return exit_code(result.verdict.grade, arguments.required);
  } catch (const WrongSignals& wrong) {
    print_error(to_string(wrong.problems));
    return kWrongUsage;
  }
}

/// Under a launcher, one run of all its processes.
int run(const RunArguments& arguments) {
  if (!Ranks::launched()) return run_with(arguments, nullptr);
  Ranks ranks(&catch_signals());
  if (!ranks.is_first()) be_silent(ranks.rank());
  return ranks.take_part([&] { return run_with(arguments, &ranks); });
}

/// What is judged of the result, and what follows from it.
void add_grade_options(CLI::App& command, RunArguments& arguments) {
  arguments.add_tolerance(command);
  add_require(command, arguments.required);
  auto* off = command.add_flag("--no-estimate", arguments.no_estimate,
                               "Do not estimate the error: nothing is run again, and the grade is unknown");
  auto* meet = command
                   .add_flag("--meet", arguments.meet,
                             "Run again with smaller steps or another method until the result is trusted")
                   ->excludes(off)
                   ->excludes("--resume")
                   ->excludes("--learned");
  command
      .add_option("--budget", arguments.budget,
                  "With --meet: steps of subsystems in all runs, relative to the first (default: 50)")
      ->type_name("N")
      ->check(positive_number())
      ->needs(meet);
}

}  // namespace

void add_threads(CLI::App& command, int& threads) {
  const auto number = [](const std::string& text) {
    int value = 0;
    const bool fits = CLI::detail::lexical_cast(text, value) && value >= 1 && value <= 1024;
    return fits ? value : 0;
  };
  command
      .add_option_function<std::string>(
          "--threads", [&threads, number](const std::string& text) { threads = number(text); },
          "Threads, or auto: as many as pay, by the times of the first steps (default); the results do not depend on "
          "them")
      ->type_name("N|auto")
      ->check([number](const std::string& text) {
        return text == "auto" || number(text) > 0 ? std::string() : "'" + text + "' is neither auto nor 1 to 1024";
      });
}

Command add_run(CLI::App& program) {
  auto* command = add_subcommand(program, "run", "Run a system and write its results",
                                 "entrain run examples/mechanical --method gauss-seidel --step 1e-4");
  const auto arguments = std::make_shared<RunArguments>();
  arguments->add_system(*command);
  arguments->add_method(*command);
  arguments->add_exclude(*command);
  command->get_option("SYSTEM")->required(false);
  command->parse_complete_callback([given = arguments.get()] {
    if (given->system.empty() && !given->checkpoint.resumed) throw CLI::RequiredError("SYSTEM");
  });
  command
      ->add_option("--learned", arguments->learned, "Corrections from 'entrain learn' (its method and step are used)")
      ->type_name("FILE");
  command->add_option("--out", arguments->out, "Folder for the results (default: runs/NAME-N)")->type_name("DIR");
  command->add_flag("--overwrite", arguments->overwrite, "Remove the run that --out contains")->needs("--out");
  arguments->checkpoint.add(*command);
  arguments->pace.add(*command);
  add_grade_options(*command, *arguments);
  add_threads(*command, arguments->threads);
  command->add_option("--watch", arguments->watched, "Show the course of a signal; may be repeated")
      ->type_name("SUB.VAR")
      ->allow_extra_args(false);
  command->add_flag("--report", arguments->report, "Write report.html, a page to look at");
  command->add_flag("--calls", arguments->calls,
                    "Write calls.csv: steps and trials of every subsystem, with the inputs that they got");
  command->add_flag("--json", arguments->json, "Print run.json and nothing else");
  command->add_flag("--quiet", arguments->quiet, "Print nothing but errors");
  command->add_flag("--verbose", arguments->verbose, "Print all notes, the work of each subsystem, and what FMUs log");
  return {command, [arguments] { return run(*arguments); }};
}

}  // namespace entrain::cli
