#pragma once

#include <filesystem>

namespace entrain::recording {

/// The folder of a run, kept from other runs as long as this lives, also from those of other processes.
class RunFolderLock {
 public:
  /// Throws Error{FileFailed} when a run writes into the folder. A file system without locks takes every run.
  explicit RunFolderLock(const std::filesystem::path& folder);
  ~RunFolderLock();
  RunFolderLock(const RunFolderLock&) = delete;
  RunFolderLock& operator=(const RunFolderLock&) = delete;

  /// A run writes into the folder now.
  static bool is_held(const std::filesystem::path& folder);

 private:
  int descriptor_;
};

/// Is there a run in the folder, whatever became of it?
bool contains_run(const std::filesystem::path& folder);
/// Removes all files of the run in the folder; others stay. Throws Error{FileFailed}.
void remove_run(const std::filesystem::path& folder);

}  // namespace entrain::recording
