#pragma once

#include <filesystem>
#include <vector>

#include "entrain/system_description.hpp"

namespace entrain::description {

/// True for the names of system structures of the Open Simulation Platform: "OspSystemStructure.xml" and the like.
bool is_osp(const std::filesystem::path& file);

/// Reads an OspSystemStructure.xml, the descriptions of its FMUs, which tell the direction of a connection, and their
/// variable groups (`<fmu>_OspModelDescription.xml` beside the FMU). Everything wrong is added to `problems`. Throws
/// Error{FileFailed} when the file itself cannot be read.
SystemDescription read_osp(const std::filesystem::path& file, std::vector<Problem>& problems);

}  // namespace entrain::description
