#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace entrain::test {

/// Children of this process whose program has this name.
inline std::vector<pid_t> children_that_run(const std::string& program) {
  std::vector<pid_t> found;
  std::ifstream children(fmt::format("/proc/self/task/{}/children", ::getpid()));
  for (pid_t child = 0; children >> child;) {
    std::error_code gone;
    if (std::filesystem::read_symlink(fmt::format("/proc/{}/exe", child), gone).filename() == program)
      found.push_back(child);
  }
  return found;
}

}  // namespace entrain::test
