#pragma once

#include <signal.h>

#include <cstddef>
#include <memory>

namespace entrain::base {

/// A second stack for the signal handlers of the calling thread: one that ran out of its stack has no other. Destroyed
/// in the thread that made it.
class SignalStack {
 public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  std::unique_ptr<std::byte[]> memory_;
  stack_t before_{};
};

}  // namespace entrain::base
