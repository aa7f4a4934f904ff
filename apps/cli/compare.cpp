#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/common.hpp"
#include "cli/comparison_text.hpp"
#include "entrain/comparison.hpp"
#include "entrain/report.hpp"

namespace entrain::cli {
namespace {

struct CompareArguments {
  std::vector<std::string> runs;
  std::optional<std::string> reference;
  std::optional<std::string> report;
  bool json = false;
};

int compare_runs(const CompareArguments& arguments) {
  if (arguments.runs.size() + (arguments.reference ? 1 : 0) < 2) {
    print_error("one run alone cannot be compared; name another, or --reference RUN");
    return kWrongUsage;
  }
  if (arguments.report) require_pages();
  const auto comparison = compare({arguments.runs.begin(), arguments.runs.end()}, arguments.reference);
  arguments.json ? print_exact(comparison_json(comparison)) : print(comparison_text(comparison));
  if (!arguments.report) return kDone;
  write_comparison_page(comparison, *arguments.report);
  if (!arguments.json) print(fmt::format("report: {}\n", *arguments.report));
  return kDone;
}

}  // namespace

Command add_compare(CLI::App& program) {
  auto* command = add_subcommand(program, "compare", "Compare runs variable by variable, worst first",
                                 "entrain compare runs/car-1 runs/car-2 --reference runs/car-3 --report compare.html");
  const auto arguments = std::make_shared<CompareArguments>();
  command->add_option("RUN", arguments->runs, "Folders of runs, or files of results (CSV)")->required()->type_name("");
  command
      ->add_option("--reference", arguments->reference,
                   "What the others are compared with (default: a reference run, else the first)")
      ->type_name("RUN");
  command->add_option("--report", arguments->report, "Write a page with the curves")->type_name("FILE");
  command->add_flag("--json", arguments->json, "Print JSON");
  return {command, [arguments] { return compare_runs(*arguments); }};
}

}  // namespace entrain::cli
