/* What hand-written FMI 3.0 FMUs of the tests have in common: long lists of arguments, calls that do nothing. A
   `Component` is their own struct. */
#pragma once

#include <stdlib.h>

#include "subsystem/fmi/fmi3_api.h"

#define EXPORT __attribute__((visibility("default")))

#define IDLE(call)                              \
  EXPORT fmi3Status call(fmi3Instance unused) { \
    (void)unused;                               \
    return fmi3OK;                              \
  }

/* Frees what came from calloc. */
#define FREED_AT_ONCE                                   \
  EXPORT void fmi3FreeInstance(fmi3Instance instance) { \
    free(instance);                                     \
  }

/* Of the arguments of fmi3InstantiateCoSimulation, those that an FMU of the tests looks at. */
typedef struct {
  fmi3String token;
  fmi3Boolean events, early;
  fmi3InstanceEnvironment environment;
  fmi3LogMessageCallback log;
  fmi3IntermediateUpdateCallback update;
} Instantiation;

/* `make`: a Component, or NULL, of an Instantiation. */
#define INSTANTIATED_BY(make)                                                                                   \
  EXPORT fmi3Instance fmi3InstantiateCoSimulation(                                                              \
      fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,        \
      fmi3Boolean events, fmi3Boolean early, const fmi3ValueReference intermediate[], size_t count,             \
      fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update) { \
    (void)name, (void)resources, (void)visible, (void)logging, (void)intermediate, (void)count;                 \
    const Instantiation wish = {token, events, early, environment, log, update};                                \
    return make(&wish);                                                                                         \
  }

/* `enter`: of a Component and the start time. */
#define INITIALIZED_BY(enter)                                                                                   \
  EXPORT fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean has_tolerance,               \
                                                fmi3Float64 tolerance, fmi3Float64 start, fmi3Boolean has_stop, \
                                                fmi3Float64 stop) {                                             \
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;                                           \
    enter(instance, start);                                                                                     \
    return fmi3OK;                                                                                              \
  }

/* No event changes anything. */
#define NOTHING_TO_UPDATE                                                                                       \
  EXPORT fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean* again, fmi3Boolean* terminate, \
                                             fmi3Boolean* nominals_changed, fmi3Boolean* states_changed,        \
                                             fmi3Boolean* next_is_known, fmi3Float64* next) {                   \
    (void)instance, (void)next;                                                                                 \
    *again = *terminate = *nominals_changed = *states_changed = *next_is_known = fmi3False;                     \
    return fmi3OK;                                                                                              \
  }

/* A saved state is a copy of the Component. */
#define SAVED_AS_COPY                                                              \
  EXPORT fmi3Status fmi3GetFMUState(fmi3Instance instance, fmi3FMUState* state) {  \
    if (*state == NULL) *state = malloc(sizeof(Component));                        \
    *(Component*)*state = *(const Component*)instance;                             \
    return fmi3OK;                                                                 \
  }                                                                                \
  EXPORT fmi3Status fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState* state) { \
    (void)instance;                                                                \
    free(*state);                                                                  \
    *state = NULL;                                                                 \
    return fmi3OK;                                                                 \
  }

/* Of a Component with `environment` and `log`. */
#define FAILS_WITH_A_WORD                                       \
  static fmi3Status fail(const Component* c, const char* why) { \
    c->log(c->environment, fmi3Error, "logStatusError", why);   \
    return fmi3Error;                                           \
  }
