#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/fact.hpp"
#include "entrain/results.hpp"

namespace entrain {

/// How far two courses of a signal are from each other.
struct Difference {
  double rms = 0.0;  ///< root of the mean over time of the squared difference
  double max = 0.0;  ///< largest |difference|; NaN as soon as one value is not a number
  Time at = 0.0;     ///< where that was
  /// rms as part of the size of the reference; nothing when that is 0 and the runs differ.
  std::optional<double> relative;
};

/// A run, or results from elsewhere, beside others. Empty where a file of results alone does not contain it.
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
  Results results;
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
  std::vector<Fact> notes;                      ///< what could not be compared, and what limits the answer
};

/// Reads runs (folders) and files of results, and compares all with the reference: the one named, else the first run of
/// a method without coupling error, else the first. Values are converted to the units of the reference. Throws
/// Error{FileFailed}, and Error{InvalidSystem} when nothing can be compared.
ENTRAIN_API Comparison compare(const std::vector<std::filesystem::path>& runs,
                               const std::optional<std::filesystem::path>& reference = {});

/// All of it but the curves, as JSON.
ENTRAIN_API std::string comparison_json(const Comparison& comparison);

/// What the page of a comparison shows, as the JSON that it holds.
ENTRAIN_API std::string comparison_page_json(const Comparison& comparison);

/// HTML in one file: overlaid curves, and error over cost. Throws Error{FileFailed}, also when reports are not
/// included.
ENTRAIN_API void write_comparison_page(const Comparison& comparison, const std::filesystem::path& file);

}  // namespace entrain
