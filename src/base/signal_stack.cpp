#include "base/signal_stack.hpp"

#include <pthread.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <mutex>

namespace entrain::base {
namespace {
struct OwnThreads {
  std::mutex mutex;
  std::set<pid_t> known;
};
OwnThreads*& place_of_own_threads();

/// A child has the thread that forked alone, and a mutex that another thread may have held.
void begin_anew_in_child() {
  auto& threads = place_of_own_threads();
  threads = new OwnThreads;
  threads->known.insert(::gettid());
}
OwnThreads*& place_of_own_threads() {
  static OwnThreads* threads = [] {
    ::pthread_atfork(nullptr, nullptr, begin_anew_in_child);
    return new OwnThreads;  // never destroyed: threads may outlive static objects
  }();
  return threads;
}
OwnThreads& own_threads() {
  return *place_of_own_threads();
}

/// As long as the thread that made it lives.
class OwnThread {
 public:
  OwnThread() {
    const std::lock_guard lock(own_threads().mutex);
    own_threads().known.insert(::gettid());
  }
  ~OwnThread() {
    const std::lock_guard lock(own_threads().mutex);
    own_threads().known.erase(::gettid());
  }
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;

  static void mark() { thread_local const OwnThread here; }
};

// The handlers need little, but the state of the processor that is saved there can take 10 kB.
constexpr std::size_t kBytes = std::size_t{64} * 1024;
}  // namespace

void leave_signals_to_other_threads() {
  SignalStack::of_ours = true;
  OwnThread::mark();
  sigset_t others;
  ::sigfillset(&others);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigdelset(&others, own);
  ::pthread_sigmask(SIG_SETMASK, &others, nullptr);
}

std::set<pid_t> other_threads() {
  std::set<pid_t> found;
  std::error_code none;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", none)) {
    const std::string name = task.path().filename();
    pid_t thread = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), thread).ec == std::errc()) found.insert(thread);
  }
  const std::lock_guard lock(own_threads().mutex);
  for (const pid_t own : own_threads().known) found.erase(own);
  return found;
}

SignalStack::SignalStack() : memory_(std::make_unique_for_overwrite<std::byte[]>(kBytes)) {
  stack_t stack{};
  stack.ss_sp = memory_.get();
  stack.ss_size = kBytes;
  ::sigaltstack(&stack, &before_);
  of_ours = true;
  OwnThread::mark();
}

SignalStack::~SignalStack() {
  ::sigaltstack(&before_, nullptr);
}

}  // namespace entrain::base
