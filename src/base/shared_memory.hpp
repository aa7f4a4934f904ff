#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>

#include "entrain/variable.hpp"

namespace entrain::base {

/// A part of shared memory, by its place in the file.
struct Segment {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(offset, size);
  }
};

/// Memory of two processes: a file without a name, whose segments never move. What lies in a new one is zero.
/// Thread-safe.
class SharedMemory {
 public:
  /// The descriptor of a new file with `first` bytes in use. Throws std::system_error.
  static int new_file(std::size_t first);
  /// Takes over the descriptor of such a file.
  explicit SharedMemory(int descriptor) : descriptor_(descriptor) {}
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int descriptor() const { return descriptor_; }
  /// `end`: where the file ends, seen by both processes, which may make segments at the same time.
  Segment allocate(std::atomic<std::uint64_t>& end, std::size_t size);
  /// The same address for the same segment. Throws std::system_error, also for one that the file does not contain.
  std::byte* map(const Segment& segment);

 private:
  int descriptor_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::span<std::byte>> mapped_;  ///< by offset
};

/// Waits until `word` is no longer `value`, or a wake-up comes. False when the time was up.
bool wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t value, Duration seconds);
/// Wakes all who wait, in any process.
void wake(const std::atomic<std::uint32_t>& word);

}  // namespace entrain::base
