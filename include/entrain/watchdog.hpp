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
/// watchdogs the newest is called; of long calls, the newest that has a function for them. Destroy it in the thread
/// that made it.
class ENTRAIN_API Watchdog {
 public:
  using Handler = std::function<void(const Error& fault)>;
  /// Called on another thread while a call of an FMU lasts, after 10 s and then ever more rarely (call-takes-long).
  using LongCall = std::function<void(const Fact& call)>;
  explicit Watchdog(Handler on_fault, LongCall on_long_call = {});
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

/// For an operator new of the program: so many bytes could not be had. The error of the run names them.
ENTRAIN_API void note_refused_memory(std::size_t bytes) noexcept;

/// For the parent of a process that ended in the middle of a run: removes its temporary folders, which the next run
/// would do otherwise.
ENTRAIN_API void remove_abandoned_files() noexcept;

}  // namespace entrain
