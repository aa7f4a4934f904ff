#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "entrain/system_description.hpp"

namespace entrain::cli {

/// For a shell: as it is, or between quotes.
std::string quoted_argument(const std::string& word);

/// --sandbox of a verb that loads FMUs.
void add_sandbox(CLI::App& command, bool& sandbox);

/// A system, and what is changed of it on the command line.
struct SystemArguments {
  std::string system;
  std::optional<double> step;
  std::optional<double> start;
  std::optional<double> stop;
  std::vector<std::string> sets;
  std::vector<std::string> scenarios;
  std::optional<std::string> method;
  std::vector<std::string> options;
  std::vector<std::string> excluded;
  std::optional<double> tolerance;
  bool isolate = false;
  bool sandbox = false;
  bool stand_in = false;

  /// SYSTEM, --step, --start, --stop, --set, --scenario, --isolate, --sandbox, --stand-in.
  void add_system(CLI::App& command);
  /// --method, --option.
  void add_method(CLI::App& command);
  /// --exclude.
  void add_exclude(CLI::App& command);
  /// --tolerance.
  void add_tolerance(CLI::App& command);

  /// Whether anything is changed of the system, but for the sandbox.
  bool changes() const;
  /// What is changed of the system, as it stands on a command line, without the step.
  std::string other_arguments() const;
  SystemDescription described() const;
  SystemDescription changed(SystemDescription description) const;
};

}  // namespace entrain::cli
