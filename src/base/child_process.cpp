#include "base/child_process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <new>

#include "base/fault_watch.hpp"
#include "base/foreign_code.hpp"
#include "base/posix_write.hpp"
#include "base/printable.hpp"

namespace entrain::base {
namespace {

constexpr int kAnswered = 0;
constexpr int kNotAnswered = 3;

/// What both processes see.
struct SharedPage {
  std::atomic<int> stage = 0;
  std::atomic<const char*> function = nullptr;  ///< of foreign code, when it crashed; a literal, the same in both
  CallNote note{{}, {}, std::numeric_limits<double>::quiet_NaN(), 0};  ///< where this process notes no calls itself
};

// Of the child only.
constinit SharedPage* shared_page = nullptr;

int count_threads() {
  DIR* tasks = ::opendir("/proc/self/task");
  if (tasks == nullptr) return 0;
  int count = 0;
  while (const dirent* entry = ::readdir(tasks)) {  // NOLINT(concurrency-mt-unsafe): a DIR of our own
    if (entry->d_name[0] != '.') ++count;
  }
  ::closedir(tasks);
  return count;
}

bool may_be_copied() {
#if defined(__SANITIZE_THREAD__)
  return false;  // it knows no threads of a copy
#else
  const int known = 1 + (FaultWatch::active() ? 1 : 0);
  return count_threads() == known;
#endif
}

void note_function() {
  const ForeignCode* code = ForeignCode::current();
  if (code != nullptr) shared_page->function.store(code->function());
}

void die_of(int signal) {
  note_function();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

[[noreturn]] void end_at_exit() {
  note_function();
  ::_exit(kNotAnswered);
}

/// The child has one thread and no user: faults end it, and no handler of the parent is called.
void become_child() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  FaultWatch::forget_in_child();
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::signal(signal, die_of);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction inherited {};
    ::sigaction(signal, nullptr, &inherited);
    if (inherited.sa_handler != SIG_IGN)
      ::signal(signal, SIG_DFL);  // a worker leaves those of the terminal to its parent
  }
  static_cast<void>(std::atexit([] { end_at_exit(); }));  // before those of the parent
  // What is printed there is nothing that the user asked for.
  silence({STDOUT_FILENO});
}

bool write_whole(int descriptor, const Bytes& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

[[noreturn]] void work_in_child(int answer, FunctionRef<Bytes(std::atomic<int>&)> work) {
  become_child();
  int code = kNotAnswered;
  try {
    if (write_whole(answer, to_bytes(work(shared_page->stage)))) code = kAnswered;
  } catch (...) {  // NOLINT(bugprone-empty-catch): the parent sees that there is no answer
  }
  ::_exit(code);
}

/// The size comes first. A child that ends with code 0 may have said nothing: an FMU called _exit() there.
bool is_whole(const Bytes& answer) {
  std::uint64_t size = 0;
  if (answer.size() < sizeof size) return false;
  std::memcpy(&size, answer.data(), sizeof size);
  return answer.size() - sizeof size >= size;
}

/// Texts that another process wrote: cut where they do not end.
template <std::size_t N>
std::string text_in(const std::array<char, N>& shared) {
  const std::string copy(shared.data(), shared.size());
  return printable(std::string_view(copy.c_str()));
}

/// Reads until the answer is whole, or the child closes its end.
class Listener {
 public:
  enum class End { Closed, LateCall, LateStage };
  Listener(int descriptor, const SharedPage& page, const CallNote& note, const ChildLimits& limits)
      : descriptor_(descriptor),
        page_(page),
        note_(note),
        limits_(limits),
        calls_(note.calls.load()),
        calls_before_(calls_) {}

  End listen(Bytes& answer) {
    for (;;) {
      pollfd waited{descriptor_, POLLIN, 0};
      const int ready = ::poll(&waited, 1, limits_.call || limits_.later_stages ? kInterval : -1);
      if (ready < 0 && errno == EINTR) continue;
      if (ready == 0) {
        if (const auto late = lateness()) return *late;
        continue;
      }
      std::array<std::byte, 4096> part;
      const ssize_t count = ::read(descriptor_, part.data(), part.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return End::Closed;
      answer.insert(answer.end(), part.begin(), part.begin() + count);
      if (is_whole(answer)) return End::Closed;  // what it started itself may keep the other end
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kInterval = 20;  // ms

  std::optional<End> lateness() {
    const auto now = Clock::now();
    const int stage = page_.stage.load();
    if (stage != stage_) stage_since_ = now;
    const std::uint64_t calls = note_.calls.load();
    if (calls != calls_ || stage != stage_) call_since_ = now;
    stage_ = stage;
    calls_ = calls;
    if (exceeds(now - call_since_, limits_.call)) return calls != calls_before_ ? End::LateCall : End::LateStage;
    if (stage > 0 && exceeds(now - stage_since_, limits_.later_stages)) return End::LateStage;
    return std::nullopt;
  }
  static bool exceeds(Clock::duration lasted, const std::optional<Duration>& limit) {
    return limit && std::chrono::duration<double>(lasted).count() > *limit;
  }

  int descriptor_;
  const SharedPage& page_;
  const CallNote& note_;
  const ChildLimits& limits_;
  int stage_ = 0;
  std::uint64_t calls_;
  std::uint64_t calls_before_;  // the copy was made: those in the note are not of it
  Clock::time_point stage_since_ = Clock::now();
  Clock::time_point call_since_ = stage_since_;
};

LateCall call_in(const CallNote& note) {
  const Time t = note.time;
  return {text_in(note.code), text_in(note.function), std::isnan(t) ? std::nullopt : std::optional(t)};
}

std::string failure_text(int status, bool in_time, const char* function) {
  if (!in_time) return "did not return in time";
  const FaultText& text = text_of(fault_of(status));
  return fmt::format("{} {}{}", text.action, function == nullptr ? "code of its own" : function, text.cause);
}

}  // namespace

Fault fault_of(int status) {
  if (!WIFSIGNALED(status)) return Fault::Ended;
  switch (WTERMSIG(status)) {
    case SIGSEGV: return Fault::Memory;
    case SIGBUS: return Fault::Bus;
    case SIGFPE: return Fault::Arithmetic;
    case SIGILL: return Fault::Instruction;
    case SIGABRT: return Fault::Abort;
    default: return Fault::Killed;
  }
}

std::optional<ChildOutcome> in_child_process(const ChildLimits& limits,
                                             FunctionRef<Bytes(std::atomic<int>& stage)> work) {
  if (!may_be_copied()) return std::nullopt;
  void* memory = ::mmap(nullptr, sizeof(SharedPage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return std::nullopt;
  auto* page = new (memory) SharedPage;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    ::munmap(memory, sizeof(SharedPage));
    return std::nullopt;
  }
  // A worker's parent measures the calls of its copies by the same note.
  CallNote& note = ForeignCode::noted_in() != nullptr ? *ForeignCode::noted_in() : page->note;
  std::cout.flush();
  std::fflush(nullptr);  // else both would write what waits there
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    shared_page = page;
    ForeignCode::note_calls_in(note);
    work_in_child(ends[1], work);
  }
  ::close(ends[1]);
  ChildOutcome outcome;
  if (child > 0) {
    Bytes answer;
    const auto end = Listener(ends[0], *page, note, limits).listen(answer);
    const bool in_time = end == Listener::End::Closed;
    if (!in_time) ::kill(child, SIGKILL);
    outcome.late = !in_time;
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    outcome.answered = in_time && WIFEXITED(status) && WEXITSTATUS(status) == kAnswered && is_whole(answer);
    outcome.interrupted = WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM);
    outcome.stage = page->stage.load();
    if (end == Listener::End::LateCall) outcome.late_call = call_in(note);
    if (outcome.answered) from_bytes(answer, outcome.answer);
    if (!outcome.answered) outcome.failure = failure_text(status, in_time, page->function.load());
  }
  ::close(ends[0]);
  ::munmap(memory, sizeof(SharedPage));
  if (child < 0) return std::nullopt;
  return outcome;
}

}  // namespace entrain::base
