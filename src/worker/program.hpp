#pragma once

#include <sys/types.h>

#include <filesystem>

#include "worker/sandbox.hpp"

namespace entrain::worker {

/// A new worker and this end of what it shares with us.
struct StartedProgram {
  pid_t process = -1;
  int socket = -1;
  int lifeline = -1;
};

/// Starts the program entrain-worker with the shared memory behind `memory` and `folder` for its temporary files.
/// Throws Error{FileFailed} when it is not found or does not start.
StartedProgram start_program(int memory, const std::filesystem::path& folder);
/// The same in a sandbox. What its making has to say goes to the file `said`.
StartedProgram start_sandboxed_program(int memory, const SandboxFolders& folders, const std::filesystem::path& said);

}  // namespace entrain::worker
