#pragma once

#include <nlohmann/json_fwd.hpp>

#include <exception>
#include <filesystem>
#include <string>

#include "entrain/error.hpp"
#include "entrain/results.hpp"

namespace entrain::reporting {

/// run.json of a run. Throws Error{FileFailed} naming what is missing or cannot be understood.
nlohmann::ordered_json read_run_json(const std::filesystem::path& folder);
/// Error{FileFailed} for a run.json with a value of another kind than a run writes: changed by hand, or damaged.
Error damaged_run_json(const std::filesystem::path& folder, const std::exception& why);

/// Units and descriptions that the results do not hold themselves, from run.json.
void add_units(Results& results, const nlohmann::ordered_json& run);

/// What its page shows. Throws Error{FileFailed}.
nlohmann::ordered_json run_page_data(const std::filesystem::path& folder);

/// The report of a run, as HTML in one file. Throws Error{FileFailed}.
std::string run_page(const std::filesystem::path& folder);

}  // namespace entrain::reporting
