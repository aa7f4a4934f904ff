#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/common.hpp"
#include "cli/system_arguments.hpp"
#include "entrain/entrain.hpp"
#include "entrain/sandbox.hpp"

namespace entrain::cli {
namespace {

int check_system(const std::string& system, const LoadOptions& options) {
  const auto problems = check(system, {}, options);
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
  struct Arguments {
    std::string system;
    LoadOptions options;
  };
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("SYSTEM", arguments->system, "System file (.toml, .ssp, .ssd), a folder holding one, or an FMU")
      ->required()
      ->type_name("");
  add_sandbox(*command, arguments->options.sandbox);
  return {command, [arguments] { return check_system(arguments->system, arguments->options); }};
}

}  // namespace entrain::cli
