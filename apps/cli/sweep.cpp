#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "cli/common.hpp"
#include "cli/progress.hpp"
#include "cli/system_arguments.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "entrain/ranks.hpp"
#include "entrain/sweep.hpp"
#include "entrain/text.hpp"

namespace entrain::cli {
namespace {

constexpr std::size_t kMostCases = 10'000'000;  // with --yes

struct SweepArguments : SystemArguments {
  std::vector<std::string> vary;
  std::vector<std::string> quantities;
  std::vector<std::string> merged;
  std::optional<std::string> sampling, list, out, shard, reference;
  std::optional<std::int64_t> cases, seed;
  int jobs = 0;
  bool resume = false, retry_failed = false, no_estimate = false, courses = false, yes = false, quiet = false;
};

/// "2/8": the second of eight.
void read_shard(const std::string& text, SweepOptions& options) {
  const auto slash = text.find('/');
  const auto part = [](const std::string& digits) -> std::size_t {
    const bool number =
        !digits.empty() && digits.size() < 10 && digits.find_first_not_of("0123456789") == std::string::npos;
    return number ? std::stoul(digits) : 0;
  };
  const std::size_t which = part(text.substr(0, slash));
  const std::size_t all = slash == std::string::npos ? 0 : part(text.substr(slash + 1));
  if (which < 1 || which > all) throw CLI::ValidationError("--shard", "'" + text + "' is no I/N, such as 2/8");
  options.shard = which - 1;
  options.shards = all;
}

/// The file, and what the command line adds to it or puts in its place.
SweepDescription described_sweep(const SystemDescription& description, const SweepArguments& arguments) {
  SweepDescription sweep = description.sweep;
  for (const auto& text : arguments.vary) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) throw CLI::ValidationError("--vary", "'" + text + "' is no NAME=VALUES");
    const std::string name = text.substr(0, equals);
    std::erase_if(sweep.vary, [&](const SweepVariation& each) { return each.name == name; });
    sweep.vary.push_back({name, text.substr(equals + 1), {"--vary", 0, 0}});
  }
  if (!arguments.quantities.empty()) sweep.quantities.clear();
  for (const auto& text : arguments.quantities) sweep.quantities.push_back({text, {"--quantity", 0, 0}});
  if (arguments.sampling) sweep.sampling = {*arguments.sampling, {"--sampling", 0, 0}};
  if (arguments.list) sweep.list = {std::filesystem::absolute(*arguments.list).string(), {"--list", 0, 0}};
  if (arguments.cases) sweep.cases = {*arguments.cases, {"--cases", 0, 0}};
  if (arguments.seed) sweep.seed = {*arguments.seed, {"--seed", 0, 0}};
  return sweep;
}

std::size_t failed_cases(const SweepResult& result) {
  return static_cast<std::size_t>(std::count_if(result.cases.begin(), result.cases.end(), [](const SweepCase& each) {
    return each.termination != to_string(Termination::Completed);
  }));
}

std::string sobol_text(const SweepResult& result) {
  Table table({"quantity", "input", "first order", "95 %", "total", "95 %"});
  const auto share = [](double value) { return std::isnan(value) ? std::string("-") : fmt::format("{:.3f}", value); };
  const auto range = [&](double low, double high) {
    return std::isnan(low) ? std::string("-") : fmt::format("{} .. {}", share(low), share(high));
  };
  for (std::size_t q = 0; q < result.sobol.size(); ++q) {
    for (std::size_t d = 0; d < result.inputs.size(); ++d) {
      const SobolIndex& of = result.sobol[q][d];
      table.add_row({result.quantities[q], result.inputs[d].name, share(of.first), range(of.first_low, of.first_high),
                     share(of.total), range(of.total_low, of.total_high)});
    }
  }
  return table.empty() ? "" : table.text(0);
}

std::string uncertainty_text(const SweepResult& result) {
  Table table({"quantity", "value", "numerical", "input", "together", "measured", "not checked"});
  const auto shown = [](double value) { return std::isnan(value) ? std::string("-") : short_number(value); };
  for (std::size_t q = 0; q < result.uncertainty.size(); ++q) {
    const QuantityUncertainty& of = result.uncertainty[q];
    table.add_row({result.quantities[q], shown(of.value), shown(of.numerical), shown(of.input), shown(of.together),
                   std::isnan(of.measured) ? "-" : fmt::format("{} +- {}", shown(of.measured), shown(of.data)),
                   fmt::format("{} of {}", of.unchecked, of.cases)});
  }
  return table.empty() ? "" : "standard uncertainties\n" + table.text(2);
}

std::string ranks_text(const SweepResult& result) {
  Table table({"rank", "host", "cases", "s of cases"});
  for (std::size_t r = 0; r < result.ranks.size(); ++r) {
    const SweepRank& rank = result.ranks[r];
    table.add_row({std::to_string(r), rank.host, std::to_string(rank.cases), short_number(rank.seconds)});
  }
  return table.empty() ? "" : table.text(0);
}

void print_sweep(const SweepResult& result, const SweepArguments& arguments) {
  for (std::size_t r = 0; r < result.ranks.size(); ++r) {
    const SweepRank& rank = result.ranks[r];
    if (!rank.lost.empty()) print_error(fmt::format("rank {} on '{}': {}", r, rank.host, rank.lost));
  }
  if (arguments.quiet) return;
  const std::size_t failed = failed_cases(result);
  print(fmt::format("{} of {} cases done, {} failed\n", result.cases.size(), result.all, failed));
  if (failed > 0) {
    const auto first = std::find_if(result.cases.begin(), result.cases.end(), [](const SweepCase& each) {
      return each.termination != to_string(Termination::Completed);
    });
    print(fmt::format("first failed: case {}: {}\n", first->number, first->message));
  }
  print(uncertainty_text(result) + sobol_text(result) + ranks_text(result));
  print(fmt::format("table: {}\n", (result.folder / "cases.csv").string()));
  if (std::filesystem::exists(result.folder / "sweep.html"))
    print(fmt::format("page:  {}\n", (result.folder / "sweep.html").string()));
}

/// On a terminal one line that is written over, else a line about every 10 s.
class SweepProgress {
 public:
  void show(std::size_t done, std::size_t all, double seconds_left) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + (terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(10'000));
    const auto text = fmt::format("{} of {} cases ({} %), {} left", done, all, 100 * done / all,
                                  done < all ? duration_text(seconds_left) : "0 s");
    if (!terminal_) return print_error(text);
    fmt::print(error_output(), "\r\x1b[K{}", cut_to(terminal_columns(), text));
    std::fflush(error_output());
    shown_ = true;
  }
  void clear() {
    if (shown_) fmt::print(error_output(), "\r\x1b[K");
    shown_ = false;
  }

 private:
  bool terminal_ = stderr_is_terminal();
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
};

/// A sweep where every case failed is no result; of a shard without cases none did.
int code_of(const SweepResult& result) {
  const bool none = !result.cases.empty() && failed_cases(result) == result.cases.size();
  if (none) print_error("no case was completed");
  return result.interrupted || none ? kFailed : kDone;
}

int merge(const SweepArguments& arguments, const std::vector<std::filesystem::path>& shards) {
  const auto result = merge_sweeps(shards, arguments.out.value_or("merged"), arguments.reference);
  print_sweep(result, arguments);
  return code_of(result);
}

/// The sweep that the file and the command line describe.
SweepTask task_of(const SweepArguments& arguments, SweepProgress& progress) {
  if (arguments.system.empty()) throw CLI::RequiredError("SYSTEM");
  SweepTask task;
  task.description = arguments.described();
  SweepOptions& options = task.options;
  options.sweep = described_sweep(task.description, arguments);
  if (arguments.out) options.folder = *arguments.out;
  if (arguments.shard) read_shard(*arguments.shard, options);
  options.jobs = arguments.jobs;
  options.resume = arguments.resume;
  options.retry_failed = arguments.retry_failed;
  options.estimate = !arguments.no_estimate;
  options.courses = arguments.courses;
  if (arguments.reference) options.reference = *arguments.reference;
  if (arguments.yes) options.most_cases = kMostCases;
  options.interrupt = &catch_signals();
  if (!arguments.quiet) {
    options.progress = [&](std::size_t done, std::size_t all, double left) { progress.show(done, all, left); };
  }
  return task;
}

int sweep(const SweepArguments& arguments) {
  if (!arguments.merged.empty()) return merge(arguments, {arguments.merged.begin(), arguments.merged.end()});
  SweepProgress progress;
  const auto finish = [&](const SweepResult& result) {
    progress.clear();
    print_sweep(result, arguments);
    if (result.interrupted) print_error("interrupted: what is done is kept; --resume goes on");
    return code_of(result);
  };
  const auto prepare = [&] { return task_of(arguments, progress); };
  if (Ranks::launched()) return sweep_on_ranks(prepare, finish);
  const auto task = prepare();
  return finish(entrain::sweep(task.description, task.options));
}

}  // namespace

Command add_sweep(CLI::App& program) {
  auto* command = add_subcommand(program, "sweep", "Run a system many times with other values",
                                 "entrain sweep examples/lotka_volterra --vary prey.alpha=0.5..0.8/4");
  const auto arguments = std::make_shared<SweepArguments>();
  arguments->add_system(*command);
  arguments->add_method(*command);
  command->get_option("SYSTEM")->required(false);
  command
      ->add_option("--vary", arguments->vary, "What varies: 0.4..0.6/5, 1,2,4, normal(0.5,0.1), ...; may be repeated")
      ->type_name("NAME=VALUES")
      ->allow_extra_args(false);
  command
      ->add_option("--quantity", arguments->quantities,
                   "Signal, or expression of last, min, max, mean, rms: peak = max(a.x) - last(a.x)")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  command->add_option("--sampling", arguments->sampling, "grid, latin-hypercube, random or sobol")->type_name("WORD");
  command->add_option("--list", arguments->list, "CSV file with a case in each row")->type_name("FILE");
  command->add_option("--cases", arguments->cases, "Cases of a sampling")->type_name("N");
  command->add_option("--seed", arguments->seed, "Of random numbers (default: 1)")->type_name("N");
  command
      ->add_option("--jobs", arguments->jobs,
                   "Processes at the same time (default: one for each processor; under a launcher: 1 in each rank)")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  command->add_option("--out", arguments->out, "Folder for the table (default: sweeps/NAME-N)")->type_name("DIR");
  command->add_flag("--resume", arguments->resume, "Go on with the sweep that --out contains")->needs("--out");
  command->add_flag("--retry-failed", arguments->retry_failed, "Repeat cases that failed")->needs("--resume");
  command->add_option("--shard", arguments->shard, "Only a part of the cases, for job arrays")->type_name("I/N");
  command->add_option("--merge", arguments->merged, "Put the folders of all shards together, into --out")
      ->type_name("DIR...");
  command
      ->add_option("--reference", arguments->reference,
                   "Measured values: a CSV of quantity, value, standard uncertainty")
      ->type_name("FILE");
  command->add_flag("--no-estimate", arguments->no_estimate, "Do not estimate the errors of the cases");
  command->add_flag("--courses", arguments->courses, "Keep the whole run of every case, in cases/N");
  command->add_flag("--yes", arguments->yes, "More than 10000 cases are meant, up to 10 million");
  command->add_flag("--quiet", arguments->quiet, "Print nothing but errors");
  return {command, [arguments] { return sweep(*arguments); }};
}

}  // namespace entrain::cli
