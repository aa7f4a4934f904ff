#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "entrain/fact.hpp"
#include "entrain/variable.hpp"

namespace entrain::base {

/// A call is called long after this time, and is reported then; again at twice the time, and so on.
inline constexpr Duration kFirstLongCall = 10.0;  // s

/// Measures the call that is under way. `Key`: what differs when it is another one.
template <class Key>
class CallTimer {
 public:
  using Clock = std::chrono::steady_clock;

  explicit CallTimer(Key key = {}, Clock::time_point now = Clock::now()) : key_(std::move(key)), since_(now) {}

  /// How long this call has been seen, in s. To be called a few times a second at least.
  Duration look(const Key& key, Clock::time_point now = Clock::now()) {
    if (key != key_) *this = CallTimer(key, now);
    return std::chrono::duration<double>(now - since_).count();
  }
  /// Whether a report is due; the next one is due later then.
  bool is_due(Duration lasted) {
    if (lasted <= next_report_) return false;
    next_report_ *= 2.0;
    return true;
  }
  const Key& key() const { return key_; }

 private:
  Key key_;
  Clock::time_point since_;
  Duration next_report_ = kFirstLongCall;
};

/// A call that takes long, as it is reported (call-takes-long).
struct LongCall {
  Fact fact;
  std::function<void(const Fact&)> of_run;  ///< what the run does with it, each time that it is seen; may be empty
  bool due = false;                         ///< for the listener, too
};
/// `process`: "own" or "run", where the call is.
Fact long_call(const std::string& subsystem, std::string function, Duration lasted, std::optional<Time> time,
               const char* process);

/// Gets the calls of foreign code that take long, while they last, of all processes that this one waits for; of
/// several the newest gets them. Those of this process are measured while a FaultWatch exists.
class LongCalls {
 public:
  /// Called from any thread, perhaps from several at once, with no lock of ours held: it may make and release whatever
  /// it likes. It must return soon: the thread that calls it has other calls and faults to look after. What it throws
  /// is ignored.
  using Handler = std::function<void(const Fact& call)>;
  explicit LongCalls(Handler handler);
  ~LongCalls();  ///< afterwards it is called no more
  LongCalls(const LongCalls&) = delete;
  LongCalls& operator=(const LongCalls&) = delete;

  /// Is there any?
  static bool heard() noexcept;
  static void report(const LongCall& call) noexcept;
  /// To the listener alone.
  static void report(const Fact& call) noexcept;
  /// In a copy of the process that is to have listeners of its own.
  static void begin_anew_in_child() noexcept;
};

/// The longest of the calls that were reported.
class LongestCall {
 public:
  void keep(const Fact& call);
  /// Forgets it; nullopt: none took long.
  std::optional<Fact> take();

 private:
  std::mutex mutex_;
  std::optional<Fact> longest_;
};

}  // namespace entrain::base
