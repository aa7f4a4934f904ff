#pragma once

#include <filesystem>
#include <string_view>

namespace entrain::base {

/// Replaces the file by `text` so that a reader sees the old content or the new, never a part. Throws Error{FileFailed}
/// and leaves the old content in place.
void replace_file(const std::filesystem::path& path, std::string_view text);

/// A file that must be replaced even on a full disk: space for it is set aside as long as this lives.
class ReservedFile {
 public:
  explicit ReservedFile(std::filesystem::path path);
  ~ReservedFile();
  ReservedFile(const ReservedFile&) = delete;
  ReservedFile& operator=(const ReservedFile&) = delete;

  /// Sets aside several times the present size of the file; where that is not possible there is no reserve.
  void reserve();
  /// Gives the space back.
  void release() const;
  /// As `replace_file`; uses the reserve when that fails.
  void replace(std::string_view text);

 private:
  std::filesystem::path path_;
  std::filesystem::path reserve_;
};

}  // namespace entrain::base
