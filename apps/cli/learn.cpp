#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>
#include <optional>

#include "cli/common.hpp"
#include "cli/pace_arguments.hpp"
#include "cli/system_arguments.hpp"
#include "entrain/entrain.hpp"
#include "entrain/text.hpp"

namespace entrain::cli {
namespace {

struct LearnArguments : SystemArguments {
  LearnOptions learning;
  std::optional<std::string> out;
  std::optional<std::string> resumed;
  std::vector<std::string> recorded;
  bool json = false;
  bool quiet = false;
  bool report = false;
  PaceArguments pace;
};

void print_note(const Fact& note) {
  print(fmt::format("note     {}\n", render(note)));
}

void print_plan(const LearnPlan& plan) {
  print(fmt::format("learned  {} ({})\n", fmt::join(plan.connections, ", "), to_word(plan.inputs)));
  if (!plan.delayed.empty()) print(fmt::format("delayed  {}\n", fmt::join(plan.delayed, ", ")));
  if (!plan.held.empty()) print(fmt::format("held     {}\n", fmt::join(plan.held, ", ")));
  for (const auto& note : plan.notes) print_note(note);
}

/// One line per run; of several connections the norms of all.
std::string iteration_text(const LearnIteration& iteration) {
  if (!iteration.failure.empty()) {
    return fmt::format("run {:3}  to t = {} s: {}\n", iteration.number, short_number(iteration.horizon),
                       iteration.failure);
  }
  std::string norms;
  for (const auto& connection : iteration.connections) {
    norms += fmt::format("  {}: 2-norm {}, max {}", connection.name, short_number(connection.norm),
                         short_number(connection.max_error));
  }
  const auto left = iteration.runs_left ? fmt::format(", about {} more runs", *iteration.runs_left) : std::string();
  const auto gamma =
      iteration.gamma ? fmt::format("  gamma {}{}", short_number(*iteration.gamma), left) : std::string();
  return fmt::format("run {:3}  to t = {} s  missed {}{}{}\n", iteration.number, short_number(iteration.horizon),
                     short_number(iteration.error), gamma, norms);
}

void print_iteration(const LearnIteration& iteration) {
  print(iteration_text(iteration));
  std::fflush(output());  // runs take long; a pipe is to see them as they end
}

/// As a shell takes it for one word.
std::string shell_word(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("_./=-+,:@%", c) != nullptr;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

/// The run that the correction belongs to; its method and step come with it.
std::string replay_command(const LearnArguments& arguments, const LearnResult& result, const std::string& file) {
  std::string command = "entrain run " + shell_word(arguments.system);
  for (const auto& assignment : arguments.sets) command += " --set " + shell_word(assignment);
  const bool cut = result.learned_to < result.stop;
  if (arguments.start) command += fmt::format(" --start {}", *arguments.start);
  if (arguments.stop || cut) command += fmt::format(" --stop {}", cut ? result.learned_to : *arguments.stop);
  if (arguments.isolate) command += " --isolate";
  if (arguments.sandbox) command += " --sandbox";
  return command + " --learned " + shell_word(file);
}

void print_result(const LearnArguments& arguments, const LearnResult& result, const std::string& file) {
  if (result.judged) print(fmt::format("learned run: {}\n", result.judged->verdict.headline()));
  if (result.held_learned) print(fmt::format("held inputs, learned: {}\n", result.held_learned->verdict.headline()));
  if (result.uncorrected) print(fmt::format("without correction: {}\n", result.uncorrected->verdict.headline()));
  if (result.repeatability) {
    print(fmt::format("learned run: error unknown, a bench has no truth; runs repeat within {} of the range\n",
                      short_number(*result.repeatability)));
  }
  print(fmt::format(
      "{} after {} runs, as long as {:.1f} full ones; minimised: what is missed at the learned inputs, {} of the "
      "signal's range in run {}\n",
      to_string(result.end), result.iterations.size(), result.full_runs, short_number(result.learned.error),
      result.best));
  if (result.learned_nothing() && result.end != LearnEnd::Converged) return;
  print(fmt::format("learned: {}   ({})\n", file, replay_command(arguments, result, file)));
}

/// Why there is no correction for the run that was asked for; empty if there is one.
std::string failure_of(const LearnResult& result) {
  if (result.learned_nothing() && result.end == LearnEnd::Interrupted) return "interrupted; nothing was learned";
  const auto not_used = std::count_if(result.iterations.begin(), result.iterations.end(),
                                      [](const LearnIteration& iteration) { return !iteration.not_used.empty(); });
  if (result.learned_nothing() && not_used > 0) {
    return fmt::format(
        "nothing was learned: {} of {} runs had too many late steps or lost answers. Try --priority, a smaller factor "
        "of --real-time, or a longer 'wait' for the answers",
        not_used, result.iterations.size());
  }
  if (result.learned_nothing() && result.end != LearnEnd::Converged) {
    return fmt::format(
        "nothing was learned: no run was better than the one without correction. Try {}a smaller --gain, "
        "a --cutoff, or a shorter step",
        result.end == LearnEnd::Iterations ? "more --iterations, " : "");
  }
  if (result.learned_to < result.stop) {
    return fmt::format("learned to t = {} s of {} s{}", short_number(result.learned_to), short_number(result.stop),
                       result.end == LearnEnd::Iterations ? "; allow more --iterations" : "");
  }
  if (result.end == LearnEnd::Diverged) {
    return "the runs got worse; the best one is kept. Try a smaller --gain, a --cutoff, or a shorter step";
  }
  return result.end == LearnEnd::Interrupted ? "interrupted; the best run is kept" : "";
}

/// Reports what is not as requested; the exit code. A correction that leaves more than the tolerance is better than
/// none.
int judge_end(const LearnResult& result, double tolerance) {
  const auto failure = failure_of(result);
  if (!failure.empty()) {
    print_error(failure);
    return kFailed;
  }
  if (result.end != LearnEnd::Converged) {
    print_error(fmt::format(
        "the tolerance {} was not met: {} of the signal's range is missed at the learned inputs in run {}{}",
        short_number(tolerance), short_number(result.learned.error), result.best,
        result.end == LearnEnd::Iterations ? "; allow more --iterations"
                                           : "; a --cutoff or --gain may hold it, or rounding"));
  }
  return kDone;
}

/// Written before the first run, so that hours of them are not lost for a folder that cannot be written; and what is
/// left if the program is killed.
void write_beginning(const std::filesystem::path& file, const std::string& system, const LearnPlan& plan) {
  LearnResult nothing_yet;
  nothing_yet.end = LearnEnd::Interrupted;
  nothing_yet.learned.system = system;
  nothing_yet.learned.error = std::numeric_limits<double>::infinity();
  nothing_yet.plan = plan;
  save_learning(nothing_yet, file);
}

/// From recorded runs alone; the correction is for the next one.
int learn_from_records(const LearnArguments& arguments, const LearnProgress& progress) {
  const auto description = arguments.described();
  std::vector<RecordedRun> runs;
  for (const auto& path : arguments.recorded) runs.push_back(read_recorded_run(path));
  const LearnResult result = learn_from(description, runs, arguments.learning, progress);
  const auto folder = make_run_directory(description.name, arguments.out);
  const auto file = folder / "learned.json";
  save_learned(result.learned, file);
  save_learning(result, folder / "learning.json");
  if (arguments.report) write_learning_page(result, arguments.learning, folder / "report.html");
  if (arguments.json) print_exact(learning_json(result));
  if (arguments.json || arguments.quiet) return kDone;
  print(fmt::format(
      "{} of the signal's range is missed at the learned inputs in the newest runs; error unknown{}\n",
      short_number(result.learned.error),
      result.repeatability ? fmt::format(", runs repeat within {}", short_number(*result.repeatability)) : ""));
  print(fmt::format("learned, for the next run: {}   ({})\n", file.string(),
                    replay_command(arguments, result, file.string())));
  if (arguments.report) print(fmt::format("report: {}\n", (folder / "report.html").string()));
  return kDone;
}

int learn_system(const LearnArguments& arguments) {
  if (arguments.report) require_pages();
  const bool prints = !arguments.json && !arguments.quiet;
  LearnProgress progress;
  if (prints) {
    progress.planned = print_plan;
    progress.iterated = print_iteration;
    progress.noted = print_note;
  }
  if (!arguments.recorded.empty()) return learn_from_records(arguments, progress);
  const auto description = arguments.pace.changed(arguments.described());
  LearnOptions options = arguments.learning;
  options.real_time = arguments.pace.options(description);
  options.interrupt = &catch_signals();
  std::filesystem::path folder;
  options.resumes = arguments.resumed.has_value();
  progress.planned = [&](const LearnPlan& plan) {
    folder = options.resumes ? std::filesystem::path(*arguments.resumed)
                             : make_run_directory(description.name, arguments.out);
    options.state = folder / "learning.state";
    if (!options.resumes) write_beginning(folder / "learning.json", description.name, plan);
    if (prints) print_plan(plan);
  };
  const LearnResult result = learn(description, options, progress);
  const auto file = folder / "learned.json";
  save_learned(result.learned, file);
  save_learning(result, folder / "learning.json");
  if (arguments.report) write_learning_page(result, options, folder / "report.html");
  if (arguments.json) print_exact(learning_json(result));
  if (prints) print_result(arguments, result, file.string());
  if (prints && arguments.report) print(fmt::format("report: {}\n", (folder / "report.html").string()));
  if (prints && result.end == LearnEnd::Interrupted) {
    print(fmt::format("goes on with the same command and --resume {}\n", shell_word(folder.string())));
  }
  return judge_end(result, options.tolerance);
}

}  // namespace

Command add_learn(CLI::App& program) {
  auto* command = add_subcommand(program, "learn", "Run a system repeatedly and learn a correction of its coupling",
                                 "entrain learn examples/learning --out learned");
  command->footer(command->get_footer() +
                  "\nExit code 0: a correction for the whole run that is better than none; what it leaves beyond the "
                  "tolerance is reported on stderr. 1: none, or for a part of the run only");
  const auto arguments = std::make_shared<LearnArguments>();
  arguments->learning.compares = true;
  auto& options = arguments->learning;
  arguments->add_system(*command);
  arguments->pace.add(*command);
  constexpr auto kInputs = words_of<LearnInputs>();
  command
      ->add_option_function<std::string>(
          "--inputs", [&options](const std::string& kind) { options.inputs = *from_word<LearnInputs>(kind); },
          "What inputs are corrected to: held = constants; linear, hermite = lines or cubics between the outputs at "
          "both "
          "ends of each step (default: the best that all subsystems take)")
      ->type_name("KIND")
      ->check(CLI::IsMember(std::vector<std::string>(kInputs.begin(), kInputs.end())));
  command->add_flag("!--no-compare", options.compares,
                    "Do not find the errors of the run without corrections and of learned held inputs");
  command->add_option("--iterations", options.iterations, "Runs at most; with a progressive horizon, for each horizon")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000));
  command
      ->add_option("--tolerance", options.tolerance,
                   "What may be missed at a learned input, relative to the range of its signal")
      ->type_name("E")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--gain", options.gain, "Share of the error that is learned from each run")
      ->type_name("G")
      ->check(CLI::Range(0.0, 2.0));
  command
      ->add_option("--memory", options.memory,
                   "Earlier runs that the next correction is made of besides the last: 4 needs fewer runs")
      ->type_name("N")
      ->check(CLI::Range(0, 20));
  command
      ->add_option("--cutoff", options.cutoff,
                   "Low-pass filter of the corrections, in Hz; 0 = none (default: on a bench by the measured noise)")
      ->type_name("F")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--forgetting", options.forgetting,
                   "Share of the corrections that is forgotten from run to run (default: on a bench by the measured "
                   "noise, else 0)")
      ->type_name("SHARE")
      ->check(CLI::Range(0.0, 0.999));
  command
      ->add_option("--fade", options.fade,
                   "On a bench, corrections fade out where an output is farther from the run before than K times what "
                   "runs differ by; 0 = never")
      ->type_name("K")
      ->check(CLI::NonNegativeNumber);
  constexpr auto kProgressive = words_of<ProgressiveLearning>();
  command
      ->add_option_function<std::string>(
          "--progressive",
          [&options](const std::string& when) { options.progressive = *from_word<ProgressiveLearning>(when); },
          "Learn the first seconds first: auto = if all at once diverges")
      ->type_name("WHEN")
      ->check(CLI::IsMember(std::vector<std::string>(kProgressive.begin(), kProgressive.end())));
  command
      ->add_option("--horizon", options.horizon,
                   "By which a progressive horizon grows, in s (default: 1/20 of the run)")
      ->type_name("T")
      ->check(CLI::NonNegativeNumber);
  auto* out =
      command->add_option("--out", arguments->out, "Folder for learned.json (default: runs/NAME-N)")->type_name("DIR");
  command
      ->add_option("--resume", arguments->resumed,
                   "Go on with the learning that was interrupted, or ran out of iterations, in this folder")
      ->type_name("DIR")
      ->excludes(out);
  command
      ->add_option("--from", arguments->recorded,
                   "Run nothing: learn from these recorded runs (folders or files of results), the newest last")
      ->type_name("RUN")
      ->excludes("--resume")
      ->excludes("--iterations")
      ->excludes("--real-time");
  command->add_option("--threads", options.threads, "Threads; the results do not depend on them")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--report", arguments->report, "Write report.html: error per run, and the inputs before and after");
  command->add_flag("--json", arguments->json, "Print how it went as JSON and nothing else");
  command->add_flag("--quiet", arguments->quiet, "Print nothing but errors");
  return {command, [arguments] { return learn_system(*arguments); }};
}

}  // namespace entrain::cli
