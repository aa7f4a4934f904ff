#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string_view>

namespace entrain::recording {

/// A file that only ever grows by complete parts: whatever ends the program, what is on the disk can be read up to the
/// last complete part.
class AppendFile {
 public:
  /// Creates or empties the file. Throws Error{FileFailed}.
  explicit AppendFile(std::filesystem::path path);
  /// Goes on behind the first `keep` bytes of a file that is there.
  AppendFile(std::filesystem::path path, std::uint64_t keep);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// Appends the pieces. Throws Error{FileFailed} after cutting the file back to the last of the `ends` (bytes from the
  /// first piece on) that was reached, or to where it was; nothing is written after that.
  void append(std::initializer_list<std::string_view> pieces, std::span<const std::uint64_t> ends = {});
  /// What was appended survives the end of the operating system, too. May be called while another thread appends.
  void sync() const;

  std::uint64_t complete_bytes() const noexcept { return complete_; }
  bool failed() const noexcept { return failed_; }
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  bool is_ours() const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  dev_t device_ = 0;
  ino_t number_ = 0;
  bool failed_ = false;
  std::uint64_t complete_ = 0;  ///< bytes on the disk, in complete parts
};

}  // namespace entrain::recording
