#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "entrain/export.hpp"
#include "entrain/simulation.hpp"
#include "entrain/verdict.hpp"

namespace entrain {

/// Writes the report of a run, HTML in one file, from what the run left in its folder. Throws Error{FileFailed}.
ENTRAIN_API void report(const std::filesystem::path& run_directory, const std::filesystem::path& file);

/// What the report of a run shows, as the JSON that its page holds. Throws Error{FileFailed}.
ENTRAIN_API std::string report_json(const std::filesystem::path& run_directory);

/// Throws Error{FileFailed} when reports are not included in this build: to be reported before a long run, not after
/// it.
ENTRAIN_API void require_pages();

/// The text of run.json. Feedthrough is a list of [output, input] numbers. `recorded`: the signals in the results,
/// whose units and descriptions a table of numbers cannot hold. Without a verdict its grade is "pending".
ENTRAIN_API std::string summary_json(const RunSummary& summary, std::span<const Signal> recorded = {},
                                     const Verdict* verdict = nullptr, const ErrorEstimate* estimate = nullptr);

/// For another process, when that of a run has ended in the middle of it: run.json says that the run failed, and why;
/// of a run that was complete by then, a warning. False where there is nothing to add, or no such file.
ENTRAIN_API bool complete_run_json(const std::filesystem::path& run_directory, const Error& error) noexcept;

/// {"failure": ..., "problems": [...]}: an error as data. The failure is written as in run.json; problems are there
/// when the error has some.
ENTRAIN_API std::string error_json(const Error& error);

}  // namespace entrain
