#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "record/results_file.hpp"

namespace entrain::recording {

/// results.h5.journal of results.h5: the rows of a run as they come, until the file itself is made of them (ADR 0051).
std::filesystem::path journal_of(const std::filesystem::path& file);

/// Writes the journal of `file`, and makes `file` of it when it is complete.
std::unique_ptr<ResultsFile> journal_file(std::string_view format, const std::filesystem::path& file);

/// What stands before the payload of a record.
struct JournalRecordHead {
  std::uint64_t bytes;
  std::uint64_t rows;  ///< 0 = the header
  std::uint64_t checksum;
};
/// Of a record with so many rows of such a layout.
std::uint64_t journal_checksum(const RecordedLayout& layout, std::uint64_t rows, std::string_view payload);

/// Reads a journal, also one that a killed run has left or a run still writes: it ends with the last complete record.
class JournalReader {
 public:
  /// Throws Error{FileFailed} for a file that is none, or whose header is not complete.
  explicit JournalReader(std::filesystem::path journal);

  const std::string& format() const { return format_; }
  const RecordedLayout& layout() const { return layout_; }
  /// The rows of the next record; nullopt at the end.
  std::optional<RowBlock> next();

 private:
  bool read_record();

  std::filesystem::path path_;
  std::ifstream stream_;
  std::string format_;
  RecordedLayout layout_;
  std::size_t discrete_ = 0;  ///< columns that are no real numbers
  std::uint64_t rows_ = 0;    ///< of the record that was read
  base::Bytes payload_;
};

/// Makes `file`, at once in its final form, of a journal, in the format that the journal names. Throws
/// Error{FileFailed} and leaves no part of it.
void make_file_of(const std::filesystem::path& journal, const std::filesystem::path& file);

}  // namespace entrain::recording
