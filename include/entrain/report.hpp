#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "entrain/export.hpp"
#include "entrain/simulation.hpp"

namespace entrain {

/// Writes the report of a run, HTML in one file, from what the run left in its folder. Throws Error{FileFailed}.
ENTRAIN_API void report(const std::filesystem::path& run_directory, const std::filesystem::path& file);

/// Throws Error{FileFailed} when reports are not included in this build: to be reported before a long run, not after
/// it.
ENTRAIN_API void require_pages();

/// The text of run.json. Feedthrough is a list of [output, input] numbers. `recorded`: the signals in the results,
/// whose units and descriptions a table of numbers cannot hold.
ENTRAIN_API std::string summary_json(const RunSummary& summary, std::span<const Signal> recorded = {});

/// {"failure": ..., "problems": [...]}: an error as data. The failure is written as in run.json; problems are there
/// when the error has some.
ENTRAIN_API std::string error_json(const Error& error);

}  // namespace entrain
