#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace entrain {

/// Makes a folder with copies of the FMUs and a commented system.toml that couples them, as far as that is unambiguous
/// (propose_connections). Nothing that exists is overwritten: Error{FileFailed}. Returns the path of the system file.
std::filesystem::path make_system_folder(const std::filesystem::path& folder,
                                         const std::vector<std::filesystem::path>& fmus);

}  // namespace entrain
