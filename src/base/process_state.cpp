#include "base/process_state.hpp"

#include <fcntl.h>
#include <locale.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <clocale>
#include <mutex>

#include "base/fault_watch.hpp"

namespace entrain::base {
namespace {

constexpr std::int64_t kLeastPause = 5'000'000;  // ns

/// The object that exists. Locked while the state is looked at: several threads call foreign code.
struct Guarded {
  std::mutex mutex;
  ProcessState* state = nullptr;
  std::atomic<std::int64_t> next_look = 0;
};
Guarded& guarded() {
  static auto* all = new Guarded;  // never destroyed: foreign code may live in static objects
  return *all;
}

std::fenv_t expected_environment;

// The coarse clock (some ms) costs a fifth of the exact one.
std::int64_t coarse_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

bool is_same_handler(const struct sigaction& a, const struct sigaction& b) {
  return a.sa_handler == b.sa_handler && a.sa_flags == b.sa_flags;
}

}  // namespace

ProcessState::ProcessState() : locale_(std::setlocale(LC_ALL, nullptr)) {
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_);
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], nullptr, &handlers_[i]);
  folder_.copy = ::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  struct stat status {};
  if (folder_.copy >= 0 && ::fstat(folder_.copy, &status) == 0) {
    folder_.device = status.st_dev;
    folder_.number = status.st_ino;
  }
  remember_streams();
  const std::lock_guard lock(guarded().mutex);
  guarded().state = this;
}

ProcessState::~ProcessState() {
  put_back();
  {
    const std::lock_guard lock(guarded().mutex);
    if (guarded().state == this) guarded().state = nullptr;
  }
  forget_streams();
  if (folder_.copy >= 0) ::close(folder_.copy);
}

void ProcessState::remember_streams() {
  constexpr int kAboveStreams = 3;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const int descriptor = static_cast<int>(i);
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) continue;  // closed from the beginning
    streams_[i] = {::fcntl(descriptor, F_DUPFD_CLOEXEC, kAboveStreams), status.st_dev, status.st_ino};
  }
}

void ProcessState::forget_streams() {
  for (auto& stream : streams_) {
    if (stream.copy >= 0) ::close(stream.copy);
    stream = {};
  }
}

void ProcessState::follow_streams() {
  const std::lock_guard lock(guarded().mutex);
  forget_streams();
  remember_streams();
}

void ProcessState::forget_in_child() noexcept {
  guarded().state = nullptr;
}

void ProcessState::put_back() {
  const std::unique_lock lock(guarded().mutex, std::try_to_lock);
  if (!lock) return;  // another thread does it
  FaultWatch::put_back_handlers();
  const ProcessState* state = guarded().state;
  if (state == nullptr) return;
  state->put_back_signals();
  state->put_back_locale();
  state->put_back_folder();
  state->put_back_streams();
}

void ProcessState::put_back_soon() {
  // The other half of the arithmetic unit, and other processors.
  if (std::fegetround() != FE_TONEAREST) put_back_arithmetic();
  const std::int64_t now = coarse_now();
  auto& next = guarded().next_look;
  if (now < next.load(std::memory_order_relaxed)) return;
  next.store(now + kLeastPause, std::memory_order_relaxed);
  put_back();
}

void ProcessState::remember_arithmetic() {
  std::fegetenv(&expected_environment);
#if defined(__SSE2__)
  expected_arithmetic = _mm_getcsr() & ~0x3fU;
#endif
}

void ProcessState::put_back_arithmetic() {
  std::fesetenv(&expected_environment);
}

/// Signals that were not blocked are not; threads may have blocked further ones themselves before.
void ProcessState::put_back_signals() const {
  sigset_t now;
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  bool changed = false;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (::sigismember(&now, kSignals[i]) == 1 && ::sigismember(&mask_, kSignals[i]) == 0) {
      ::sigaddset(&blocked, kSignals[i]);
      changed = true;
    }
    struct sigaction handler {};
    ::sigaction(kSignals[i], nullptr, &handler);
    if (!is_same_handler(handler, handlers_[i])) ::sigaction(kSignals[i], &handlers_[i], nullptr);
  }
  if (changed) ::pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
}

void ProcessState::put_back_locale() const {
  if (::uselocale(nullptr) != LC_GLOBAL_LOCALE) ::uselocale(LC_GLOBAL_LOCALE);
  if (locale_ != std::setlocale(LC_ALL, nullptr)) std::setlocale(LC_ALL, locale_.c_str());
  if (std::locale() != stream_locale_) std::locale::global(stream_locale_);
}

void ProcessState::put_back_folder() const {
  struct stat status {};
  const bool same = ::stat(".", &status) == 0 && status.st_dev == folder_.device && status.st_ino == folder_.number;
  if (same || folder_.copy < 0) return;
  [[maybe_unused]] const int ignored = ::fchdir(folder_.copy);  // files of the run have absolute paths
}

void ProcessState::put_back_streams() const {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const int descriptor = static_cast<int>(i);
    const auto& stream = streams_[i];
    struct stat status {};
    const auto is_stream = [&](int of) {
      return ::fstat(of, &status) == 0 && status.st_dev == stream.device && status.st_ino == stream.number;
    };
    // Foreign code that closes all descriptors has closed the copy as well.
    if (stream.copy >= 0 && !is_stream(descriptor) && is_stream(stream.copy)) ::dup2(stream.copy, descriptor);
  }
}

}  // namespace entrain::base
