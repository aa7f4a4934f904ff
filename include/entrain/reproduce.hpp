#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "entrain/export.hpp"

namespace entrain {

/// How a number that a paper prints is met.
enum class PrintedNumber {
  NotComparable,  ///< the paper prints none for this quantity
  Met,            ///< within 5 %
  Beaten,         ///< an error or a number of steps that is smaller than printed, an order that is higher
  NotMet,
};
/// "met", "beaten", "not met", "-".
ENTRAIN_API std::string_view to_string(PrintedNumber printed);

/// One number of a paper: printed there, verified independently (docs/theory/reproduction.md), and measured now.
struct ReproduceRow {
  std::string quantity;
  std::optional<double> paper;
  double reference = 0.0;
  double ours = 0.0;
  double tolerance = 0.0;  ///< relative to the reference
  std::string reason;      ///< why this tolerance
  bool ok = false;
  PrintedNumber printed = PrintedNumber::NotComparable;
  bool reference_is_ours = false;  ///< a bound that we computed, for want of a verified value
};

struct ENTRAIN_API ReproduceResult {
  std::string id;
  std::string title;
  std::vector<ReproduceRow> rows;
  bool ok() const;
  /// How many rows have this.
  std::size_t count(PrintedNumber printed) const;
};

/// The FMUs of the models, in place of the models.
struct FmuSet {
  std::filesystem::path folder;  ///< empty = the models themselves
  /// By model exchange where it is offered (car.controller reads u' and does not), else by co-simulation.
  bool model_exchange = false;

  bool used() const { return !folder.empty(); }
};

/// A shipped system.
struct Example {
  std::filesystem::path file;
  FmuSet fmus;  ///< see Examples
};

/// The shipped systems; `examples / "mechanical"` is one of them.
struct Examples {
  std::filesystem::path folder;
  /// If given, every method but the reference runs on them instead of on the models.
  FmuSet fmus{};

  Example operator/(const std::string& name) const { return {folder / name, fmus}; }
};

/// Every reproducible table: id and title.
ENTRAIN_API std::vector<std::pair<std::string, std::string>> reproduce_entries();

/// Runs one entry. Throws Error{InvalidSystem} for an unknown id, Error{FileFailed} when an FMU is missing.
ENTRAIN_API ReproduceResult reproduce(std::string_view id, const Examples& examples);

/// The list of results as JSON. `models`: what was run, "native" or "fmu 2".
ENTRAIN_API std::string reproduce_json(const std::vector<ReproduceResult>& results, const std::string& models);
/// The list of what can be reproduced as JSON.
ENTRAIN_API std::string reproduce_json(const std::vector<std::pair<std::string, std::string>>& entries);

}  // namespace entrain
