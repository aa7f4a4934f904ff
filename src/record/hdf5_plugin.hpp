#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "record/column_source.hpp"
#include "record/results_file.hpp"

namespace entrain::recording {

struct TableColumn {
  std::string name;
  std::vector<double> numbers;
  std::size_t width = 0;  ///< 0 = a list; otherwise rows of so many numbers
};

/// What the plug-in libentrain_hdf5.so offers, the only part that is linked with HDF5 (docs/adr/0117). Each throws
/// Error{FileFailed}.
struct Hdf5Plugin {
  std::string_view version;  ///< of the Entrain that built it: C++ types pass between both sides
  std::unique_ptr<ResultsFile> (*results_file)(const std::filesystem::path& file);
  std::unique_ptr<ColumnSource> (*open)(const std::filesystem::path& file);
  /// A data set of doubles for each column, in their order; of two with one name the first. Written beside the
  /// file and renamed: a reader sees the old table or the new one.
  void (*write_table)(const std::filesystem::path& file, const std::vector<TableColumn>& columns);
};

inline constexpr const char* kHdf5PluginEntry = "entrain_hdf5";

/// Loads it when it is first needed. Throws Error{FileFailed}, with the file that needs it.
const Hdf5Plugin& hdf5_plugin(const std::filesystem::path& file);

}  // namespace entrain::recording
