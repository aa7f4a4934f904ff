/* What scripted_fmu.c does from t = 0.5 s on: the values of its parameter 'mode' beside those in faults.h, shared with
   the tests. */
#pragma once

#include "faults.h"

enum ScriptedMode {
  Normal,
  DiscardHalf,
  DiscardAll,
  Terminate,
  Warn,
  FailInitialization,
  DivideByZero,
  ExitProcess,
  Overflow,
  Throw,
  OwnSymbols,
  CrashWhenFreed,
  ReturnTolerance, /* y is the tolerance passed to fmi2SetupExperiment, -1 if none was */
  CrashInSet,
  CrashInGet,
  HangInLongSteps /* which the run does not make, but its companion */
};

#ifdef __cplusplus
extern "C" {
#endif
void throw_exception(void);
void throw_long_exception(void);
void exhaust_memory(void);
#ifdef __cplusplus
}
#endif
