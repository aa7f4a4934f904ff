#pragma once

#include <filesystem>

namespace entrain::base {

/// A new folder that only this user can enter, gone with this object. A lock distinguishes a folder in use from one
/// that a crashed run has left behind; those are removed when the first folder of a process is made.
class PrivateFolder {
 public:
  /// In $TMPDIR, else /tmp. Throws Error{FileFailed}.
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  /// Empty at first: the lock lies beside it.
  const std::filesystem::path& content() const noexcept { return content_; }

 private:
  void remove() const;
  friend void remove_private_folders();

  std::filesystem::path folder_;
  std::filesystem::path content_;
  int lock_ = -1;
};

/// Removes all folders of this process, even those in use: for a process that ends in the middle of a run.
void remove_private_folders();

/// Removes the folders in `parent` that no living process holds. Those of other users are left alone.
void remove_abandoned_folders(const std::filesystem::path& parent);

}  // namespace entrain::base
