#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "entrain/simulation.hpp"

namespace entrain {

/// The text of run.json. Feedthrough is a list of [output, input] numbers. `recorded`: the signals in the results,
/// whose units and descriptions a table of numbers cannot hold.
std::string summary_json(const RunSummary& summary, std::span<const Signal> recorded = {});

/// Replaces the file in one go; throws Error{FileFailed}.
void write_summary(const std::filesystem::path& file, const RunSummary& summary, std::span<const Signal> recorded = {});

}  // namespace entrain
