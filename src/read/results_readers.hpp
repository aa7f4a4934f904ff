#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "entrain/results.hpp"

namespace entrain::recording {
class ColumnSource;
}

namespace entrain::reading {

/// Opens a file by its extension, for as long as it is needed; throws Error{FileFailed}.
std::unique_ptr<recording::ColumnSource> open_results(const std::filesystem::path& file);
/// All of it.
Results read_results_file(const std::filesystem::path& file);
/// Of the signals that match one of the patterns.
Results read_matching(const std::filesystem::path& file, const std::vector<std::string>& patterns);

/// The results among the files of a run; throws Error{FileFailed} when there is none.
std::filesystem::path find_results(const std::filesystem::path& folder);

/// The formats that `open_results` chooses from; each throws Error{FileFailed} naming what makes no sense.
std::unique_ptr<recording::ColumnSource> csv_source(const std::filesystem::path& file);
std::unique_ptr<recording::ColumnSource> mat_source(const std::filesystem::path& file);

/// Columns that have one time axis in their file, and are not known at all of its times.
struct SharedRows {
  struct Row {
    Results::Column column;
    std::vector<bool> known;  ///< at each time; the values of the others make no sense
  };
  std::vector<Time> times;
  std::vector<Row> columns;
};
/// Each on an axis of the times at which it is known; those of equal ones are one.
void place_where_known(SharedRows rows, Results& results);

}  // namespace entrain::reading
