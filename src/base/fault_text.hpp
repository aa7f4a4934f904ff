#pragma once

#include <array>
#include <cstddef>

namespace entrain::base {

/// How foreign code ended the thread or the process that it ran in.
enum class Fault {
  Memory,
  Stack,
  Bus,
  Arithmetic,
  Instruction,
  Abort,
  Exit,
  ThreadEnd,
  Timeout,
  Signal,
  // Seen from another process alone.
  Killed,
  Ended,
  Replaced,
  Damage,
};

/// "FMU 'x.fmu' <action> fmi2DoStep<cause>. <remedy>". Literals, because a signal handler writes them too.
struct FaultText {
  const char* name;
  const char* action;
  const char* cause;
  const char* remedy;
};

// In a process that holds other libraries, too, their part is not known.
inline constexpr const char* kTryAlone =
    "Run it with isolate = true, in a process of its own: if it crashes there, too, report it to its vendor";
/// In the place of kTryAlone where nothing else is in the process.
inline constexpr const char* kReportIt =
    "Nothing else runs in its process, so the fault is its own: report it to its vendor, with this message";
inline constexpr const char* kNoLibraryMay = "No library may do that: report it to its vendor";
inline constexpr std::array<FaultText, 14> kFaultTexts{{
    {"memory", "crashed in", " (SIGSEGV: it used memory that is not there)", kTryAlone},
    {"stack", "crashed in", " (SIGSEGV: it ran out of stack, as endless recursion does)",
     "Raise the limit of the stack (ulimit -s) and use one thread; if that does not help, report it to its vendor"},
    {"bus", "crashed in", " (SIGBUS: it used memory that cannot be reached)",
     "Often a file in use was cut, or a disk is full; else report it to its vendor"},
    {"arithmetic", "crashed in", " (SIGFPE: it divided an integer by zero, or had floating point faults trapped)",
     kTryAlone},
    {"instruction", "crashed in",
     " (SIGILL: an instruction that this processor does not know, or a trap for what must not happen)",
     "Ask its vendor, with this message; a build for older processors may help"},
    {"abort", "gave up in", " (SIGABRT: it called abort(), as a failed assertion does)", kTryAlone},
    {"exit", "ended the process in", ": it called exit()", kNoLibraryMay},
    {"thread-end", "ended the thread of the run in", ": it called pthread_exit()", kNoLibraryMay},
    {"timeout", "did not return from", "",
     "Raise 'timeout' of the subsystem or use a smaller step; else report it to its vendor"},
    {"signal", "was interrupted in", " by a second signal", ""},
    {"killed", "was killed in", " (SIGKILL)", "Often the memory of the machine was used up: see the log of the kernel"},
    {"ended", "ended its process in", ", without a word", kNoLibraryMay},
    {"replaced", "replaced its process in", ": it called exec(), or closed what is not its own", kNoLibraryMay},
    {"damage", "damaged what its process shares with the run in", ": the answer makes no sense", kNoLibraryMay},
}};

constexpr const FaultText& text_of(Fault fault) {
  return kFaultTexts[static_cast<std::size_t>(fault)];
}

}  // namespace entrain::base
