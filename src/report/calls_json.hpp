#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace entrain::reporting {

/// calls.csv of a run for its page, by subsystem: {"one_in", "takes", "inputs": [names], "kinds": "tts", "from": [...],
/// "to": [...], "seconds": [...], "coefficients": [one list of each call and input, lowest order first]}. Null where
/// the run has none, or the file is something else; empty where no step was called.
nlohmann::ordered_json calls_json(const std::filesystem::path& file);

}  // namespace entrain::reporting
