#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/common.hpp"
#include "entrain/entrain.hpp"

namespace entrain::cli {

Command add_version(CLI::App& program) {
  auto* command = add_subcommand(program, "version", "Print the version", "entrain version");
  return {command, [] {
            print(fmt::format("entrain {}\n", version()));
            return kDone;
          }};
}

}  // namespace entrain::cli
