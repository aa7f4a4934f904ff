#pragma once

#include <filesystem>

#include "entrain/results.hpp"

namespace entrain::reading {

/// Reads a file by its extension; throws Error{FileFailed}.
Results read_results_file(const std::filesystem::path& file);

/// The results among the files of a run; throws Error{FileFailed} when there is none.
std::filesystem::path find_results(const std::filesystem::path& folder);

/// One of the formats that `read_results_file` chooses from; throws Error{FileFailed} naming what makes no sense.
Results read_mat(const std::filesystem::path& file);

/// Adds a column whose values are at `times`, without those that are not known, on the axis that has just the known
/// times. `known_on_axis` is what made each axis of `results`; start with an empty one.
void add_where_known(Results& results, std::vector<std::vector<bool>>& known_on_axis, const std::vector<Time>& times,
                     std::vector<bool> known, Results::Column column);

}  // namespace entrain::reading
