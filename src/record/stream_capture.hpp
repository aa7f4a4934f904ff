#pragma once

#include <sys/types.h>

#include <filesystem>

namespace entrain::recording {

/// What code in this process writes to the standard streams goes to a file as long as this lives: FMUs print what they
/// like. Process-wide; a program that has something to say keeps copies of its streams. What cannot be redirected stays
/// as it is.
class StreamCapture {
 public:
  /// First into memory, until the file is known.
  StreamCapture();
  /// Puts the streams back.
  ~StreamCapture();
  StreamCapture(const StreamCapture&) = delete;
  StreamCapture& operator=(const StreamCapture&) = delete;

  /// Behind what the file contains. One that is still empty at the end is removed.
  void into(const std::filesystem::path& file);
  void remove_if_empty() const;

 private:
  void redirect(int target) const;
  void take_over();

  int output_;
  int error_;
  int memory_;         ///< where the streams went at first: processes started then go on writing there
  off_t taken_ = 0;    ///< of it, by the file
  int captured_ = -1;  ///< the file
  std::filesystem::path file_;
};

}  // namespace entrain::recording
