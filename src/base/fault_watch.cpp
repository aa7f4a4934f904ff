#include "base/fault_watch.hpp"

#include <dirent.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/fault_text.hpp"
#include "base/foreign_code.hpp"
#include "base/long_calls.hpp"
#include "base/process_state.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::base {
namespace {

constexpr unsigned kGrace = 5;  // s, for the handler of a fault
constexpr int kExitCode = 1;
constexpr int kParkSignal = SIGURG;  // ignored by default, so one that comes late does no harm
constexpr const char* kThread = "a thread that an FMU started";
constexpr std::array kFaultSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/// What the signal handlers and the watcher share. Plain data that is never destroyed: a signal may come at any time.
struct Shared {
  sem_t wake{};
  std::atomic<bool> claimed = false;   ///< a thread reports a fault; it is the only one
  std::atomic<bool> reported = false;  ///< the three below are set
  Fault fault = Fault::Memory;
  const ForeignCode* code = nullptr;  ///< null = none that is known
  const char* function = nullptr;
  std::atomic<int> error_stream = STDERR_FILENO;

  sem_t parked{};
  std::atomic<const ForeignCode*> late = nullptr;  ///< the code to be parked, if it still is in this call ...
  std::atomic<std::uint64_t> late_call = 0;
  std::atomic<const char*> late_function = nullptr;  ///< ... of this function
  std::array<struct sigaction, kFaultSignals.size()> before{};
  struct sigaction park_before {};
};
constinit Shared shared;
constinit thread_local bool finishing = false;  // this thread reports a fault

void write_text(const char* text) {
  [[maybe_unused]] const ssize_t ignored = ::write(shared.error_stream.load(), text, std::strlen(text));
}

/// When the full report has failed. Safe in a signal handler.
[[noreturn]] void end_with_last_words() {
  const FaultText& text = text_of(shared.fault);
  for (const char* part : {"entrain: ", shared.code == nullptr ? "the run" : shared.code->owner().code.c_str(), " ",
                           text.action, " ", shared.function == nullptr ? "the program" : shared.function, text.cause,
                           "; it left the process in a state in which the run could not be ended in order\n"}) {
    write_text(part);
  }
  ::_exit(kExitCode);
}

[[noreturn]] void park() {
  for (;;) ::pause();
}

/// True for the first thread that has a fault to report; the process ends then, in a few seconds at the latest.
bool claim(Fault fault, const ForeignCode* code) {
  if (shared.claimed.exchange(true)) return false;
  shared.fault = fault;
  shared.code = code;
  shared.function = code == nullptr ? nullptr : code->function();
  struct sigaction action {};
  action.sa_handler = [](int) { end_with_last_words(); };
  ::sigaction(SIGALRM, &action, nullptr);
  ::alarm(kGrace);
  shared.reported.store(true, std::memory_order_release);
  return true;
}

bool near_the_stack(const siginfo_t& info, const void* context) {
#if defined(__x86_64__)
  constexpr std::uintptr_t kNear = std::uintptr_t{1} << 20U;  // a frame may be large
  const auto stack = static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  return address + kNear > stack && address < stack + kNear;
#else
  static_cast<void>(info), static_cast<void>(context);
  return false;
#endif
}

Fault fault_of(int signal, const siginfo_t& info, const void* context) {
  switch (signal) {
    case SIGSEGV: return near_the_stack(info, context) ? Fault::Stack : Fault::Memory;
    case SIGBUS: return Fault::Bus;
    case SIGFPE: return Fault::Arithmetic;
    case SIGILL: return Fault::Instruction;
    default: return Fault::Abort;
  }
}

/// Not foreign code: what would have happened without us.
void pass_on(int signal, const siginfo_t& info) {
  const auto place = std::find(kFaultSignals.begin(), kFaultSignals.end(), signal) - kFaultSignals.begin();
  ::sigaction(signal, &shared.before[static_cast<std::size_t>(place)], nullptr);
  // A fault of the processor comes again when this returns; a signal that was sent has to be sent again.
  if (info.si_code <= 0) ::raise(signal);
}

/// Foreign code had floating-point faults trapped, and a calculation of ours makes one. It goes on with the traps off:
/// its result is the same. True when that was it.
bool turn_off_traps(int signal, const siginfo_t& info, void* context) {
#if defined(__x86_64__)
  constexpr unsigned kSseTraps = 0x1f80;
  constexpr unsigned kX87Traps = 0x3f;
  if (signal != SIGFPE || info.si_code < FPE_FLTDIV || info.si_code > FPE_FLTSUB) return false;
  auto* state = static_cast<ucontext_t*>(context)->uc_mcontext.fpregs;
  if (state == nullptr) return false;
  state->mxcsr |= kSseTraps;
  state->cwd = static_cast<decltype(state->cwd)>(state->cwd | kX87Traps);
  return true;
#else
  static_cast<void>(signal), static_cast<void>(info), static_cast<void>(context);
  return false;
#endif
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (finishing) end_with_last_words();
  const ForeignCode* code = ForeignCode::current();
  const bool is_ours = code == nullptr && SignalStack::is_thread_of_ours();
  if (is_ours && turn_off_traps(signal, *info, context)) return;
  const bool is_foreign = code != nullptr || (!is_ours && ForeignCode::exists());
  if (is_foreign && claim(fault_of(signal, *info, context), code)) ::sem_post(&shared.wake);
  if (shared.claimed.load()) park();  // also when another thread was first: that thread reports
  pass_on(signal, *info);
}

struct sigaction fault_action() {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  return action;
}

void on_park(int) {
  const ForeignCode* code = ForeignCode::current();
  if (code == nullptr || code != shared.late.load() || code->calls() != shared.late_call.load()) return;
  if (code->function() != shared.late_function.load()) return;
  ::sem_post(&shared.parked);
  park();
}

void on_exit_of_process() {
  const ForeignCode* code = ForeignCode::current();
  if (code == nullptr || !FaultWatch::active()) return;
  if (claim(Fault::Exit, code)) ::sem_post(&shared.wake);
  park();
}

timespec deadline_in(Duration seconds) {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  const auto nanoseconds = time.tv_nsec + static_cast<std::int64_t>(seconds * 1e9);
  time.tv_sec += static_cast<time_t>(nanoseconds / 1'000'000'000);
  time.tv_nsec = static_cast<decltype(time.tv_nsec)>(nanoseconds % 1'000'000'000);
  return time;
}

/// False when the time was up.
bool wait_for(sem_t& semaphore, Duration seconds) {
  const timespec deadline = deadline_in(seconds);
  while (::sem_clockwait(&semaphore, CLOCK_MONOTONIC, &deadline) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

void signal_all_threads(int signal) {
  DIR* tasks = ::opendir("/proc/self/task");
  if (tasks == nullptr) return;
  while (const dirent* entry = ::readdir(tasks)) {  // NOLINT(concurrency-mt-unsafe): a DIR of our own
    if (const long id = std::atol(entry->d_name); id > 0) ::syscall(SYS_tgkill, ::getpid(), id, signal);
  }
  ::closedir(tasks);
}

/// The thread that reports faults and measures the time of calls.
class Watcher {
 public:
  static Watcher& instance() {
    static auto* watcher = new Watcher;  // never destroyed: foreign code may live in static objects
    return *watcher;
  }

  void add(const FaultWatch* owner, FaultWatch::Handler handler) {
    const std::lock_guard lock(mutex_);
    handlers_.push_back({owner, std::move(handler)});
    if (handlers_.size() > 1) return;
    install();
    stopping_ = false;
    active_ = true;
    if (!thread_.joinable()) thread_ = std::thread([this] { watch(); });
  }

  void remove(const FaultWatch* owner) {
    std::thread ended;
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(handlers_, [&](const Entry& entry) { return entry.owner == owner; });
      if (!handlers_.empty()) return;
      active_ = false;
      uninstall();
      if (thread_.get_id() == std::this_thread::get_id()) return;  // by a listener: it goes on, for the next one
      stopping_ = true;
      ended = std::move(thread_);
    }
    ::sem_post(&shared.wake);
    ended.join();
  }

  static void uninstall() {
    for (std::size_t i = 0; i < kFaultSignals.size(); ++i) ::sigaction(kFaultSignals[i], &shared.before[i], nullptr);
    ::sigaction(kParkSignal, &shared.park_before, nullptr);
  }

  bool active() const noexcept { return active_.load(); }
  void forget_thread() noexcept { active_ = false; }
  /// The thread, the lock that it may have held and the handlers are the parent's.
  void begin_anew() {
    std::construct_at(&mutex_);
    std::construct_at(&thread_);
    handlers_.clear();
    timed_.clear();
    active_ = false;
    ::sem_init(&shared.wake, 0, 0);
    ::sem_init(&shared.parked, 0, 0);
  }

  /// Also without a watch: there may be one later, while the code is called.
  void time(const ForeignCode& code, std::size_t& place) {
    {
      const std::lock_guard lock(mutex_);
      place = timed_.size();
      timed_.push_back({&code, &place, Timer({code.calls(), code.function()})});
      if (!code.owner().timeout && timed_.size() > 1) return;  // the thread looks often enough
    }
    look_again();
  }
  void forget(const ForeignCode& code, const std::size_t& place) {
    const std::lock_guard lock(mutex_);
    if (place >= timed_.size() || timed_[place].code != &code) return;  // in a copy of the process that began anew
    *timed_.back().place = place;
    timed_[place] = timed_.back();
    timed_.pop_back();
  }
  void look_again() const noexcept {
    if (active()) ::sem_post(&shared.wake);
  }

 private:
  struct Entry {
    const FaultWatch* owner;
    FaultWatch::Handler handler;
  };
  struct Call {
    std::uint64_t number = 0;
    const char* function = nullptr;

    bool operator==(const Call&) const = default;
  };
  using Timer = CallTimer<Call>;
  struct Timed {
    const ForeignCode* code;
    std::size_t* place;
    Timer timer;
  };

  static void install() {
    static std::once_flag once;
    std::call_once(once, [] {
      ::sem_init(&shared.wake, 0, 0);
      ::sem_init(&shared.parked, 0, 0);
      static_cast<void>(std::atexit(on_exit_of_process));
    });
    const auto action = fault_action();
    for (std::size_t i = 0; i < kFaultSignals.size(); ++i) {
      ::sigaction(kFaultSignals[i], &action, &shared.before[i]);
    }
    struct sigaction parking {};
    parking.sa_handler = on_park;
    parking.sa_flags = SA_ONSTACK | SA_RESTART;
    ::sigaction(kParkSignal, &parking, &shared.park_before);
  }

  void watch() {
    leave_signals_to_other_threads();
    sigset_t last_words;
    ::sigemptyset(&last_words);
    ::sigaddset(&last_words, SIGALRM);
    ::pthread_sigmask(SIG_UNBLOCK, &last_words, nullptr);
    const SignalStack stack;
    for (;;) {
      wait();
      if (shared.reported.load(std::memory_order_acquire)) finish();
      std::vector<LongCall> long_calls;
      {
        const std::lock_guard lock(mutex_);
        if (stopping_) return;
        long_calls = check_times();
      }
      for (const auto& call : long_calls) LongCalls::report(call);
    }
  }

  /// Without foreign code that has a timeout, or that someone listens to, the thread sleeps for good.
  void wait() {
    constexpr Duration kShortest = 1e-3;
    constexpr Duration kLongest = 0.25;
    constexpr Duration kForListeners = 1.0;
    std::optional<Duration> interval;
    {
      const std::lock_guard lock(mutex_);
      if (!timed_.empty() && LongCalls::heard()) interval = kForListeners;
      for (const auto& timed : timed_) {
        const auto& timeout = timed.code->owner().timeout;
        if (!timeout) continue;
        const Duration wanted = std::clamp(*timeout / 4, kShortest, kLongest);
        interval = std::min(interval.value_or(wanted), wanted);
      }
    }
    if (interval) {
      wait_for(shared.wake, *interval);
    } else {
      while (::sem_wait(&shared.wake) != 0) {
      }
    }
  }

  /// Those that take long; they are reported when the lock is released.
  std::vector<LongCall> check_times() {
    std::vector<LongCall> long_calls;
    const auto now = Timer::Clock::now();
    for (auto& timed : timed_) {
      const Call call{timed.code->calls(), timed.code->function()};
      const Duration lasted = timed.timer.look(call, now);
      if (call.function == nullptr) {  // it is in none: the next one begins later
        timed.timer = Timer(call, now);
        continue;
      }
      if (lasted > kFirstLongCall) long_calls.push_back(long_call_of(timed, lasted));
      const auto& timeout = timed.code->owner().timeout;
      if (timeout && lasted > *timeout) {
        if (stop_thread_in(*timed.code, call)) claim(Fault::Timeout, timed.code);
        if (shared.claimed.load()) ::sem_post(&shared.wake);
        break;
      }
    }
    return long_calls;
  }

  static LongCall long_call_of(Timed& timed, Duration lasted) {
    const auto& owner = timed.code->owner();
    return {long_call(owner.subsystem.empty() ? owner.code : owner.subsystem, timed.timer.key().function, lasted,
                      timed.code->time(), "run"),
            owner.long_call, timed.timer.is_due(lasted)};
  }

  /// The thread must not come back while its run is being ended. False when it has come back just now.
  static bool stop_thread_in(const ForeignCode& code, const Call& call) {
    constexpr Duration kAnswer = 1.0;  // no answer by then: the code has blocked the signal
    shared.late_call.store(call.number);
    shared.late_function.store(call.function);
    shared.late.store(&code);
    signal_all_threads(kParkSignal);
    const bool parked = wait_for(shared.parked, kAnswer);
    return parked || (code.function() == call.function && code.calls() == call.number);
  }

  static Error reported_error() {
    const FaultText& text = text_of(shared.fault);
    const bool is_signal = shared.fault == Fault::Signal;
    Fact fact{is_signal ? FactCode::EndedAtOnce : FactCode::CodeFault};
    ErrorContext context{.subsystem = {}, .variable = {}, .time = {}, .remedy = text.remedy};
    if (!is_signal) fact.values = {{"fault", text.name}, {"action", text.action}, {"cause", text.cause}};
    if (shared.code == nullptr) {
      if (is_signal) return Error(ErrorCode::SubsystemFailed, std::move(fact), std::move(context));
      fact.subjects = {kThread};
      fact.values.emplace_back("function", "code of its own");
      return Error(ErrorCode::SubsystemFailed, std::move(fact), std::move(context));
    }
    const auto& owner = shared.code->owner();
    fact.subjects = {owner.code};
    if (shared.function != nullptr) fact.values.emplace_back("function", shared.function);
    if (shared.fault == Fault::Timeout) fact.values.emplace_back("timeout", *owner.timeout, "s");
    if (owner.last_words && !is_signal) fact.values.emplace_back("said", owner.last_words());
    context.subsystem = owner.subsystem;
    context.time = shared.code->time();
    return Error(ErrorCode::SubsystemFailed, std::move(fact), std::move(context));
  }

  [[noreturn]] void finish() {
    finishing = true;
    const Error error = reported_error();
    FaultWatch::Handler handler;
    {
      const std::lock_guard lock(mutex_);
      if (!handlers_.empty()) handler = handlers_.back().handler;
    }
    try {
      if (handler) handler(error);
    } catch (...) {  // the fault is what matters; a failure of the report adds nothing
    }
    ::_exit(kExitCode);
  }

  std::mutex mutex_;
  std::vector<Entry> handlers_;
  std::vector<Timed> timed_;
  std::atomic<bool> active_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace

FaultWatch::FaultWatch(Handler handler) {
  Watcher::instance().add(this, std::move(handler));
}

FaultWatch::~FaultWatch() {
  Watcher::instance().remove(this);
}

bool FaultWatch::active() noexcept {
  return Watcher::instance().active();
}

void FaultWatch::forget_in_child() noexcept {
  ProcessState::forget_in_child();
  Watcher::instance().forget_thread();
}

void FaultWatch::begin_anew_in_child() {
  ProcessState::forget_in_child();
  if (active()) Watcher::uninstall();
  Watcher::instance().begin_anew();
  LongCalls::begin_anew_in_child();
}

void FaultWatch::end_at_once() noexcept {
  if (!active()) ::_exit(kExitCode);
  if (claim(Fault::Signal, ForeignCode::current())) ::sem_post(&shared.wake);
  park();
}

void FaultWatch::report_end_of_thread(const ForeignCode& code) noexcept {
  if (!active()) return;
  if (claim(Fault::ThreadEnd, &code)) ::sem_post(&shared.wake);
  park();
}

void FaultWatch::put_back_handlers() noexcept {
  if (!active()) return;
  const auto action = fault_action();
  for (const int signal : kFaultSignals) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_sigaction != on_fault) ::sigaction(signal, &action, nullptr);
  }
}

bool FaultWatch::is_reporting() noexcept {
  return finishing;
}

void FaultWatch::report_to(int descriptor) noexcept {
  shared.error_stream = descriptor;
}

void FaultWatch::look_again() noexcept {
  Watcher::instance().look_again();
}

void start_timing(const ForeignCode& code, std::size_t& place) {
  Watcher::instance().time(code, place);
}

void stop_timing(const ForeignCode& code, const std::size_t& place) {
  Watcher::instance().forget(code, place);
}

}  // namespace entrain::base
