#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>

#include "entrain/simulation.hpp"
#include "entrain/text.hpp"

namespace entrain::recording {

/// What subsystems log, one line for each message, on the disk at once: an FMU may crash right after. May be used from
/// several threads.
class LogFile {
 public:
  /// The file is created with the first message; an existing file is removed, or continued.
  explicit LogFile(std::filesystem::path path, bool append = false);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  /// What cannot be written is dropped: the results report a full disk.
  void add(const LogMessage& message);

 private:
  std::filesystem::path path_;
  std::mutex mutex_;
  int descriptor_ = -1;
  bool closed_ = false;  ///< nothing more can or may be written
  std::uint64_t bytes_ = 0;
};

}  // namespace entrain::recording
