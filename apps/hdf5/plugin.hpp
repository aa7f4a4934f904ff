#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "record/hdf5_plugin.hpp"

namespace entrain::hdf5 {

// What the plug-in offers (record/hdf5_plugin.hpp).
std::unique_ptr<recording::ResultsFile> results_file(const std::filesystem::path& file);
std::unique_ptr<recording::ColumnSource> open_file(const std::filesystem::path& file);
void write_table(const std::filesystem::path& file, const std::vector<recording::TableColumn>& columns);

}  // namespace entrain::hdf5
