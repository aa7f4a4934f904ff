#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/common.hpp"
#include "entrain/entrain.hpp"

namespace entrain::cli {
namespace {

int check_system(const std::string& system) {
  const auto problems = check(system);
  print_error(to_string(problems));
  const auto errors = std::count_if(problems.begin(), problems.end(), [](const Problem& problem) {
    return problem.severity == Problem::Severity::Error;
  });
  if (errors == 0) print(fmt::format("{}: no errors\n", system));
  return errors == 0 ? kDone : kFailed;
}

}  // namespace

Command add_check(CLI::App& program) {
  auto* command =
      add_subcommand(program, "check", "Report every problem of a system at once", "entrain check examples/mechanical");
  const auto system = std::make_shared<std::string>();
  command->add_option("SYSTEM", *system, "System file (.toml, .ssp, .ssd), a folder holding one, or an FMU")
      ->required()
      ->type_name("");
  return {command, [system] { return check_system(*system); }};
}

}  // namespace entrain::cli
