#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/common.hpp"
#include "cli/system_arguments.hpp"
#include "entrain/entrain.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/new_system.hpp"
#include "entrain/sandbox.hpp"

namespace entrain::cli {
namespace {

/// Those that are open have a warning, which counts the others as well.
bool all_inputs_connected(const std::vector<Problem>& problems) {
  return !has_errors(problems) && std::none_of(problems.begin(), problems.end(), [](const Problem& problem) {
    return problem.fact.code == FactCode::InputsOpen;
  });
}

int make_new(const std::string& folder, const std::vector<std::string>& fmus, const LoadOptions& options) {
  const auto file = new_system(folder, {fmus.begin(), fmus.end()}, options);
  print(fmt::format("wrote {}\n", file.string()));
  const auto problems = check(file, {}, options);
  if (all_inputs_connected(problems)) {
    const auto connections = load(file, {}, options).connections.size();
    print(fmt::format("{} connection{}, no input is open\n", connections, connections == 1 ? "" : "s"));
  }
  print_error(to_string(problems));
  return has_errors(problems) ? kFailed : kDone;
}

}  // namespace

Command add_new(CLI::App& program) {
  struct Arguments {
    std::string folder;
    std::vector<std::string> fmus;
    LoadOptions options;
  };
  auto* command = add_subcommand(program, "new", "Make a system of FMUs: a folder with a commented system file",
                                 "entrain new plant engine.fmu gearbox.fmu && entrain run plant");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("DIR", arguments->folder, "Folder to make")->required()->type_name("");
  command->add_option("FMU", arguments->fmus, "FMUs to copy there and to connect")->required()->type_name("...");
  add_sandbox(*command, arguments->options.sandbox);
  return {command, [arguments] { return make_new(arguments->folder, arguments->fmus, arguments->options); }};
}

}  // namespace entrain::cli
