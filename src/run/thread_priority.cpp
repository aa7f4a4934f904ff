#include "run/thread_priority.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

#include "entrain/fact_codes.hpp"

namespace entrain::running {
namespace {

constexpr int kPriority = 80;  // above the interrupt threads of PREEMPT_RT, which have 50 unless they are changed

/// What is mapped later can be locked only where the limit never ends an allocation.
int lock_memory() {
  rlimit limit{};
  const bool unlimited = ::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
  return ::mlockall(unlimited ? MCL_CURRENT | MCL_FUTURE : MCL_CURRENT) == 0 ? 0 : errno;
}

/// The last one that is allowed: the first serves most interrupts. -1 where there is only one.
int last_core(const cpu_set_t& allowed) {
  if (CPU_COUNT(&allowed) < 2) return -1;
  for (int core = CPU_SETSIZE - 1; core >= 0; --core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &allowed)) return core;
  }
  return -1;
}

}  // namespace

ThreadPriority::ThreadPriority() : granted_{FactCode::PriorityGot} {
  CPU_ZERO(&cores_before_);
  const pthread_t self = ::pthread_self();
  ::pthread_getschedparam(self, &policy_before_, &parameters_before_);
  sched_param wanted{};
  wanted.sched_priority = kPriority;
  // Threads that are started later run as usual.
  const int scheduling = ::pthread_setschedparam(self, SCHED_FIFO | SCHED_RESET_ON_FORK, &wanted);
  scheduled_ = scheduling == 0;
  const int memory = lock_memory();
  locked_ = memory == 0;
  ::pthread_getaffinity_np(self, sizeof(cores_before_), &cores_before_);
  const int core = last_core(cores_before_);
  if (core >= 0) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<std::size_t>(core), &only);
    pinned_ = ::pthread_setaffinity_np(self, sizeof(only), &only) == 0;
  }
  granted_.values.emplace_back("scheduling", scheduled_ ? fmt::format("SCHED_FIFO {}", kPriority)
                                                        : fmt::format("no SCHED_FIFO ({})", std::strerror(scheduling)));
  granted_.values.emplace_back(
      "memory", locked_ ? std::string("memory locked") : fmt::format("memory not locked ({})", std::strerror(memory)));
  granted_.values.emplace_back("core", pinned_ ? fmt::format("core {}", core) : std::string("no core of its own"));
}

ThreadPriority::~ThreadPriority() {
  const pthread_t self = ::pthread_self();
  if (pinned_) ::pthread_setaffinity_np(self, sizeof(cores_before_), &cores_before_);
  if (locked_) ::munlockall();
  if (scheduled_) ::pthread_setschedparam(self, policy_before_, &parameters_before_);
}

}  // namespace entrain::running
