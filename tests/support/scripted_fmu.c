/* An FMI 2.0 co-simulation FMU, y = u, that misbehaves from t = 0.5 s on as its parameter 'mode' requests. It claims
   more than it has: no functions for its state, and input derivatives that it takes and ignores. The name of an
   instance has no mode, so the guid determines what goes wrong in fmi2Instantiate. */
#include <math.h>
#include <string.h>
#include <unistd.h>
#include <xmmintrin.h>

#include "idle_fmi2.h"
#include "scripted_fmu.h"

typedef struct {
  fmi2CallbackFunctions callbacks;
  double u, last, offset, tolerance, calls;
  int mode, terminated, halved;
} Component;

static void log_text(const Component* c, fmi2Status status, const char* format, const char* argument) {
  c->callbacks.logger(c->callbacks.componentEnvironment, "scripted", status, "logStatusError", format, argument);
}

/* What a library linked with -ffast-math does: numbers below 2.2e-308 become 0 in the thread that loads it. */
__attribute__((constructor)) static void flush_denormals(void) {
  _mm_setcsr(_mm_getcsr() | 0x8040);
}

/* A name that the engine's own libraries define as well: an FMU must reach the one it brings. */
EXPORT int SUNContext_Create(void) {
  return 42;
}

/* With the guid "slow" each of two calls that initialize it takes seven seconds. */
static int slow;
static void take_seven_seconds(void) {
  if (slow) sleep(7);
}

/* In a sanitized program: no leak. An importer makes no call after a fault, so it cannot free the instance. */
extern void __lsan_ignore_object(const void* object) __attribute__((weak));

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions* callbacks, fmi2Boolean visible, fmi2Boolean logging) {
  (void)name, (void)resources, (void)visible, (void)logging;
  if (strcmp(guid, "crash") == 0) use_memory_that_is_not_there();
  if (strcmp(guid, "hang") == 0) hang();
  if (strcmp(guid, "quiet") == 0) end_quietly(0);
  slow = strcmp(guid, "slow") == 0;
  if (type != fmi2CoSimulation || (strcmp(guid, "scripted") != 0 && !slow)) {
    callbacks->logger(callbacks->componentEnvironment, "scripted", fmi2Error, "logStatusError", "unknown guid %s",
                      guid);
    return NULL;
  }
  Component* c = callbacks->allocateMemory(1, sizeof(Component));
  if (__lsan_ignore_object) __lsan_ignore_object(c);
  c->callbacks = *callbacks;
  return c;
}
EXPORT void fmi2FreeInstance(fmi2Component component) {
  Component* c = component;
  if (c->mode == CrashWhenFreed && c->last > 0.9) use_memory_that_is_not_there();
  c->callbacks.freeMemory(c);
}
EXPORT fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                                      fmi2Boolean has_stop, fmi2Real stop) {
  (void)start, (void)has_stop, (void)stop;
  take_seven_seconds();
  ((Component*)c)->tolerance = has_tolerance ? tolerance : -1.0;
  return fmi2OK;
}
EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component component) {
  Component* c = component;
  take_seven_seconds();
  c->offset = 0.0; /* takes parameters back, as some real FMUs do */
  if (c->mode == FailInitialization) log_text(c, fmi2Error, "no solution: 100% wrong", NULL);
  return c->mode == FailInitialization ? fmi2Error : fmi2OK;
}
IDLE(fmi2ExitInitializationMode)
IDLE(fmi2Terminate)
EXPORT fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n, fmi2Real value[]) {
  const Component* c = component;
  ((Component*)component)->calls += COUNTED_GET;
  if (c->mode == CrashInGet && c->last > 0.5 + 1e-9) use_memory_that_is_not_there();
  for (size_t i = 0; i < n; ++i) {
    if (c->mode == ReturnTolerance) {
      value[i] = c->tolerance;
      continue;
    }
    if (c->mode == CountCalls && vr[i] == 1) {
      value[i] = c->calls;
      continue;
    }
    if (vr[i] == 3) {
      value[i] = c->offset;
      continue;
    }
    value[i] = c->mode == ReturnNan && c->last >= 0.5 ? NAN : c->u + (vr[i] == 1 ? c->offset : 0.0);
  }
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n,
                              const fmi2Real value[]) {
  Component* c = component;
  c->calls += COUNTED_SET;
  if (c->mode == CrashInSet && c->last >= 0.5 - 1e-9) use_memory_that_is_not_there();
  for (size_t i = 0; i < n; ++i) *(vr[i] == 3 ? &c->offset : &c->u) = value[i];
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetInteger(fmi2Component component, const fmi2ValueReference vr[], size_t n,
                                 const fmi2Integer value[]) {
  Component* c = component;
  (void)vr, (void)n;
  c->mode = value[0];
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                              const fmi2Integer order[], const fmi2Real value[]) {
  (void)vr, (void)n, (void)order, (void)value;
  ((Component*)c)->calls += COUNTED_DERIVATIVES;
  return fmi2OK;
}
EXPORT fmi2Status fmi2DoStep(fmi2Component component, fmi2Real from, fmi2Real size, fmi2Boolean no_set) {
  Component* c = component;
  (void)no_set;
  c->calls += COUNTED_STEP;
  if (c->terminated) return fmi2Error; /* after a request to stop there are no more steps */
  c->last = from + size;
  if (from < 0.5 - 1e-9) return fmi2OK;
  switch (c->mode) {
    case ReturnError: log_text(c, fmi2Error, "the %s burst", "boiler"); return fmi2Error;
    case ReturnFatal:
      log_text(c, fmi2Fatal, "%s", "out of memory");
      c->callbacks.freeMemory(c); /* no call may follow: a tool that checks memory would see it */
      return fmi2Fatal;
    case DiscardHalf:
      if (c->halved) return fmi2OK;
      c->halved = 1;
      c->last = from + size / 2;
      return fmi2Discard;
    case DiscardAll: c->last = from; return fmi2Discard;
    case Terminate:
      c->last = from + size / 2;
      c->terminated = 1;
      return fmi2Discard;
    case Segfault: log_text(c, fmi2Error, "close to the %s", "edge"); /* fall through */
    case Abort:
    case EndQuietly:
    case Replace:
    case OwnHandler:
    case KillItself:
    case CrashOnce:
    case HangOnce:
    case Hang: take_the_process_along(c->mode); return fmi2OK;
    case HangInLongSteps:
      if (size > 0.15) hang();
      return fmi2OK;
    case DivideByZero: c->last = divided(c->terminated); return fmi2OK;
    case ExitProcess: exit(0);
    case Overflow: return recurse(&c->halved) == 0 ? fmi2OK : fmi2Error;
    case Throw: throw_exception(); return fmi2OK;
    case LogNothing:
      c->callbacks.logger(c->callbacks.componentEnvironment, NULL, fmi2Error, NULL, NULL);
      c->callbacks.logger(NULL, NULL, fmi2Error, NULL, "without an environment");
      c->callbacks.logger(c->callbacks.componentEnvironment, NULL, fmi2Error, NULL, "\033[2J%n100%");
      return fmi2Error;
    case OwnSymbols: c->u = SUNContext_Create(); return fmi2OK;
    case Warn: log_text(c, fmi2Warning, "close to %s", "a limit"); return fmi2Warning;
    default: return fmi2OK;
  }
}
EXPORT fmi2Status fmi2GetRealStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Real* value) {
  const Component* c = component;
  if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
  *value = c->last;
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetBooleanStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Boolean* value) {
  const Component* c = component;
  if (kind != fmi2Terminated) return fmi2Discard;
  *value = c->terminated;
  return fmi2OK;
}
