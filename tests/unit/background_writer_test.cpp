// The thread that writes rows: a run that must not wait loses rows, counts them, and keeps the others in their order.
#include "record/background_writer.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

namespace entrain {
namespace background_writer_test {

/// A disk that does not write until it is released.
class StuckFile final : public recording::ResultsFile {
 public:
  void write_header(const recording::RecordedLayout&) override {}
  void write(const recording::RowBlock& block, recording::RowRange rows) override {
    std::unique_lock lock(mutex_);
    released_.wait(lock, [&] { return is_released_; });
    for (std::size_t row = rows.first; row < rows.end; ++row) times.push_back(block.time(row));
  }
  void flush() override {}
  void release() {
    {
      const std::lock_guard lock(mutex_);
      is_released_ = true;
    }
    released_.notify_all();
  }
  std::vector<Time> times;

 private:
  std::mutex mutex_;
  std::condition_variable released_;
  bool is_released_ = false;
};

TEST(BackgroundWriter, that_never_waits_drops_rows_while_the_disk_is_stuck) {
  StuckFile file;
  recording::BackgroundWriter writer(file, 1, 1);
  writer.never_wait();
  constexpr int kRows = 50'000;  // more than all blocks hold
  std::vector<Time> kept;
  for (int i = 0; i < kRows; ++i) {
    auto* block = writer.block();
    if (block == nullptr) continue;
    *block->add(i).values = 1.0;
    writer.publish();
    kept.push_back(i);
  }
  EXPECT_GT(kept.size(), 256U);
  EXPECT_LT(kept.size(), static_cast<std::size_t>(kRows));
  file.release();
  writer.finish();
  EXPECT_EQ(file.times, kept);
}

}  // namespace background_writer_test
}  // namespace entrain
