#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "subsystem/fmi/private_folder.hpp"

namespace entrain {

/// What an archive may hold. More is an attack or a mistake, whatever its headers say.
struct ArchiveLimits {
  std::uint64_t entries = 100'000;
  std::uint64_t bytes = std::uint64_t{4} << 30U;             ///< of all entries, unpacked
  std::uint64_t ratio = 1000;                                ///< unpacked to packed size of an entry ...
  std::uint64_t ratio_free_bytes = std::uint64_t{1} << 20U;  ///< ... above this size
};

/// The content of a zip archive in a private folder, as long as this object lives.
class UnpackedArchive {
 public:
  /// Throws Error{FileFailed} when it cannot be read or written, Error{InvalidSystem} for an archive that is broken or
  /// wants to write outside its folder; both name archive and entry.
  explicit UnpackedArchive(const std::filesystem::path& archive, const ArchiveLimits& limits = {});

  const std::filesystem::path& folder() const noexcept { return folder_.content(); }

 private:
  PrivateFolder folder_;
};

}  // namespace entrain
