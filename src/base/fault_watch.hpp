#pragma once

#include <functional>

#include "base/signal_stack.hpp"
#include "entrain/error.hpp"

namespace entrain::base {

class ForeignCode;

/// While one exists: when foreign code crashes, does not return in time or calls exit(), the handler is called with the
/// full report, on its own thread, while the faulty thread is stopped; then the process ends with exit code 1. A
/// handler that does not return within five seconds (the heap may be broken, a lock held) is abandoned. Faults of our
/// own code are handled as without a watch.
///
/// Of several the newest gets the report. Destroyed in the thread that made it. With base/signal_stack.hpp the only
/// place that knows the signals of this platform.
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

 private:
  SignalStack stack_;
};

/// Called by ForeignCode with a timeout; effective while a FaultWatch exists.
void start_timing(const ForeignCode& code);
void stop_timing(const ForeignCode& code);

}  // namespace entrain::base
