#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/common.hpp"
#include "facade/inspection.hpp"

namespace entrain::cli {

Command add_methods(CLI::App& program) {
  auto* command = add_subcommand(program, "methods", "List the coupling methods and their options", "entrain methods");
  return {command, [] {
            for (const auto& method : method_infos()) {
              print(fmt::format("{}: {}\n{}\n", method.name, method.summary, options_text(method.options)));
            }
            return kDone;
          }};
}

}  // namespace entrain::cli
