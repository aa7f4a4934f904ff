#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "results/difference.hpp"
#include "results/recorded_results.hpp"

namespace entrain {

/// A run, or results from elsewhere, beside others. Empty where a file of results alone does not tell.
struct ComparedRun {
  std::string label;
  std::string method;
  bool is_reference = false;  ///< the method has no coupling error
  std::optional<double> step;
  std::optional<double> wall_seconds;
  std::optional<std::uint64_t> subsystem_steps;
  std::optional<double> max_coupling_residual;
  std::optional<double> error;  ///< worst relative rms difference of a variable; nothing for the reference
  std::string unfinished;       ///< how the run ended, if not with its stop time
  RecordedResults results;
};

struct VariableDifference {
  std::string name;
  std::string unit;
  std::size_t run = 0;
  Difference difference;
};

struct Comparison {
  std::vector<ComparedRun> runs;
  std::size_t reference = 0;
  std::vector<VariableDifference> differences;  ///< worst first
  std::vector<std::string> notes;               ///< what could not be compared, and what limits the answer
};

/// Reads runs (folders) and files of results, and compares all with the reference: the one named, else the first
/// monolithic run, else the first. Values are converted to the units of the reference. Throws Error{FileFailed}, and
/// Error{InvalidSystem} when nothing can be compared.
Comparison compare_runs(const std::vector<std::string>& runs, const std::optional<std::string>& reference);

/// All of it but the curves.
nlohmann::ordered_json comparison_data(const Comparison& comparison);
std::string comparison_text(const Comparison& comparison);
std::string comparison_json(const Comparison& comparison);
/// HTML in one file: overlaid curves, and error over cost.
std::string comparison_page(const Comparison& comparison);

}  // namespace entrain
