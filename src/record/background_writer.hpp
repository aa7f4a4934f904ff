#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "record/results_file.hpp"

namespace entrain::recording {

/// Formats and writes rows on a thread of its own, in their order (ADR 0027): a block that is full at once, the rows of
/// one that is being filled several times a second, whether further rows come or not (ADR 0051). A second thread waits
/// for the disk, about once a second. A run that is faster than the disk waits when all blocks are under way; so memory
/// is bounded.
class BackgroundWriter {
 public:
  /// The header has been written. `file` is used by the other threads until `finish` or the destructor has returned.
  /// `discrete`: columns that are no real numbers.
  BackgroundWriter(ResultsFile& file, std::size_t columns, std::size_t groups, std::size_t discrete = 0);
  /// Writes what is left and ignores failures: call `finish` to get them.
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  /// The block that has room for a row; null where it must not be waited for. Throws, once, what went wrong with
  /// earlier rows.
  RowBlock* block() {
    if (failed_.load(std::memory_order_relaxed)) throw_failure();
    if (blocks_[filling_].full() && !hand_over()) return nullptr;
    return &blocks_[filling_];
  }
  /// Rows that find no room are lost from now on, not waited for.
  void never_wait() { waits_ = false; }
  /// The row that was added last is complete: it belongs to the thread now.
  void publish() { published_[filling_].store(blocks_[filling_].rows(), std::memory_order_release); }
  /// Everything is in the file. Throws like `block`.
  void finish();

 private:
  static constexpr std::size_t kBlocks = 3;  // one is filled, one is written, one lies between them

  bool hand_over();
  void work();
  void write_rows(RowRange rows, bool flushes);
  void keep_on_disk();
  void note_failure();
  void throw_failure();

  ResultsFile& file_;
  std::vector<RowBlock> blocks_;  // a ring; those from written_ to filling_ belong to the thread
  std::array<std::atomic<std::size_t>, kBlocks> published_{};  // complete rows of each
  std::size_t filling_ = 0;
  bool waits_ = true;
  std::mutex mutex_;
  std::condition_variable handed_over_, written_block_, stopped_;
  std::size_t written_ = 0;
  std::size_t waiting_ = 0;  // blocks handed over and not yet written
  bool flush_ = false;       // asked for
  bool stop_ = false;
  std::exception_ptr failure_;
  std::atomic<bool> failed_ = false;
  std::thread thread_;
  std::thread syncing_;
};

}  // namespace entrain::recording
