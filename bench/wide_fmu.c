/* The cheapest FMU with ten inputs and ten outputs (FMI 2): y_k = 0.5 u_k. With BUSY_NANOSECONDS a step takes so much
   of the processor. With STAMPED the first step of a process adds its time to the file $ENTRAIN_STAMPS. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>

#include "support/idle_fmi2.h"

#ifndef BUSY_NANOSECONDS
#define BUSY_NANOSECONDS 0
#endif

enum { kPorts = 10 };

static void stamp(void) {
#ifdef STAMPED
  static int is_done = 0;
  struct timespec now;
  FILE* file = is_done || !getenv("ENTRAIN_STAMPS") ? NULL : fopen(getenv("ENTRAIN_STAMPS"), "a");
  is_done = 1;
  if (!file) return;
  clock_gettime(CLOCK_MONOTONIC, &now);
  fprintf(file, "%.9f\n", (double)now.tv_sec + 1e-9 * (double)now.tv_nsec);
  fclose(file);
#endif
}

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions* outside, fmi2Boolean visible, fmi2Boolean logging) {
  (void)name, (void)type, (void)guid, (void)resources, (void)outside, (void)visible, (void)logging;
  return calloc(kPorts, sizeof(double));
}
FREED_AT_ONCE
ANY_EXPERIMENT
IDLE(fmi2EnterInitializationMode)
IDLE(fmi2ExitInitializationMode)
IDLE(fmi2Terminate)
EXPORT fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n, const fmi2Real v[]) {
  for (size_t i = 0; i < n; ++i) ((double*)component)[vr[i]] = v[i];
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n, fmi2Real v[]) {
  for (size_t i = 0; i < n; ++i) v[i] = 0.5 * ((double*)component)[vr[i] - kPorts];
  return fmi2OK;
}
EXPORT fmi2Status fmi2DoStep(fmi2Component component, fmi2Real from, fmi2Real size, fmi2Boolean no_set) {
  (void)component, (void)from, (void)size, (void)no_set;
  struct timespec begin, now;
  stamp();
  if (BUSY_NANOSECONDS == 0) return fmi2OK;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < BUSY_NANOSECONDS);
  return fmi2OK;
}
