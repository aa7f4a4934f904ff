#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/private_folder.hpp"

namespace entrain::base {

/// What an archive may hold. More is an attack or a mistake, whatever its headers contain.
struct ArchiveLimits {
  std::uint64_t entries = 100'000;
  std::uint64_t bytes = std::uint64_t{4} << 30U;              ///< of all entries, unpacked
  std::uint64_t ratio = 1000;                                 ///< unpacked to packed size of an entry ...
  std::uint64_t ratio_free_bytes = std::uint64_t{1} << 20U;   ///< ... above this size
  std::uint64_t total_ratio = 100;                            ///< of all entries to the archive ...
  std::uint64_t total_free_bytes = std::uint64_t{64} << 20U;  ///< ... above this size
  double seconds = 120.0;                                     ///< to unpack it
};

/// A file that may lie inside archives: "system.ssp/resources/part.fmu" names the entry resources/part.fmu of
/// system.ssp. It is taken out into a private folder, as long as this object lives; a file of its own stays where it
/// is. An archive in an archive works the same.
class LocatedFile {
 public:
  /// Throws Error{InvalidSystem} for an archive that is refused, Error{FileFailed} when one cannot be read and for an
  /// entry that is not there. A path that leads into no archive is not checked.
  explicit LocatedFile(const std::filesystem::path& path, const ArchiveLimits& limits = {});

  const std::filesystem::path& path() const noexcept { return path_; }
  /// As it was named.
  const std::filesystem::path& shown() const noexcept { return shown_; }

 private:
  std::filesystem::path path_;
  std::filesystem::path shown_;
  std::unique_ptr<PrivateFolder> folder_;
};

/// The content of a zip archive in a private folder, as long as this object lives.
class UnpackedArchive {
 public:
  /// Throws Error{FileFailed} when it cannot be read or written, Error{InvalidSystem} for an archive that is broken or
  /// would write outside its folder; both name archive and entry.
  explicit UnpackedArchive(const std::filesystem::path& archive, const ArchiveLimits& limits = {});
  /// One that lies inside another; messages name it by its path there.
  explicit UnpackedArchive(const LocatedFile& archive);

  const std::filesystem::path& folder() const noexcept { return folder_.content(); }

 private:
  PrivateFolder folder_;
};

/// Its content into a folder, which is made. Throws as UnpackedArchive does.
void unpack_archive(const LocatedFile& archive, const std::filesystem::path& folder);

/// The part of `path` that is a file: the outermost archive, or `path` itself.
std::filesystem::path outermost_file(const std::filesystem::path& path);

/// One entry of an archive to be written: a text, or a file to copy.
struct ArchiveSource {
  std::string name;
  std::string text;
  std::filesystem::path file;  ///< used when not empty
};
/// The same sources give the same bytes: their order, fixed time stamps. Throws Error{FileFailed}; an archive that
/// cannot be finished is not left behind.
void write_archive(const std::filesystem::path& archive, const std::vector<ArchiveSource>& sources);

}  // namespace entrain::base
