#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>

#include "entrain/run.hpp"

namespace entrain::cli {

/// Checkpoint files of a run: written on the way, and gone on from.
struct CheckpointArguments {
  std::optional<std::string> file;
  std::optional<double> every;  ///< simulated s; empty = at the end alone
  std::optional<std::string> resumed;
  bool append = false;

  /// --checkpoint, --every, --resume, --append.
  void add(CLI::App& command);
  CheckpointOptions options() const;
};

}  // namespace entrain::cli
