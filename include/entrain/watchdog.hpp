#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "entrain/error.hpp"
#include "entrain/export.hpp"

namespace entrain {

/// Watches over the code of FMUs, which runs in this process. While a watchdog exists and an FMU crashes (SIGSEGV,
/// SIGBUS, SIGFPE, SIGILL, SIGABRT), calls exit(), or does not return within the `timeout` of its subsystem:
///
/// 1. The thread that called the FMU stands still for good.
/// 2. `on_fault` is called on another thread, with a message that names subsystem, file, function, time and remedy.
///    There a run can be ended with Simulation::abandon, so that its results so far are kept.
/// 3. The temporary folders of the FMUs are removed, and the process ends with exit code 1 and no destructors.
///
/// If 2 and 3 are not done after five seconds, a short message goes to stderr and the process ends. A crash anywhere
/// else happens as it would without a watchdog.
///
/// Process-wide: it installs handlers of those signals and of SIGURG, and puts the former ones back. Of several
/// watchdogs the newest is called. Destroy it in the thread that made it.
class ENTRAIN_API Watchdog {
 public:
  using Handler = std::function<void(const Error& fault)>;
  explicit Watchdog(Handler on_fault);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// For the handler of a signal: the user wants the end now, and the run does not return. `on_fault` of the newest
  /// watchdog is called as for a fault (FactCode::EndedAtOnce), the calling thread stands still, the process ends.
  static void end_at_once() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// While one exists, `on_call` is called with every call of an FMU that takes long, after 10 s, 20 s, 40 s and so on
/// (call-takes-long): in whatever run, verb or companion run, in processes of their own always, in this one while a
/// Watchdog exists. "process" of the fact is "own" or "run".
///
/// Process-wide; of several the newest is called. Two rules for `on_call`:
/// - It is called from any thread, perhaps from several at once, with no lock of Entrain held: it may make and release
///   simulations and watchdogs. What it throws is ignored.
/// - It returns soon. It is called by the thread that looks after faults and timeouts, or by one that waits for the
///   call: while it waits itself, a crash or a timeout elsewhere waits, too.
class ENTRAIN_API LongCallWatch {
 public:
  using Handler = std::function<void(const Fact& call)>;
  explicit LongCallWatch(Handler on_call);
  ~LongCallWatch();  ///< afterwards `on_call` is called no more
  LongCallWatch(const LongCallWatch&) = delete;
  LongCallWatch& operator=(const LongCallWatch&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// For an operator new of the program: so many bytes could not be had. The error of the run names them.
ENTRAIN_API void note_refused_memory(std::size_t bytes) noexcept;

/// For the parent of a process that ended in the middle of a run: removes its temporary folders, which the next run
/// would do otherwise.
ENTRAIN_API void remove_abandoned_files() noexcept;

}  // namespace entrain
