#include "base/thread_pool.hpp"

#include <algorithm>
#include <system_error>

#include "base/signal_stack.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::base {

ThreadPool::ThreadPool(int threads) {
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    const std::size_t started = workers_.size() + 1;
    stop_workers();
    throw Error(ErrorCode::SolverFailed,
                {FactCode::ThreadsNotStarted, {}, {{"started", started}, {"threads", threads}, {"why", error.what()}}},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Ask for fewer threads"});
  }
  // What a thread allocates when it starts belongs to the set-up, not to the first steps.
  std::unique_lock lock(mutex_);
  all_done_.wait(lock, [this] { return ready_ == workers_.size(); });
}

ThreadPool::~ThreadPool() {
  stop_workers();
}

void ThreadPool::stop_workers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_to_do_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void ThreadPool::post(std::size_t count, Task task, void* context) {
  {
    const std::lock_guard lock(mutex_);
    task_ = task;
    context_ = context;
    next_ = 0;
    count_ = count;
    unfinished_ = count;
  }
  work_to_do_.notify_all();
}

void ThreadPool::wait() {
  std::unique_lock lock(mutex_);
  take_tasks(lock);
  all_done_.wait(lock, [this] { return unfinished_ == 0; });
}

// Tasks are taken in chunks, small enough that late finishers can share and that two tasks always find two threads.
void ThreadPool::take_tasks(std::unique_lock<std::mutex>& lock) {
  const std::size_t chunk = std::max<std::size_t>(1, count_ / (8 * (workers_.size() + 1)));
  while (next_ < count_) {
    const std::size_t first = next_;
    const std::size_t last = std::min(count_, first + chunk);
    next_ = last;
    lock.unlock();
    for (std::size_t i = first; i < last; ++i) task_(context_, i);
    lock.lock();
    unfinished_ -= last - first;
  }
  if (unfinished_ == 0) all_done_.notify_all();
}

void ThreadPool::work() {
  const SignalStack signal_stack;
  std::unique_lock lock(mutex_);
  ++ready_;
  all_done_.notify_all();
  while (true) {
    work_to_do_.wait(lock, [this] { return stopping_ || next_ < count_; });
    if (stopping_) return;
    take_tasks(lock);
  }
}

}  // namespace entrain::base
