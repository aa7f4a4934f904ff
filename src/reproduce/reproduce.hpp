#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace entrain {

/// One number of a paper: printed there, verified independently (docs/theory/reproduction.md), and measured now.
struct ReproduceRow {
  std::string quantity;
  std::optional<double> paper;
  double reference = 0.0;
  double ours = 0.0;
  double tolerance = 0.0;  ///< relative to the reference
  std::string reason;      ///< why this tolerance
  bool ok = false;
};

struct ReproduceResult {
  std::string id;
  std::string title;
  std::vector<ReproduceRow> rows;
  bool ok() const;
};

/// Every reproducible table: id and title.
std::vector<std::pair<std::string, std::string>> reproduce_entries();

/// Runs one entry on the system files in `examples`. Throws Error{InvalidSystem} for an unknown id.
ReproduceResult reproduce(std::string_view id, const std::filesystem::path& examples);

}  // namespace entrain
