#pragma once

#include <filesystem>
#include <string>

#include "entrain/run_summary.hpp"

namespace entrain {

/// The text of run.json. Feedthrough is a list of [output, input] numbers.
std::string summary_json(const RunSummary& summary);

/// Replaces the file in one go; throws Error{FileFailed}.
void write_summary(const std::filesystem::path& file, const RunSummary& summary);

}  // namespace entrain
