#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace entrain::studio {

/// The opened folder: everything that the studio reads or writes lies in it.
class Folder {
 public:
  /// Throws std::filesystem::filesystem_error when there is no such folder.
  explicit Folder(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }

  /// The file of this name in the folder or beneath it, whether it exists or not; links are followed. nullopt for what
  /// lies outside, and for names that are no paths.
  std::optional<std::filesystem::path> inside(std::string_view name) const;

  /// Names of files with one of these endings, relative to the folder, at most three folders deep; runs are left out.
  std::vector<std::string> files(const std::vector<std::string>& endings) const;

 private:
  std::filesystem::path path_;
};

/// Whether this is a plain name of a file: no folder, nothing hidden, nothing that a terminal or a shell misreads.
bool is_file_name(std::string_view name);

}  // namespace entrain::studio
