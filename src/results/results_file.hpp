#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/variable.hpp"
#include "results/row_block.hpp"

namespace entrain {

/// What is recorded. The columns of one subsystem are a group: they are known at the same times.
struct RecordedLayout {
  struct Column {
    std::string name;  ///< "subsystem.variable"
    std::string unit;
    std::string description;
    std::size_t group = 0;
    /// Of a column that is no real number: which of the texts of a row has it exactly, as a cell of a CSV file.
    std::optional<std::size_t> text = std::nullopt;
  };
  std::vector<Column> columns;
  std::vector<std::string> groups;  ///< names of the subsystems
  Time start = 0.0;
  Time stop = 0.0;
};

/// A file that results are written to, block by block. Used by one thread at a time. Every call may throw
/// Error{FileFailed}; what was written before can be read, and nothing is written after.
class ResultsFile {
 public:
  virtual ~ResultsFile() = default;
  /// Called once, before the blocks.
  virtual void write_header(const RecordedLayout& layout) = 0;
  /// Afterwards the block is on the disk, whatever ends the program.
  virtual void write(const RowBlock& block) = 0;
};

/// Of a value of `record.format`.
std::string results_file_name(std::string_view format);

/// Each creates or empties the file; throws Error{FileFailed}.
std::unique_ptr<ResultsFile> make_results_file(std::string_view format, const std::filesystem::path& file);
std::unique_ptr<ResultsFile> csv_file(const std::filesystem::path& file);
std::unique_ptr<ResultsFile> hdf5_file(const std::filesystem::path& file);
std::unique_ptr<ResultsFile> mat_file(const std::filesystem::path& file);

}  // namespace entrain
