#include "base/thread_pool.hpp"

#include <algorithm>
#include <system_error>

#include "base/signal_stack.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::base {
namespace {

constexpr std::uint32_t kShares = 64;  // of each thread, in a batch of many tasks

}  // namespace

void ThreadPool::set_threads(int threads) {
  if (std::max(1, threads) == this->threads()) return;
  stop_workers();
  workers_.clear();
  stopping_ = false;
  start(threads);
}

void ThreadPool::start(int threads) {
  lookers_.set(std::max(1, threads) - 1);
  unfinished_ = static_cast<std::uint32_t>(std::max(1, threads) - 1);
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this, seen = batches_.load()] { work(seen); });
  } catch (const std::system_error& error) {
    const std::size_t started = workers_.size() + 1;
    stop_workers();
    throw Error(ErrorCode::SolverFailed,
                {FactCode::ThreadsNotStarted, {}, {{"started", started}, {"threads", threads}, {"why", error.what()}}},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Ask for fewer threads"});
  }
  // What a thread allocates when it starts belongs to the set-up, not to the first steps.
  while (const std::uint32_t starting = unfinished_.load()) unfinished_.wait(starting);
}

ThreadPool::~ThreadPool() {
  stop_workers();
}

void ThreadPool::stop_workers() {
  stopping_ = true;
  ++batches_;
  batches_.notify_all();
  for (auto& worker : workers_) worker.join();
  lookers_.set(0);
}

void ThreadPool::post(std::size_t count, Task task, void* context) {
  task_ = task;
  context_ = context;
  unfinished_.store(static_cast<std::uint32_t>(count), std::memory_order_relaxed);
  left_.store({0, static_cast<std::uint32_t>(count)}, std::memory_order_release);
  batches_.fetch_add(1, std::memory_order_release);
  batches_.notify_all();
}

void ThreadPool::wait() {
  take_tasks();
  while (const std::uint32_t unfinished = unfinished_.load(std::memory_order_acquire)) {
    await_change(unfinished_, unfinished);
  }
}

// Tasks are taken in chunks, small enough that late finishers can share and that two tasks always find two threads.
void ThreadPool::take_tasks() {
  Left left = left_.load(std::memory_order_acquire);
  while (left.next < left.count) {
    const auto chunk = std::max<std::uint32_t>(1, left.count / (kShares * static_cast<std::uint32_t>(threads())));
    const std::uint32_t last = std::min(left.count, left.next + chunk);
    if (!left_.compare_exchange_weak(left, {last, left.count}, std::memory_order_acquire)) continue;
    for (std::uint32_t i = left.next; i < last; ++i) task_(context_, i);
    if (unfinished_.fetch_sub(last - left.next, std::memory_order_acq_rel) == last - left.next) {
      unfinished_.notify_all();
    }
    left = left_.load(std::memory_order_acquire);
  }
}

void ThreadPool::await_change(const std::atomic<std::uint32_t>& number, std::uint32_t from) const {
  const auto changed = [&] { return number.load(std::memory_order_acquire) != from; };
  if (may_look() && look_until(changed)) return;
  number.wait(from, std::memory_order_acquire);
}

/// `seen`: batches that were posted before it began.
void ThreadPool::work(std::uint32_t seen) {
  const SignalStack signal_stack;
  if (--unfinished_ == 0) unfinished_.notify_all();
  while (true) {
    await_change(batches_, seen);
    seen = batches_.load(std::memory_order_acquire);
    if (stopping_) return;
    take_tasks();
  }
}

}  // namespace entrain::base
