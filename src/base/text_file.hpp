#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace entrain::base {

struct TextFileKind {
  std::string_view name;    ///< "a system file"
  std::string_view remedy;  ///< when the file is no text at all, or too large
  std::uintmax_t most_bytes;
};

/// The content of a regular file. Throws Error{FileFailed}: a pipe or a device may never end, a large file is a
/// mistake.
std::string read_text_file(const std::filesystem::path& path, const TextFileKind& kind);

}  // namespace entrain::base
