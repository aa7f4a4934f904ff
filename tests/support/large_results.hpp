#pragma once

#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>

#include "record/results_file.hpp"

namespace entrain::test {

/// Results of so many columns and rows in any format, written block by block. One value, of the last column but one, is
/// far above all others.
inline void write_large_results(std::string_view format, const std::filesystem::path& file, std::size_t columns,
                                std::size_t rows) {
  recording::RecordedLayout layout;
  layout.groups = {"s"};
  for (std::size_t c = 0; c < columns; ++c) layout.columns.push_back({"s.x" + std::to_string(c), "m", "", 0});
  layout.stop = static_cast<double>(rows);
  layout.expected_rows = static_cast<double>(rows);
  const auto made = recording::make_final_file(format, file);
  made->write_header(layout);
  recording::RowBlock block(columns, 1, 4096);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto added = block.add(static_cast<double>(row));
    for (std::size_t c = 0; c < columns; ++c) added.values[c] = static_cast<double>((row / 100 + c) % 10);
    if (row == rows / 3) added.values[columns - 2] = 1000.0;
    added.known[0] = 1;
    if (!block.full() && row + 1 < rows) continue;
    made->write(block, block.all());
    block.clear();
  }
  made->flush();
  made->complete();
}

}  // namespace entrain::test
