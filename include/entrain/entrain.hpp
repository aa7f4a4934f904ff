#pragma once

#include <filesystem>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/simulation.hpp"
#include "entrain/watchdog.hpp"

namespace entrain {

/// Reads a system file, a folder holding one `system.toml` (or a single .toml), or an FMU by itself (then it is the
/// subsystem "fmu", run as its default experiment says).
/// Throws Error{InvalidSystem} with every problem, or Error{FileFailed}.
ENTRAIN_API SystemDescription load(const std::filesystem::path& path);

/// Every problem of a system at once, without running it: file, names, connections, capabilities, options.
ENTRAIN_API std::vector<Problem> check(const std::filesystem::path& path);

ENTRAIN_API std::string_view version() noexcept;

}  // namespace entrain
