#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/fact.hpp"

namespace entrain {

/// Writes the system in the format that the name of `to` determines: .toml; .ssp with the FMUs packed; .ssd beside
/// which the FMUs stay where they are. Nothing that exists is overwritten. Throws Error with every problem. Returns
/// notes: what the format has no word for.
ENTRAIN_API std::vector<Fact> convert(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace entrain
