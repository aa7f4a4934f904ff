#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/common.hpp"
#include "cli/text_report.hpp"
#include "entrain/inspection.hpp"

namespace entrain::cli {

Command add_methods(CLI::App& program) {
  auto* command = add_subcommand(program, "methods", "List the coupling methods and their options", "entrain methods");
  return {
      command, [] {
        for (const auto& method : methods()) {
          print(fmt::format("{}: {}\n{}\n", method.traits.name, method.traits.summary, options_text(method.options)));
        }
        return kDone;
      }};
}

}  // namespace entrain::cli
