#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "entrain/export.hpp"

namespace entrain {

/// Makes a folder with copies of the FMUs and a commented system.toml that couples them, as far as that is unambiguous
/// by their names, units and causality, and the schema that editors check it by (system.schema.json). Nothing that
/// exists is overwritten: Error{FileFailed}. Returns the path of the system file.
ENTRAIN_API std::filesystem::path new_system(const std::filesystem::path& folder,
                                             const std::vector<std::filesystem::path>& fmus);

/// The JSON schema of system files: every key with its type, limits and meaning.
ENTRAIN_API std::string system_schema();

}  // namespace entrain
