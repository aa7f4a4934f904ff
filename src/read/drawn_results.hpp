#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "entrain/results.hpp"

namespace entrain::reading {

/// What a page needs of recorded results, in memory that does not grow with them.
struct DrawnResults {
  Results results;                   ///< of a large file the samples that are drawn (`drawn_samples`)
  std::vector<std::size_t> samples;  ///< of each column, in the file
  std::size_t not_finite = 0;        ///< numbers in the file
  std::optional<Time> last;          ///< time of any column; none where there is no row

  std::size_t most_samples() const;
};

/// Reads a file by its extension, some columns at a time if it is large; throws Error{FileFailed}. `most_numbers` are
/// in memory at once, or one column with its times.
DrawnResults read_drawn(const std::filesystem::path& file, std::size_t most_numbers = std::size_t{12} << 20U);

}  // namespace entrain::reading
