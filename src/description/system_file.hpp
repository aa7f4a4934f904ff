#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/system.hpp"

namespace entrain::description {

/// The system file behind a user's path: the file itself (.toml, .ssp, .ssd), or the one in the folder. Throws
/// Error{FileFailed}.
std::filesystem::path find_system_file(const std::filesystem::path& path);

/// What a system is called: the folder's name for a system.toml or a SystemStructure.ssd, else the file's.
std::string system_name(const std::filesystem::path& file);

/// Parses the text of a system file (TOML). Everything wrong is added to `problems`, each with file and line; what
/// could be understood is returned, so that later checks can add theirs.
SystemDescription parse_system(std::string_view text, const std::filesystem::path& file,
                               std::vector<Problem>& problems);

/// The same for a file that holds a scenario alone.
std::vector<ScenarioDescription> parse_scenario(std::string_view text, const std::filesystem::path& file,
                                                std::vector<Problem>& problems);

/// Reads and parses, also SSP; throws Error{FileFailed} when the file cannot be read.
SystemDescription read_system(const std::filesystem::path& file, std::vector<Problem>& problems);

}  // namespace entrain::description
