#pragma once

#include <filesystem>

#include "entrain/export.hpp"

namespace entrain {

/// Where the program entrain-worker is, which isolated subsystems run in (docs/workers.md); for the whole process.
/// Without it, or when it is empty: beside the executable or the library, or in the folder of programs of their
/// installation.
ENTRAIN_API void set_worker_program(std::filesystem::path program);

/// What the program entrain-worker does: makes the subsystems that its parent asks for, and their calls. Returns an
/// exit code where it was not started by a run; else the process ends with its parent.
ENTRAIN_API int serve_worker();

}  // namespace entrain
