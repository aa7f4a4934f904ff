#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "base/process_state.hpp"
#include "entrain/fact.hpp"
#include "entrain/variable.hpp"

namespace entrain::base {

/// The call under way, in memory that another process reads when this one is gone.
struct CallNote {
  std::array<char, 256> code;        ///< "FMU 'prey.fmu'", cut; empty = none yet
  std::array<char, 64> function;     ///< the latest one
  double time;                       ///< simulated, in s; NaN = not known
  std::atomic<std::uint64_t> calls;  ///< that have begun
};

/// Code of a subsystem that is not ours, such as an instance of an FMU. Every call of it goes through `call`: then a
/// crash, a hang, an exit() and an exception can be attributed to it (FaultWatch). A call costs a few plain stores.
/// Used by one thread at a time.
class ForeignCode {
 public:
  struct Owner {
    std::string code;                              ///< "FMU 'prey.fmu'"
    std::string subsystem{};                       ///< may be empty
    std::optional<Duration> timeout{};             ///< wall clock time that one call may take, in s
    std::function<std::string()> last_words{};     ///< its latest messages, to add to an error message; must not wait
    std::function<void(const Fact&)> long_call{};  ///< the run, for a call that takes long; may outlive this object
  };
  explicit ForeignCode(Owner owner);
  ~ForeignCode();
  ForeignCode(const ForeignCode&) = delete;
  ForeignCode& operator=(const ForeignCode&) = delete;

  /// `name` must be a literal: a signal handler reads it. An exception becomes Error{SubsystemFailed}; then the code
  /// was left in its middle and is no longer `usable`.
  template <class Function, class... Arguments>
  auto call(const char* name, Function&& function, Arguments... arguments) {
    // By hand, not by a guard object: GCC keeps one in memory because of the exceptions.
    const ForeignCode* const outer_code = innermost;
    const char* const outer_function = this->function();
    innermost = this;
    count_call();
    enter(name);
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<Function, Arguments...>>) {
        function(arguments...);
        leave(outer_code, outer_function);
        look_after();
      } else {
        const auto result = function(arguments...);
        leave(outer_code, outer_function);
        look_after();
        return result;
      }
    } catch (...) {
      leave(outer_code, outer_function);
      explain_exception(name);
    }
  }
  /// Several calls in a row of different functions, each announced by `enter` inside `calls`: cheaper than `call` for
  /// each. Never from within a call.
  template <class Calls>
  auto visit(Calls&& calls) {
    innermost = this;
    count_call();
    try {
      const auto result = calls();
      leave(nullptr, nullptr);
      look_after();
      return result;
    } catch (...) {
      const char* const culprit = function();
      leave(nullptr, nullptr);
      explain_exception(culprit);
    }
  }
  /// Only inside `visit`; `name` as for `call`.
  void enter(const char* name) noexcept {
    function_.store(name, std::memory_order_relaxed);
    if (note != nullptr) [[unlikely]]
      publish(name);
  }
  /// The same for what only an engine calls: a worker, which has none, is the one to note its calls.
  void enter_in_run(const char* name) noexcept { function_.store(name, std::memory_order_relaxed); }
  bool usable() const noexcept { return usable_; }

  /// The simulated time that messages name.
  void set_time(Time t) noexcept { time_.store(t, std::memory_order_relaxed); }

  // For the watch, from other threads and signal handlers.
  const Owner& owner() const noexcept { return owner_; }
  const char* function() const noexcept { return function_.load(std::memory_order_relaxed); }  ///< null = outside
  /// Calls and visits begun: with `function`, which call it is in.
  std::uint64_t calls() const noexcept { return calls_.load(std::memory_order_relaxed); }
  std::optional<Time> time() const noexcept;
  /// From now on the call under way is noted there; of several threads the latest.
  static void note_calls_in(CallNote& place) noexcept { note = &place; }
  /// Where that is; null = nowhere.
  static CallNote* noted_in() noexcept { return note; }
  /// What the calling thread is in; null = our own code.
  static const ForeignCode* current() noexcept { return innermost; }
  /// Has there been any in this process?
  static bool exists() noexcept { return existed.load(std::memory_order_relaxed); }

 private:
  void count_call() noexcept { calls_.store(calls() + 1, std::memory_order_relaxed); }
  /// Calls nest: an FMU in its step calls back, and is asked for values from there.
  void leave(const ForeignCode* outer_code, const char* outer_function) noexcept {
    innermost = outer_code;
    function_.store(outer_function, std::memory_order_relaxed);
  }

  /// Puts back what the code has changed in the process: the arithmetic after every call, before any number of ours is
  /// calculated with it; the rest after each of the first calls and every 64th, not more often than some milliseconds.
  [[gnu::always_inline]] void look_after() {
    if (ProcessState::arithmetic_is_changed()) [[unlikely]]
      ProcessState::put_back_arithmetic();
    if (calls() >= next_look_) [[unlikely]]
      look_at_process();
  }
  [[gnu::noinline, gnu::cold]] void look_at_process();

  [[noreturn]] void explain_exception(const char* name);
  [[gnu::noinline]] void publish(const char* name) const noexcept;

  static constexpr std::uint64_t kCallsBetweenLooks = 64;

  static inline constinit std::atomic<bool> existed = false;
  // initial-exec: a signal handler must reach it without the allocation that the general model may need.
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local const ForeignCode* innermost = nullptr;

  static inline constinit CallNote* note = nullptr;

  // What a call writes first, in one cache line.
  alignas(64) std::atomic<const char*> function_ = nullptr;
  std::atomic<std::uint64_t> calls_ = 0;
  std::uint64_t next_look_ = 1;
  std::atomic<double> time_ = std::numeric_limits<double>::quiet_NaN();
  bool usable_ = true;
  Owner owner_;
  std::size_t place_ = 0;  ///< among those that are watched
};

}  // namespace entrain::base
