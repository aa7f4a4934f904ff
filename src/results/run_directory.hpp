#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace entrain {

/// The folder of a run: `out`, created if need be, or the first free `runs/NAME-N`. Two programs at once never get the
/// same new one. Throws Error{FileFailed}.
std::filesystem::path make_run_directory(const std::string& system_name,
                                         const std::optional<std::filesystem::path>& out);

}  // namespace entrain
