#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace entrain::base {

/// Runs independent tasks 0 .. count-1, each exactly once.
///
/// Results must go to the task's own slot: then they do not depend on the number of threads. With one thread the
/// tasks run in order on the caller. A task must not throw. Nothing is allocated per call.
class ThreadPool {
 public:
  using Task = void (*)(void* context, std::size_t index);

  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const noexcept { return static_cast<int>(workers_.size()) + 1; }

  /// The other threads begin; `wait` must follow. What `context` points to must live until then.
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
  void work();
  void stop_workers();
  void take_tasks(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable work_to_do_;
  std::condition_variable all_done_;
  Task task_ = nullptr;
  void* context_ = nullptr;
  std::size_t next_ = 0;
  std::size_t count_ = 0;
  std::size_t unfinished_ = 0;
  std::size_t ready_ = 0;  // workers that have started
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace entrain::base
