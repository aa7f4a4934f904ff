#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/system_description.hpp"

namespace entrain::description {

/// True for the names of SSP files: a package (.ssp) or a system structure description (.ssd).
bool is_ssp(const std::filesystem::path& file);

/// Reads an SSP package, or an SSD file with what lies beside it, as a flat system: elements of nested systems are
/// named "inner/part", FMUs in packages "system.ssp/resources/part.fmu" (see LocatedFile). Everything wrong is added to
/// `problems`; what is ignored is a warning among the notes of the description. Throws Error{FileFailed} when the file
/// itself cannot be read.
SystemDescription read_ssp(const std::filesystem::path& file, std::vector<Problem>& problems);

/// A path from the URI of a component or a parameter source: relative, or of the scheme file. The part behind '#' goes
/// to `fragment`. Throws Error{InvalidSystem} for other schemes and for what is no path.
std::filesystem::path path_of_uri(std::string_view uri, std::string& fragment);
/// The inverse: what a URI cannot hold is percent-encoded.
std::string uri_of_path(const std::filesystem::path& path);

}  // namespace entrain::description
