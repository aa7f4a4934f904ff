/* What most hand-written FMI 2.0 FMUs of the tests and benchmarks do not care about: calls that do nothing. */
#pragma once

#include <stdlib.h>

#include "subsystem/fmi/fmi2_api.h"

#define EXPORT __attribute__((visibility("default")))

#define IDLE(call)                          \
  EXPORT fmi2Status call(fmi2Component c) { \
    (void)c;                                \
    return fmi2OK;                          \
  }

/* Frees what fmi2Instantiate took from calloc. */
#define FREED_AT_ONCE                             \
  EXPORT void fmi2FreeInstance(fmi2Component c) { \
    free(c);                                      \
  }

#define ANY_EXPERIMENT                                                                                  \
  EXPORT fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, \
                                        fmi2Real start, fmi2Boolean has_stop, fmi2Real stop) {          \
    (void)c, (void)has_tolerance, (void)tolerance, (void)start, (void)has_stop, (void)stop;             \
    return fmi2OK;                                                                                      \
  }
