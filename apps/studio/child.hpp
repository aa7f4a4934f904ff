#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace entrain::studio {

/// How a command is started: in this folder, by these words.
struct ChildCommand {
  std::filesystem::path program;
  std::vector<std::string> words;
  std::filesystem::path folder;
};

struct ChildResult {
  int code = -1;         ///< exit code; -1 = it did not end by itself
  std::string output;    ///< standard output
  std::string errors;    ///< standard error
  bool is_late = false;  ///< ended by the deadline
  bool is_cut = false;   ///< more output than is kept
};

/// Runs a command to its end with `input` as its standard input.
ChildResult run_child(const ChildCommand& command, const std::string& input, std::chrono::seconds patience);

/// Starts a command that lives on when this process ends, with its output in `log`. The process is a child all the
/// same: how it ended is known by waitpid. Throws std::system_error.
pid_t start_apart(const ChildCommand& command, const std::filesystem::path& log);

}  // namespace entrain::studio
