#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/looking.hpp"

namespace entrain::base {

/// Runs independent tasks 0 .. count-1, each exactly once.
///
/// Results must go to the task's own slot: then they do not depend on the number of threads. With one thread the
/// tasks run in order on the caller. A task must not throw. Nothing is allocated per call. Threads that wait look for
/// work for a while before they sleep, because waking one takes as long as the step of a light subsystem
/// (docs/adr/0080-threads-that-pay.md).
class ThreadPool {
 public:
  using Task = void (*)(void* context, std::size_t index);

  explicit ThreadPool(int threads) { start(threads); }
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// From now on so many threads. When nothing is under way.
  void set_threads(int threads);
  int threads() const noexcept { return static_cast<int>(workers_.size()) + 1; }

  /// The other threads begin, tasks in their order; `wait` must follow. What `context` points to must live until then.
  void post(std::size_t count, Task task, void* context);
  /// Takes part in what was posted, until all of it is done.
  void wait();

  /// Both together.
  template <class Function>
  void for_each(std::size_t count, Function&& function) {
    if (workers_.empty() || count < 2) {
      for (std::size_t i = 0; i < count; ++i) function(i);
      return;
    }
    post(
        count,
        [](void* context, std::size_t index) { (*static_cast<std::remove_reference_t<Function>*>(context))(index); },
        &function);
    wait();
  }

 private:
  /// What is left to take of a batch, in one word: who changes it from what it read knows that all of it was true.
  struct alignas(std::uint64_t) Left {
    std::uint32_t next = 0;
    std::uint32_t count = 0;
  };

  void start(int threads);
  void work(std::uint32_t seen);
  void stop_workers();
  void take_tasks();
  /// Until the number is another one: looks for a while, then sleeps.
  void await_change(const std::atomic<std::uint32_t>& number, std::uint32_t from) const;

  static constexpr std::size_t kCacheLine = 64;
  Task task_ = nullptr;
  void* context_ = nullptr;
  Lookers lookers_;
  std::atomic<bool> stopping_ = false;
  alignas(kCacheLine) std::atomic<std::uint32_t> batches_ = 0;  // posted so far
  alignas(kCacheLine) std::atomic<Left> left_ = Left{};
  alignas(kCacheLine) std::atomic<std::uint32_t> unfinished_ = 0;  // tasks; at the start, workers
  alignas(kCacheLine) std::vector<std::thread> workers_;
};

}  // namespace entrain::base
