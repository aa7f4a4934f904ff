#pragma once

#include <cstddef>
#include <functional>

#include "base/signal_stack.hpp"
#include "entrain/error.hpp"

namespace entrain::base {

class ForeignCode;

/// While one exists: when foreign code crashes, does not return in time or calls exit(), the handler is called with the
/// full report, on its own thread, while the faulty thread is stopped; then the process ends with exit code 1. A
/// handler that does not return within five seconds (the heap may be broken, a lock held) is abandoned. Faults of our
/// own code are handled as without a watch; those of threads that are not ours are foreign code's.
///
/// Of several the newest gets the report. Destroyed in the thread that made it. While one exists, calls that take long
/// are reported (base/long_calls.hpp). With base/signal_stack.hpp the only place that knows the signals of this
/// platform.
class FaultWatch {
 public:
  using Handler = std::function<void(const Error& fault)>;
  explicit FaultWatch(Handler handler);
  ~FaultWatch();
  FaultWatch(const FaultWatch&) = delete;
  FaultWatch& operator=(const FaultWatch&) = delete;

  static bool active() noexcept;
  /// In a copy of the process, which has no thread for the report: from now on there is no watch.
  static void forget_in_child() noexcept;
  /// In a copy of the process that is to have watches of its own: those of the parent, and what listens to long calls,
  /// are gone.
  static void begin_anew_in_child();
  /// For the handler of a signal by which the user asks for the end now: reported like a fault. Without a watch the
  /// process ends.
  static void end_at_once() noexcept;
  /// Foreign code ends the thread that called it (pthread_exit). Returns only when there is no watch.
  static void report_end_of_thread(const ForeignCode& code) noexcept;
  /// Foreign code has handlers of its own for faults: those of the watch come back.
  static void put_back_handlers() noexcept;
  /// The calling thread reports a fault, and has little time for it.
  static bool is_reporting() noexcept;
  /// Where the last words go when the full report fails; the standard error stream unless that was redirected.
  static void report_to(int descriptor) noexcept;
  /// Someone listens to long calls from now on.
  static void look_again() noexcept;

 private:
  SignalStack stack_;
};

/// Called by ForeignCode; effective while a FaultWatch exists. `place`: where the code is in a list; it must stay where
/// it is until stop_timing.
void start_timing(const ForeignCode& code, std::size_t& place);
void stop_timing(const ForeignCode& code, const std::size_t& place);

}  // namespace entrain::base
