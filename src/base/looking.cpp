#include "base/looking.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace entrain::base {
namespace {

std::atomic<int> lookers = 1;  // the calling thread
std::atomic<int> sharing = 1;

}  // namespace

void Lookers::set(int count) {
  lookers.fetch_add(count - count_, std::memory_order_relaxed);
  count_ = count;
}

bool may_look() {
  static const int most = processors();
  return lookers.load(std::memory_order_relaxed) <= most / sharing.load(std::memory_order_relaxed);
}

void share_processors(int processes) {
  sharing = std::max(1, processes);
}

int processes_that_share() {
  return sharing.load(std::memory_order_relaxed);
}

int processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));  // more than a cpu_set_t holds
}

}  // namespace entrain::base
