#include "record/background_writer.hpp"

#include <algorithm>
#include <utility>

namespace entrain::recording {
namespace {

constexpr std::size_t kBlocks = 3;  // one is filled, one is written, one lies between them
constexpr std::size_t kNumbers = std::size_t{1} << 18U;
constexpr std::size_t kFewestRows = 256;  // a write has a cost of its own for each column of some formats
constexpr std::size_t kMostRows = 4096;
constexpr std::chrono::milliseconds kFlushPeriod{900};  // blocks come once a second at least

std::size_t rows_for(std::size_t columns) {
  return std::clamp(kNumbers / (columns + 1), kFewestRows, kMostRows);
}

}  // namespace

BackgroundWriter::BackgroundWriter(ResultsFile& file, std::size_t columns, std::size_t groups, std::size_t discrete)
    : file_(file) {
  blocks_.reserve(kBlocks);
  for (std::size_t i = 0; i < kBlocks; ++i) blocks_.emplace_back(columns, groups, rows_for(columns), discrete);
  thread_ = std::thread([this] { work(); });
}

BackgroundWriter::~BackgroundWriter() {
  {
    const std::unique_lock lock(mutex_);
    if (block().rows() > 0) ++waiting_;
    stop_ = true;
  }
  handed_over_.notify_one();
  thread_.join();
}

void BackgroundWriter::hand_over() {
  std::unique_lock lock(mutex_);
  throw_failure(lock);
  if (block().rows() == 0) return;
  ++waiting_;
  handed_over_.notify_one();
  filling_ = (filling_ + 1) % kBlocks;
  written_block_.wait(lock, [&] { return waiting_ < kBlocks; });
}

void BackgroundWriter::finish() {
  hand_over();
  std::unique_lock lock(mutex_);
  written_block_.wait(lock, [&] { return waiting_ == 0; });
  throw_failure(lock);
  flush_ = true;
  handed_over_.notify_one();
  written_block_.wait(lock, [&] { return !flush_; });
  throw_failure(lock);
}

void BackgroundWriter::throw_failure(std::unique_lock<std::mutex>& lock) {
  if (failure_ == nullptr) return;
  const auto failure = std::exchange(failure_, nullptr);
  lock.unlock();
  std::rethrow_exception(failure);
}

void BackgroundWriter::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    handed_over_.wait(lock, [&] { return waiting_ > 0 || flush_ || stop_; });
    const bool has_block = waiting_ > 0;
    const auto now = std::chrono::steady_clock::now();
    const bool flushes = !has_block || now - flushed_at_ >= kFlushPeriod;
    if (!failed_) {
      lock.unlock();
      std::exception_ptr failure;
      try {
        if (has_block) file_.write(blocks_[written_]);
        if (flushes) file_.flush();
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      failure_ = failure;
      failed_ = failure != nullptr;
    }
    if (flushes) flushed_at_ = now;
    if (has_block) {
      blocks_[written_].clear();
      written_ = (written_ + 1) % kBlocks;
      --waiting_;
    } else {
      flush_ = false;
    }
    written_block_.notify_one();
    if (!has_block && stop_) return;
  }
}

}  // namespace entrain::recording
