#pragma once

#include <filesystem>
#include <string_view>

#include "entrain/recording.hpp"

namespace entrain::reading {

struct CsvResults : Recording {
  std::vector<std::vector<bool>> known;  ///< per column and row: was there anything in the cell?
  std::vector<bool> text;                ///< per column: was there anything that is no number?
  bool cut = false;                      ///< the last line was incomplete (the program was killed) and left out
};

/// A last row without a line end: of our own files it is what a killed program left, and its last number may lack
/// digits. Others end so on purpose, when the row has all its cells.
enum class OpenEnd { Cut, Complete };

/// Reads a results.csv of any size, or one of another tool whose first column is the time. Empty cells are NaN, empty
/// lines nothing. Columns that are not chosen stay empty (`chosen` is empty = all). Throws Error{FileFailed} naming the
/// line that makes no sense; also for times that fall.
CsvResults read_csv(const std::filesystem::path& file, OpenEnd end = OpenEnd::Cut,
                    const std::vector<bool>& chosen = {});
/// Its names and, about, its rows.
struct CsvOutline {
  std::vector<std::string> names;
  std::size_t rows = 0;
};
CsvOutline outline_csv(const std::filesystem::path& file);
/// The same from text; `file` is for the messages.
CsvResults parse_csv(std::string_view text, const std::filesystem::path& file, OpenEnd end = OpenEnd::Cut);

}  // namespace entrain::reading
