#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "base/bytes.hpp"
#include "base/fault_text.hpp"
#include "base/function_ref.hpp"
#include "entrain/variable.hpp"

namespace entrain::base {

/// A call of foreign code that did not return in time.
struct LateCall {
  std::string code;      ///< "FMU 'prey.fmu'"
  std::string function;  ///< "fmi2DoStep"
  std::optional<Time> time{};
};

/// What became of work in a child process.
struct ChildOutcome {
  bool answered = false;
  Bytes answer{};
  int stage = 0;             ///< the last one that it announced
  std::string failure = {};  ///< without an answer: "crashed in fmi2SetFMUstate (SIGSEGV: ...)", "did not return ..."
  bool late = false;         ///< it was ended because a call or a stage took too long
  bool interrupted = false;  ///< by the user: nothing is known
  std::optional<LateCall> late_call{};
};

/// How long it may take, in s of wall clock time; no limit = empty.
struct ChildLimits {
  std::optional<Duration> call{};          ///< each call of foreign code
  std::optional<Duration> later_stages{};  ///< each stage but the first, with all its calls
};

/// What a status of waitpid says about the code in that process.
Fault fault_of(int status);

/// Calls `work` in a copy of this process, which ends with it: what crashes or hangs there does no harm here, and
/// what it prints to standard output is not seen. `work`
/// announces its stages (from 0 on) and returns the answer; an exception of it is no answer. nullopt where a copy would
/// not be safe: the process has threads that are not the engine's own.
std::optional<ChildOutcome> in_child_process(const ChildLimits& limits,
                                             FunctionRef<Bytes(std::atomic<int>& stage)> work);

}  // namespace entrain::base
