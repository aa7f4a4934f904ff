/* What scripted_fmu.c does from t = 0.5 s on: the values of its parameter 'mode', shared with the tests. */
#pragma once

enum ScriptedMode {
  Normal,
  ReturnError,
  ReturnFatal,
  DiscardHalf,
  DiscardAll,
  Terminate,
  ReturnNan,
  Warn,
  FailInitialization,
  Segfault,
  Abort,
  DivideByZero,
  Hang,
  ExitProcess,
  Overflow,
  Throw,
  LogNothing,
  OwnSymbols,
  CrashWhenFreed,
  TellTolerance, /* y is the tolerance told in fmi2SetupExperiment, -1 if none was */
  CrashInSet,
  CrashInGet
};

#ifdef __cplusplus
extern "C" {
#endif
void throw_exception(void);
#ifdef __cplusplus
}
#endif
