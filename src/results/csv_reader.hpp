#pragma once

#include <filesystem>
#include <string_view>

#include "results/signal_table.hpp"

namespace entrain {

struct CsvResults : SignalTable {
  std::vector<std::vector<bool>> known;  ///< per column and row: was there anything in the cell?
  bool cut = false;                      ///< the last line was incomplete (the program was killed) and left out
};

/// Reads a results.csv, or one of another tool whose first column is the time. Empty cells are NaN. Throws
/// Error{FileFailed} naming the line that makes no sense.
CsvResults read_csv(const std::filesystem::path& file);
/// The same from text; `file` is for the messages.
CsvResults parse_csv(std::string_view text, const std::filesystem::path& file);

}  // namespace entrain
