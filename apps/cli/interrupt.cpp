#include "cli/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include "cli/common.hpp"

namespace entrain::cli {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not lock");

extern "C" void on_signal(int) {
  if (interrupted.exchange(true)) ::_exit(kFailed);
}

}  // namespace

const std::atomic<bool>& catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return interrupted;
}

}  // namespace entrain::cli
