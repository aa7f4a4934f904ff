#pragma once

#include <sched.h>

#include "entrain/fact.hpp"

namespace entrain::running {

/// The thread that made it has the scheduling of real-time threads, locked memory and a core of its own, as far as they
/// are granted, until this object is destroyed, by the same thread. Threads that it starts meanwhile get neither
/// scheduling nor memory, but the core: start them before.
class ThreadPriority {
 public:
  ThreadPriority();
  ~ThreadPriority();
  ThreadPriority(const ThreadPriority&) = delete;
  ThreadPriority& operator=(const ThreadPriority&) = delete;

  /// What was granted, and why the rest was not.
  const Fact& granted() const { return granted_; }

 private:
  Fact granted_;
  cpu_set_t cores_before_;
  int policy_before_ = SCHED_OTHER;
  sched_param parameters_before_{};
  bool scheduled_ = false;
  bool locked_ = false;
  bool pinned_ = false;
};

}  // namespace entrain::running
