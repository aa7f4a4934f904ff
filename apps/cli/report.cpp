#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/common.hpp"
#include "entrain/report.hpp"

namespace entrain::cli {
namespace {

struct ReportArguments {
  std::string run;
  std::optional<std::string> out;
};

int write_report(const ReportArguments& arguments) {
  const std::filesystem::path folder = arguments.run;
  const auto file = arguments.out ? std::filesystem::path(*arguments.out) : folder / "report.html";
  report(folder, file);
  print(fmt::format("report: {}\n", file.string()));
  return kDone;
}

}  // namespace

Command add_report(CLI::App& program) {
  auto* command = add_subcommand(program, "report", "Write a page to look at from what a run left",
                                 "entrain report runs/mechanical-1");
  const auto arguments = std::make_shared<ReportArguments>();
  command->add_option("RUN", arguments->run, "Folder of a run")->required()->type_name("");
  command->add_option("--out", arguments->out, "File to write (default: report.html in the folder)")->type_name("FILE");
  return {command, [arguments] { return write_report(*arguments); }};
}

}  // namespace entrain::cli
