#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace entrain::recording {

struct TableColumn {
  std::string name;
  std::vector<double> numbers;
  std::size_t width = 0;  ///< 0 = a list; otherwise rows of so many numbers
};
/// A data set of doubles for each column, in their order; of two with one name the first. Written beside the
/// file and renamed: a reader sees the old table or the new one. Throws Error{FileFailed}.
void write_table_hdf5(const std::filesystem::path& file, const std::vector<TableColumn>& columns);

}  // namespace entrain::recording
