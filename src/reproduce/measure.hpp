#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "results/memory_recorder.hpp"

namespace entrain {

/// Runs a shipped system file as `entrain run FILE --method M --step H --option ...` would and keeps chosen signals.
/// Throws Error when the run does not complete.
MemoryRecorder run_example(const std::filesystem::path& file, std::string_view method, double step,
                           const std::vector<std::string>& signals, const std::vector<std::string>& options = {});

/// The error metric of the papers' tables: 100 rms(values - reference) / (max - min of the reference).
double percent_error(const std::vector<double>& values, const std::vector<double>& reference);

}  // namespace entrain
