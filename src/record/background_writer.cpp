#include "record/background_writer.hpp"

#include <algorithm>
#include <utility>

#include "base/signal_stack.hpp"

namespace entrain::recording {
namespace {

constexpr std::size_t kNumbers = std::size_t{1} << 18U;
constexpr std::size_t kFewestRows = 256;  // a write has a cost of its own
constexpr std::size_t kMostRows = 4096;
constexpr std::chrono::milliseconds kFlushPeriod{200};  // a killed program loses the rows of this time
constexpr std::chrono::milliseconds kSyncPeriod{700};   // a second, with the time that a disk takes

std::size_t rows_for(std::size_t columns) {
  return std::clamp(kNumbers / (columns + 1), kFewestRows, kMostRows);
}

}  // namespace

BackgroundWriter::BackgroundWriter(ResultsFile& file, std::size_t columns, std::size_t groups, std::size_t discrete)
    : file_(file) {
  blocks_.reserve(kBlocks);
  for (std::size_t i = 0; i < kBlocks; ++i) blocks_.emplace_back(columns, groups, rows_for(columns), discrete);
  thread_ = std::thread([this] { work(); });
  syncing_ = std::thread([this] { keep_on_disk(); });
}

BackgroundWriter::~BackgroundWriter() {
  {
    const std::unique_lock lock(mutex_);
    stop_ = true;
  }
  handed_over_.notify_one();
  stopped_.notify_one();
  thread_.join();
  syncing_.join();
}

/// False when there is no other block, and it must not be waited for.
bool BackgroundWriter::hand_over() {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (waits_) {
    lock.lock();
  } else {
    constexpr int kAttempts = 1000;  // the other thread holds it for less than a microsecond, unless it was interrupted
    for (int i = 0; i < kAttempts && !lock.owns_lock(); ++i) static_cast<void>(lock.try_lock());
    if (!lock.owns_lock() || waiting_ + 1 >= kBlocks) return false;
  }
  ++waiting_;
  handed_over_.notify_one();
  filling_ = (filling_ + 1) % kBlocks;
  written_block_.wait(lock, [&] { return waiting_ < kBlocks; });
  return true;
}

void BackgroundWriter::finish() {
  {
    std::unique_lock lock(mutex_);
    flush_ = true;
    handed_over_.notify_one();
    written_block_.wait(lock, [&] { return !flush_; });
  }
  if (failed_.load()) throw_failure();
}

void BackgroundWriter::throw_failure() {
  std::unique_lock lock(mutex_);
  const auto failure = std::exchange(failure_, nullptr);
  lock.unlock();
  if (failure != nullptr) std::rethrow_exception(failure);
}

/// The first counts.
void BackgroundWriter::note_failure() {
  const std::lock_guard lock(mutex_);
  if (!failed_.exchange(true)) failure_ = std::current_exception();
}

void BackgroundWriter::work() {
  base::leave_signals_to_other_threads();
  std::size_t taken = 0;  // rows of the block that are written
  auto flushed_at = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  for (;;) {
    handed_over_.wait_for(lock, kFlushPeriod, [&] { return waiting_ > 0 || flush_ || stop_; });
    const bool is_whole = waiting_ > 0;  // else it is still being filled
    const bool is_last = !is_whole && stop_;
    const bool is_asked = !is_whole && flush_;
    const RowRange rows{taken, published_[written_].load(std::memory_order_acquire)};
    const auto now = std::chrono::steady_clock::now();
    const bool flushes = !is_whole || now - flushed_at >= kFlushPeriod;
    if (flushes) flushed_at = now;
    lock.unlock();
    write_rows(rows, flushes);
    lock.lock();
    taken = rows.end;
    if (is_whole) {
      taken = 0;
      blocks_[written_].clear();
      published_[written_].store(0, std::memory_order_relaxed);
      written_ = (written_ + 1) % kBlocks;
      --waiting_;
    } else if (is_asked) {
      flush_ = false;
    }
    written_block_.notify_one();
    if (is_last) return;
  }
}

void BackgroundWriter::write_rows(RowRange rows, bool flushes) {
  if (failed_.load()) return;
  try {
    if (rows.count() > 0) file_.write(blocks_[written_], rows);
    if (flushes) file_.flush();
  } catch (...) {
    note_failure();
  }
}

void BackgroundWriter::keep_on_disk() {
  base::leave_signals_to_other_threads();
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, kSyncPeriod, [&] { return stop_; })) {
    lock.unlock();
    try {
      if (!failed_.load()) file_.sync();
    } catch (...) {
      note_failure();
    }
    lock.lock();
  }
}

}  // namespace entrain::recording
