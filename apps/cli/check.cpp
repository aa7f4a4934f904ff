#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <iterator>

#include "cli/common.hpp"
#include "cli/system_arguments.hpp"
#include "entrain/entrain.hpp"
#include "entrain/sandbox.hpp"
#include "entrain/sketch.hpp"

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

std::string standard_input() {
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

/// For editors: everything that is known, as JSON; of the text in an editor, which need not be saved.
int sketch_system(const SystemArguments& arguments, bool from_input) {
  const LoadOptions options{.sandbox = arguments.sandbox};
  const auto known =
      from_input ? sketch(standard_input(), arguments.system, options) : sketch(arguments.system, options);
  print_exact(sketch_json(known));
  return has_errors(known.problems) ? kFailed : kDone;
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
  const auto json = std::make_shared<bool>(false);
  const auto from_input = std::make_shared<bool>(false);
  auto* as_json = command->add_flag("--json", *json, "Print what is known of the system and its problems, for editors");
  command->add_flag("--stdin", *from_input, "The text of the file is the standard input, not what the file contains")
      ->needs(as_json);
  return {command, [=] { return *json ? sketch_system(*arguments, *from_input) : check_system(*arguments); }};
}

}  // namespace entrain::cli
