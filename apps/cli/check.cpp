#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/common.hpp"
#include "cli/system_arguments.hpp"
#include "entrain/entrain.hpp"
#include "entrain/sandbox.hpp"

namespace entrain::cli {
namespace {

/// Of the file as it is, or as the command line changes it: what prevents reading it is all that is known then.
std::vector<Problem> problems_of(const SystemArguments& arguments) {
  if (!arguments.changes()) return check(arguments.system, {}, {.sandbox = arguments.sandbox});
  try {
    return check(arguments.described());
  } catch (const Error& error) {
    if (error.problems().empty()) throw;
    return error.problems();
  }
}

int check_system(const SystemArguments& arguments) {
  const auto problems = problems_of(arguments);
  print_error(to_string(problems));
  const auto errors = std::count_if(problems.begin(), problems.end(), [](const Problem& problem) {
    return problem.severity == Problem::Severity::Error;
  });
  if (errors == 0) print(fmt::format("{}: no errors\n", arguments.system));
  return errors == 0 ? kDone : kFailed;
}

}  // namespace

Command add_check(CLI::App& program) {
  auto* command =
      add_subcommand(program, "check", "Report every problem of a system at once", "entrain check examples/mechanical");
  const auto arguments = std::make_shared<SystemArguments>();
  arguments->add_system(*command);
  arguments->add_method(*command);
  arguments->add_exclude(*command);
  arguments->add_tolerance(*command);
  return {command, [arguments] { return check_system(*arguments); }};
}

}  // namespace entrain::cli
