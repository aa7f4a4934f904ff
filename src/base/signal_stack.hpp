#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <set>

namespace entrain::base {

/// For a thread of ours: signals that are sent to the process, such as an interruption by the user, go to threads of
/// the program. Those that a fault of the thread itself raises stay.
void leave_signals_to_other_threads();

/// The threads of this process that are not ours: of the program, and of foreign code.
std::set<pid_t> other_threads();

/// A second stack for the signal handlers of the calling thread: one that ran out of its stack has no other. Destroyed
/// in the thread that made it, which is known as one of ours from then on.
class SignalStack {
 public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

  /// Of the calling thread; safe in a signal handler.
  static bool is_thread_of_ours() noexcept { return of_ours; }

 private:
  friend void leave_signals_to_other_threads();
  // initial-exec: a signal handler must reach it without an allocation.
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local bool of_ours = false;

  std::unique_ptr<std::byte[]> memory_;
  stack_t before_{};
};

}  // namespace entrain::base
