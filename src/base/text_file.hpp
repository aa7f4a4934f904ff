#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace entrain::base {

struct TextFileKind {
  std::string_view name;    ///< "a system file"
  std::string_view remedy;  ///< when the file is no text at all, or too large
  std::uintmax_t most_bytes;
};

/// A regular file that is read piece by piece. Throws Error{FileFailed}: a pipe or a device may never end.
class RegularFile {
 public:
  RegularFile(const std::filesystem::path& path, std::string_view remedy);
  std::uintmax_t size() const { return size_; }
  /// Less than `count` at the end alone.
  std::size_t read(char* to, std::size_t count);
  /// From this place on.
  void seek(std::uintmax_t place);

 private:
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::uintmax_t size_ = 0;
};

/// The content of a regular file. Throws Error{FileFailed}: a pipe or a device may never end, a large file is a
/// mistake.
std::string read_text_file(const std::filesystem::path& path, const TextFileKind& kind);

}  // namespace entrain::base
