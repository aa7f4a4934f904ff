#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "record/results_file.hpp"

namespace entrain::recording {

/// Formats and writes full blocks on a thread of its own, in their order (ADR 0027). A run that is faster than the disk
/// waits when all blocks are under way; so memory is bounded.
class BackgroundWriter {
 public:
  /// The header has been written. `file` is used by the other thread until `finish` or the destructor has returned.
  /// `discrete`: columns that are no real numbers.
  BackgroundWriter(ResultsFile& file, std::size_t columns, std::size_t groups, std::size_t discrete = 0);
  /// Writes what is left and ignores failures: call `finish` to get them.
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  /// The block to be filled.
  RowBlock& block() { return blocks_[filling_]; }
  /// Gives the block away; the next one is empty. Throws, once, what went wrong with an earlier block.
  void hand_over();
  /// Everything is on the disk. Throws like `hand_over`.
  void finish();

 private:
  void work();
  void throw_failure(std::unique_lock<std::mutex>& lock);

  ResultsFile& file_;
  std::vector<RowBlock> blocks_;  // a ring; those from written_ to filling_ belong to the thread
  std::size_t filling_ = 0;
  std::mutex mutex_;
  std::condition_variable handed_over_, written_block_;
  std::size_t written_ = 0;
  std::size_t waiting_ = 0;  // blocks handed over and not yet written
  bool flush_ = false;       // asked for
  bool stop_ = false;
  std::exception_ptr failure_;
  bool failed_ = false;
  std::chrono::steady_clock::time_point flushed_at_ = std::chrono::steady_clock::now();
  std::thread thread_;
};

}  // namespace entrain::recording
