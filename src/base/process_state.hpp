#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <locale>
#include <string>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace entrain::base {

/// What code in this process can change for all, and foreign code must not: rounding mode, denormal numbers and traps
/// of the arithmetic, in every process; signal mask and handlers, locale, working directory and standard streams, while
/// an object of this class exists. They are put back to what they were when it was made.
class ProcessState {
 public:
  ProcessState();
  ~ProcessState();
  ProcessState(const ProcessState&) = delete;
  ProcessState& operator=(const ProcessState&) = delete;

  /// The standard streams are others now, on purpose.
  void follow_streams();
  /// In a copy of the process, which has streams of its own.
  static void forget_in_child() noexcept;
  /// All of it, now, if an object exists.
  static void put_back();
  /// Not more often than every few milliseconds: the calls of the operating system take some microseconds.
  static void put_back_soon();

  /// As it is now it is to stay, in all threads.
  static void remember_arithmetic();
  static bool arithmetic_is_changed() {
#if defined(__SSE2__)
    constexpr unsigned kFlags = 0x3f;  // which exceptions there have been: everything changes them
    return (_mm_getcsr() & ~kFlags) != expected_arithmetic;
#else
    return false;  // see put_back_soon
#endif
  }
  static void put_back_arithmetic();

 private:
  struct Stream {
    int copy = -1;
    dev_t device = 0;
    ino_t number = 0;
  };
  static constexpr std::array kSignals{SIGINT,  SIGTERM, SIGHUP,    SIGQUIT, SIGXCPU, SIGUSR1, SIGUSR2,
                                       SIGPIPE, SIGXFSZ, SIGVTALRM, SIGPROF, SIGALRM, SIGCHLD};
  static inline constinit unsigned expected_arithmetic = 0x1f80;  // what every process begins with

  void put_back_signals() const;
  void put_back_locale() const;
  void put_back_folder() const;
  void put_back_streams() const;
  void remember_streams();
  void forget_streams();

  sigset_t mask_{};
  std::array<struct sigaction, kSignals.size()> handlers_{};
  std::string locale_;
  std::locale stream_locale_;
  Stream folder_;
  std::array<Stream, 3> streams_;
};

}  // namespace entrain::base
