#pragma once

#include <filesystem>

namespace entrain::cli {

/// Forks: the program goes on in a child, whose parent waits for it and says what happened when it ends without a word:
/// by _exit(0), exec or a fault of a thread that an FMU left behind. The parent has the exit code of the child,
/// never a 0 that an FMU made up; it passes signals on; the child ends with it.
void supervise();

/// From the child: the folder of the run under way, whose run.json the parent completes.
void tell_supervisor(const std::filesystem::path& folder);
/// From the child, just before it ends: its exit code is its own.
void report_end();

}  // namespace entrain::cli
