#pragma once

#include <filesystem>

#include "results/recorded_results.hpp"

namespace entrain {

/// The formats that `read_results` chooses from; each throws Error{FileFailed} naming what makes no sense.
RecordedResults read_hdf5(const std::filesystem::path& file);
RecordedResults read_mat(const std::filesystem::path& file);

/// Adds a column whose values are at `times`, without those that are not known, on the axis that has just the known
/// times. `known_on_axis` is what made each axis of `results`; start with an empty one.
void add_where_known(RecordedResults& results, std::vector<std::vector<bool>>& known_on_axis,
                     const std::vector<Time>& times, std::vector<bool> known, RecordedResults::Column column);

}  // namespace entrain
