// The thread that writes rows: a run that must not wait loses rows, counts them, and keeps the others in their order.
#include "record/background_writer.hpp"

#include <gtest/gtest.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "entrain/recording.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace background_writer_test {

/// What fdatasync was called for.
std::mutex synced_mutex;
std::vector<std::string> synced;

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

/// Counts how often it is to be on the disk for good.
class SyncedFile final : public recording::ResultsFile {
 public:
  void write_header(const recording::RecordedLayout&) override {}
  void write(const recording::RowBlock&, recording::RowRange) override {}
  void flush() override {}
  void sync() override { ++syncs; }
  std::atomic<int> syncs = 0;
};

TEST(BackgroundWriter, has_rows_on_the_disk_for_good_within_a_second) {
  SyncedFile file;
  recording::BackgroundWriter writer(file, 1, 1);
  *writer.block()->add(0.0).values = 1.0;
  writer.publish();
  const auto began = std::chrono::steady_clock::now();
  while (file.syncs < 3) {
    ASSERT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // Three times 0.7 s, on a machine that has other work; not for every row, which would cost more than the run.
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(2000));
  writer.finish();
}

/// The files of all formats, as the system sees it.
TEST(Recorder, of_any_format_makes_the_disk_keep_the_rows_of_a_run_that_goes_on) {
  for (const char* format : {"csv", "hdf5", "mat"}) {
    const test::TemporaryFolder folder;
    RecordDescription record;
    record.format = Written<std::string>{format, {}};
    const auto file = folder / (std::string("results.") + format);
    Recorder recorder(file, record);
    RunSummary summary;
    summary.stop = 1.0;
    const std::vector<Signal> signals{{"a.x", "", "", Causality::Output, 0}};
    recorder.begin(signals, summary);
    const std::vector<double> values{1.0};
    const std::vector<unsigned char> communicated{1};
    recorder.communicated({0.0, values, {}, communicated, {}}, summary);
    const auto began = std::chrono::steady_clock::now();
    const auto is_synced = [&] {
      const std::lock_guard lock(synced_mutex);
      return std::any_of(synced.begin(), synced.end(),
                         [&](const std::string& path) { return path.starts_with(file.string()); });
    };
    while (!is_synced() && std::chrono::steady_clock::now() - began < std::chrono::seconds(30))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(is_synced()) << format;
    recorder.end(summary);
  }
}

}  // namespace background_writer_test
}  // namespace entrain

/// In the place of that of the C library, for the whole program of the tests.
extern "C" int fdatasync(int descriptor) {
  std::array<char, 500> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  if (::readlink(link.c_str(), path.data(), path.size() - 1) > 0) {
    const std::lock_guard lock(entrain::background_writer_test::synced_mutex);
    entrain::background_writer_test::synced.emplace_back(path.data());
  }
  return static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}
