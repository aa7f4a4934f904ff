#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/foreign_code.hpp"
#include "entrain/error.hpp"
#include "entrain/simulation.hpp"

namespace entrain::subsystem {

struct ProbeRequest;

/// The caller of an FMU: its name for messages, and how long one call may take.
struct FmuCaller {
  std::string subsystem;
  std::optional<Duration> timeout{};  ///< wall clock, in s
  Logging log{};
  std::optional<Duration> step{};  ///< the macro step of the run, if there is one
  bool probe = true;               ///< what the FMU claims may be tried ...
  CapabilityUse uses{};            ///< ... as far as it is used
  bool copies = false;             ///< in a copy of this process rather than in a worker
  /// Tries it in a worker, which answers with bytes of FmuAbilities; empty = there is none.
  std::function<base::ChildOutcome(const ProbeRequest&)> prove{};
};

/// What one FMU instance finds outside itself: the watch over its calls, and a place for its messages, of which the
/// last are kept. An FMU may log from threads of its own. Outlives the instance.
class FmuLog {
 public:
  /// `fmu`: its path, for messages.
  FmuLog(const std::string& fmu, const FmuCaller& caller);

  /// Whether a message is worth its formatting: always warnings and errors; anything when all was asked for, and
  /// while the instance is being made, because it may refuse with no other word.
  bool takes(bool trouble, const char* category) const;
  /// Both texts may be null.
  void add(bool trouble, const char* category, const char* message);
  /// The instance exists: from now on only trouble is listened to, unless all was asked for.
  void instance_made() noexcept { made_.store(true, std::memory_order_relaxed); }
  /// "; its log: 'a', 'b'", or nothing when it logged nothing since the last call.
  std::string take_text();

  /// The instance failed while it was terminated or freed.
  void report_end(const Error& error) const noexcept;

  /// The categories of messages to ask the FMU for.
  std::vector<const char*> categories(const std::vector<std::string>& of_fmu) const;

  base::ForeignCode& code() noexcept { return code_; }
  const base::ForeignCode& code() const noexcept { return code_; }

 private:
  std::string text() const;

  const std::string subsystem_;
  const Logging logging_;
  std::atomic<bool> made_ = false;
  std::mutex mutex_;
  std::deque<std::string> last_;
  base::ForeignCode code_;
};

}  // namespace entrain::subsystem
