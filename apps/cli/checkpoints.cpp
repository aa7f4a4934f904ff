#include "cli/checkpoints.hpp"

#include <CLI/CLI.hpp>

#include "cli/common.hpp"

namespace entrain::cli {

void CheckpointArguments::add(CLI::App& command) {
  auto* written =
      command.add_option("--checkpoint", file, "Write a file from which the run can be continued")->type_name("FILE");
  command.add_option("--every", every, "Simulated seconds between checkpoints (default: one at the end)")
      ->type_name("T")
      ->check(positive_number())
      ->needs(written);
  auto* from = command.add_option("--resume", resumed, "Go on from a checkpoint file; SYSTEM may be left out")
                   ->type_name("FILE");
  command.add_flag("--append", append, "Go on in the results of the run that wrote the checkpoint")
      ->needs(from)
      ->excludes("--out");
}

CheckpointOptions CheckpointArguments::options() const {
  CheckpointOptions options;
  if (file) options.file = *file;
  options.every = every;
  if (resumed) options.resume = *resumed;
  options.append = append;
  return options;
}

}  // namespace entrain::cli
