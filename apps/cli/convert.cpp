#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/common.hpp"
#include "cli/system_arguments.hpp"
#include "entrain/convert.hpp"
#include "entrain/sandbox.hpp"

namespace entrain::cli {

Command add_convert(CLI::App& program) {
  struct Arguments {
    std::string in;
    std::string out;
    LoadOptions options;
  };
  auto* command = add_subcommand(program, "convert", "Write a system in another format: TOML or SSP",
                                 "entrain convert plant plant.ssp");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("IN", arguments->in, "System file (.toml, .ssp, .ssd), a folder holding one, or an FMU")
      ->required()
      ->type_name("");
  command->add_option("OUT", arguments->out, "File to write (.toml, .ssp, .ssd)")->required()->type_name("");
  add_sandbox(*command, arguments->options.sandbox);
  return {command, [arguments] {
            for (const auto& note : convert(arguments->in, arguments->out, arguments->options))
              print_error(render(note));
            print(fmt::format("wrote {}\n", arguments->out));
            return kDone;
          }};
}

}  // namespace entrain::cli
