#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace entrain::recording {

/// A text file that only ever grows by complete rows: whatever ends the program, what is on the disk can be read up to
/// the last complete row. Rows are collected in a buffer that is written when it is full and by `flush`.
class RowFile {
 public:
  /// Creates or empties the file. Throws Error{FileFailed}.
  explicit RowFile(std::filesystem::path path);
  /// Goes on behind the first `keep` bytes of a file that is there.
  RowFile(std::filesystem::path path, std::uint64_t keep);
  /// Writes what is left and ignores failures: call `flush` to get them.
  ~RowFile();
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;

  /// Appends one row and writes it at once.
  void write_header(std::string_view row);

  /// Room for one row of at most `size` characters. Write there, then call `end_row` with one past the last character.
  char* begin_row(std::size_t size);
  void end_row(const char* end);

  /// Throws Error{FileFailed} after cutting the file back to its last complete row; nothing is written after that.
  void flush();
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  void fail(int error_number);

  std::filesystem::path path_;
  int descriptor_ = -1;
  bool failed_ = false;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  std::uint64_t complete_bytes_ = 0;  ///< on the disk, in complete rows
};

}  // namespace entrain::recording
