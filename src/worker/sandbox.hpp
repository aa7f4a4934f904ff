#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace entrain::worker {

/// What a worker may use.
struct Confinement {
  bool sandbox = false;      ///< no network, no other files, no new processes
  std::uint64_t memory = 0;  ///< bytes of data, in a sandbox also of temporary files and of each shared memory; 0 = any

  auto operator<=>(const Confinement&) const = default;
};

/// What the process in a sandbox sees besides the programs and libraries of the system.
struct SandboxFolders {
  std::filesystem::path own;      ///< read only: its FMUs, unpacked
  std::filesystem::path scratch;  ///< its temporary files, in memory, and its working directory
  std::uint64_t most = 0;         ///< bytes of temporary files; 0 = no limit
};

/// The command that runs `program` in a sandbox, made by bubblewrap. Throws Error{FileFailed} where that is not
/// installed.
std::vector<std::string> sandboxed_command(const std::filesystem::path& program, const SandboxFolders& folders);

/// Environment of a process in a sandbox: nothing that is not for everyone.
std::vector<std::string> sandboxed_environment(const SandboxFolders& folders);

/// In the worker itself, before any code that is not ours, for good. Throws std::system_error.
void confine(const Confinement& confinement);

}  // namespace entrain::worker
