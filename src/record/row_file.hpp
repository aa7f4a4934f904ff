#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "entrain/variable.hpp"
#include "record/append_file.hpp"

namespace entrain::recording {

/// A text file of rows. They are collected in a buffer that is written when it is full and by `flush`.
class RowFile {
 public:
  /// Creates or empties the file. Throws Error{FileFailed}.
  explicit RowFile(std::filesystem::path path);
  /// Goes on behind the first `keep` bytes of a file that is there; its last row is that of the time `last`.
  RowFile(std::filesystem::path path, std::uint64_t keep, std::optional<Time> last);
  /// Writes what is left and ignores failures: call `flush` to get them.
  ~RowFile();
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;

  /// At once, as one part: a line end in it may belong to a quoted name.
  void write_header(std::string_view header) { file_.append({header}); }

  /// Room for one row of at most `size` characters. Write there, then call `end_row` with one past the last character.
  char* begin_row(std::size_t size);
  void end_row(const char* end, Time t);

  /// Throws Error{FileFailed} after cutting the file back to its last complete row; nothing is written after that.
  void flush();
  void sync() const { file_.sync(); }
  /// Of the last row that the file contains.
  std::optional<Time> last_time() const { return last_; }

 private:
  /// Of the rows in the buffer, how many of them the file contains now.
  void forget(std::uint64_t written);

  AppendFile file_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  std::vector<std::uint64_t> ends_;  // of the rows in the buffer
  std::vector<Time> times_;
  std::optional<Time> last_;
};

}  // namespace entrain::recording
