#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/common.hpp"
#include "cli/system_arguments.hpp"
#include "entrain/entrain.hpp"
#include "entrain/new_system.hpp"
#include "entrain/sandbox.hpp"

namespace entrain::cli {
namespace {

int make_new(const std::string& folder, const std::vector<std::string>& fmus, const LoadOptions& options) {
  const auto file = new_system(folder, {fmus.begin(), fmus.end()}, options);
  print(fmt::format("wrote {}\n", file.string()));
  const auto problems = check(file, {}, options);
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
