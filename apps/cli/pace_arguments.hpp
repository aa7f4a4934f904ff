#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "entrain/entrain.hpp"

namespace entrain::cli {

/// A run at the pace of the wall clock.
struct PaceArguments {
  CLI::Option* option = nullptr;
  std::string factor;  ///< empty: 1
  std::optional<std::string> overrun;
  bool priority = false;

  /// --real-time, --overrun, --priority.
  void add(CLI::App& command);
  SystemDescription changed(SystemDescription description) const;
  std::optional<RealTimeOptions> options(const SystemDescription& description) const;
};

}  // namespace entrain::cli
