/* An FMI 3.0 co-simulation FMU, y = u + offset, with an event mode and an intermediate update that misbehave as its
   parameter 'mode' requests. It checks its own state machine: a call where it is not allowed is an error. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "idle_fmi3.h"
#include "scripted_fmu3.h"

enum Phase { Instantiated, Initializing, EventMode, StepMode, Asking };

typedef struct {
  fmi3InstanceEnvironment environment;
  fmi3LogMessageCallback log;
  fmi3IntermediateUpdateCallback update;
  double u, offset, time, integral, calls;
  int mode, events_used, early_allowed, phase, pending, handled;
} Component;

FAILS_WITH_A_WORD

static Component* made(const Instantiation* wish) {
  if (strcmp(wish->token, "scripted") != 0) return NULL;
  Component* c = calloc(1, sizeof(Component));
  c->environment = wish->environment;
  c->log = wish->log;
  c->update = wish->update;
  c->events_used = wish->events;
  c->early_allowed = wish->early;
  return c;
}
INSTANTIATED_BY(made)
FREED_AT_ONCE
static void initialize(Component* c, double start) {
  c->time = start;
  c->phase = Initializing;
}
INITIALIZED_BY(initialize)
EXPORT fmi3Status fmi3ExitInitializationMode(fmi3Instance instance) {
  Component* c = instance;
  c->phase = c->events_used ? EventMode : StepMode;
  return fmi3OK;
}
IDLE(fmi3Terminate)
EXPORT fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Float64 values[],
                                 size_t count) {
  Component* c = instance;
  (void)count;
  c->calls += COUNTED_GET;
  for (size_t i = 0; i < n; ++i)
    values[i] = vr[i] == 4 ? c->integral : c->mode == CountCalls ? c->calls : c->u + c->offset;
  if (c->mode == ReturnNan && c->time > 0.5 - 1e-9) values[0] = NAN;
  return fmi3OK;
}
EXPORT fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                 const fmi3Float64 values[], size_t count) {
  Component* c = instance;
  (void)vr, (void)count;
  c->calls += COUNTED_SET;
  if (c->mode == CrashWhenTold && c->phase == Asking && c->time > 0.5 - 1e-9) use_memory_that_is_not_there();
  for (size_t i = 0; i < n; ++i) c->u = values[i];
  if (c->mode != WarnOnSet || c->time < 0.5 - 1e-9) return fmi3OK;
  c->log(c->environment, fmi3Warning, "logStatusWarning", "u is large");
  return fmi3Warning;
}
EXPORT fmi3Status fmi3SetInt32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const fmi3Int32 values[],
                               size_t count) {
  Component* c = instance;
  (void)vr, (void)n, (void)count;
  c->mode = values[0];
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetBoolean(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Boolean values[],
                                 size_t count) {
  (void)instance, (void)vr, (void)n, (void)count;
  values[0] = fmi3True;
  return fmi3OK;
}
SAVED_AS_COPY
/* Accepted by all modes, and done in one. */
EXPORT fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState state) {
  Component* c = instance;
  if (c->mode == TerminateInEvent3) memcpy(c, state, sizeof(Component));
  return fmi3OK;
}
EXPORT fmi3Status fmi3EnterEventMode(fmi3Instance instance) {
  Component* c = instance;
  if (!c->events_used || c->phase != StepMode) return fail(c, "event mode entered from elsewhere");
  c->phase = EventMode;
  return fmi3OK;
}
EXPORT fmi3Status fmi3EnterStepMode(fmi3Instance instance) {
  Component* c = instance;
  if (c->phase != EventMode) return fail(c, "step mode entered from elsewhere");
  c->phase = StepMode;
  return fmi3OK;
}

static double event_after(const Component* c, double t) {
  switch (c->mode) {
    case EventInside:
    case NeverSettles3:
    case TerminateInEvent3: return t < 0.25 - 1e-9 ? 0.25 : 1e9;
    case Announced: return t < 0.33 - 1e-9 ? 0.33 : t < 0.66 - 1e-9 ? 0.66 : 1e9;
    default: return 1e9;
  }
}

EXPORT fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean* again, fmi3Boolean* terminate,
                                           fmi3Boolean* nominals_changed, fmi3Boolean* states_changed,
                                           fmi3Boolean* next_is_known, fmi3Float64* next) {
  Component* c = instance;
  if (c->phase != EventMode) return fail(c, "discrete states updated outside event mode");
  if (c->mode == NoEventMode) return fail(c, "no events here");
  *nominals_changed = *states_changed = fmi3False;
  const int at_event = c->time > 0.1;
  *again = c->mode == NeverSettles3 && at_event;
  *terminate = c->mode == TerminateInEvent3 && at_event;
  if (at_event && c->mode == EventInside) c->offset += 1.0;
  if (at_event && c->mode == Announced) c->offset += 10.0;
  c->pending = 0;
  *next_is_known = c->mode == Announced && event_after(c, c->time) < 1e8;
  *next = event_after(c, c->time);
  return fmi3OK;
}

/* The integral of the input, held between the questions: four internal steps per step. */
static void integrate(Component* c, double from, double to) {
  const double part = (to - from) / 4.0;
  for (int k = 0; k < 4; ++k) {
    c->integral += c->u * part;
    if (c->update == NULL || c->mode == AskNothing) continue;
    fmi3Boolean early = fmi3False;
    fmi3Float64 early_time = 0.0;
    c->phase = Asking;
    c->update(c->environment, from + part * (k + 1), fmi3True, fmi3False, fmi3True, fmi3False, &early, &early_time);
    c->phase = StepMode;
  }
}

/* From 0.5 s on. */
static fmi3Status fault(const Component* c) {
  switch (c->mode) {
    case ReturnError: return fail(c, "the boiler burst");
    case ReturnFatal: fail(c, "out of memory"); return fmi3Fatal;
    case LogNothing:
      c->log(c->environment, fmi3Error, NULL, NULL);
      c->log(NULL, fmi3Error, NULL, "without an environment");
      c->log(c->environment, fmi3Error, NULL, "\033[2J%n100%");
      return fmi3Error;
    default: take_the_process_along(c->mode); return fmi3OK;
  }
}

EXPORT fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 from, fmi3Float64 size, fmi3Boolean no_set,
                             fmi3Boolean* event, fmi3Boolean* terminate, fmi3Boolean* early, fmi3Float64* last) {
  Component* c = instance;
  (void)no_set;
  c->calls += COUNTED_STEP;
  if (c->phase != StepMode) return fail(c, "a step outside step mode");
  if (c->pending) return fail(c, "a step with an event pending");
  if (from - c->time > 1e-9) return fail(c, "a step from the future"); /* one from the past is not noticed */
  *event = *terminate = *early = fmi3False;
  const int late = from >= 0.5 - 1e-9;
  const fmi3Status status = late ? fault(c) : fmi3OK;
  if (status != fmi3OK) return status;
  if (late && (c->mode == DiscardAll3 || (c->mode == DiscardLong && size > 0.03))) return fmi3Discard;
  double to = from + size;
  const double at = event_after(c, from);
  if (to > at + 1e-9 && c->mode == Announced) return fail(c, "a step past an announced event");
  if (c->mode != Announced && to > at - 1e-9) {
    to = c->early_allowed ? at : to;
    *event = c->events_used;
  }
  if (late && c->events_used && (c->mode == EndlessInPlace || (c->mode == EventInPlace && !c->handled++))) {
    *event = *early = fmi3True;
    *last = from;
    c->pending = 1;
    return fmi3OK;
  }
  integrate(c, from, to);
  c->time = *last = to;
  *early = to < from + size - 1e-12;
  c->pending = *event;
  return fmi3OK;
}
