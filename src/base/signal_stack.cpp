#include "base/signal_stack.hpp"

namespace entrain::base {
namespace {
// The handlers need little, but the state of the processor that is saved there can take 10 kB.
constexpr std::size_t kBytes = std::size_t{64} * 1024;
}  // namespace

void leave_signals_to_other_threads() {
  SignalStack::of_ours = true;
  sigset_t others;
  ::sigfillset(&others);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigdelset(&others, own);
  ::pthread_sigmask(SIG_SETMASK, &others, nullptr);
}

SignalStack::SignalStack() : memory_(std::make_unique_for_overwrite<std::byte[]>(kBytes)) {
  stack_t stack{};
  stack.ss_sp = memory_.get();
  stack.ss_size = kBytes;
  ::sigaltstack(&stack, &before_);
  of_ours = true;
}

SignalStack::~SignalStack() {
  ::sigaltstack(&before_, nullptr);
}

}  // namespace entrain::base
