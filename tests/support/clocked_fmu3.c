/* An FMI 3.0 co-simulation FMU with clocks. 'tick' has times of its own, of the kind that its description declares;
   'in' is triggered; 'out' ticks with 'tick', or as the parameter 'mode' requests. It checks its own state machine: a
   call where it is not allowed is an error. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clocked_fmu3.h"
#include "idle_fmi3.h"

enum Reference {
  Interval = 1,
  Mode,
  Shift,
  Tick = 10,
  In,
  Out,
  Ticks = 20, /* Int32: ticks of 'tick' */
  Heard,      /* Int32: ticks of 'in' */
  U,          /* Float64, clocked by 'tick' */
  Y,          /* Float64, clocked by 'tick': 2 u */
  Value,      /* Int32, clocked by 'out': ticks */
  Received,   /* Int32, clocked by 'in' */
  Last,       /* Int32: received last */
  TickTime,   /* Float64: of the latest tick */
  Updates,    /* Int32 */
  HeardTime,  /* Float64: when 'in' ticked last */
  X,          /* Float64 input, continuous */
  Z           /* Float64 output: x + 10 ticks */
};
enum Phase { Instantiated, Initializing, EventMode, StepMode };

typedef struct {
  fmi3InstanceEnvironment environment;
  fmi3LogMessageCallback log;
  fmi3IntermediateUpdateCallback update;
  fmi3ClockUpdateCallback clock_update;
  double interval, shift, time, u, x, tick_time, heard_time;
  int mode, phase, ticks, heard, received, last, updates, read, u_set, found;
  bool tick, in, out, changed;
  /* Scheduled execution: 'out' has not been asked for yet; inside the clock update; set since the last partition. */
  bool scheduled, partition_out, updating, stale;
  double y, ran[2];
} Component;

FAILS_WITH_A_WORD

static Component* made(const Instantiation* wish) {
  if (!wish->events) return NULL; /* its clocks need an event mode */
  Component* c = calloc(1, sizeof(Component));
  c->environment = wish->environment;
  c->log = wish->log;
  c->update = wish->update;
  c->interval = 0.1;
  c->changed = true;
  c->ran[0] = c->ran[1] = -INFINITY;
  return c;
}
INSTANTIATED_BY(made)
EXPORT fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
                                                      fmi3Boolean visible, fmi3Boolean logging,
                                                      fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                                      fmi3ClockUpdateCallback clock_update,
                                                      fmi3LockPreemptionCallback lock,
                                                      fmi3UnlockPreemptionCallback unlock) {
  (void)lock, (void)unlock;
  Component* c = fmi3InstantiateCoSimulation(name, token, resources, visible, logging, true, true, NULL, 0, environment,
                                             log, NULL);
  c->scheduled = true;
  c->clock_update = clock_update;
  return c;
}
/* FMI 3.0, section 5.2.1: values are set, partitions run, values are read. */
static bool reads_too_early(const Component* c) {
  return c->scheduled && c->phase == EventMode && c->stale;
}
static void note_set(Component* c) {
  if (c->phase == EventMode) c->stale = true;
}
/* u and 'received' are set before their partition runs. */
EXPORT fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clock, fmi3Float64 time) {
  Component* c = instance;
  if (!c->scheduled) return fail(c, "no partitions");
  if (time < c->time) return fail(c, "back in time");
  if (time <= c->ran[clock == Tick]) return fail(c, "a partition runs twice at one time");
  c->ran[clock == Tick] = time;
  c->stale = false;
  c->time = time;
  if (clock == Tick) {
    ++c->ticks;
    c->tick_time = time;
    c->out = c->partition_out = true;
    c->y = 2.0 * c->u;
  } else if (clock == In) {
    ++c->heard;
    c->last = c->received;
    c->heard_time = time;
    c->changed = true;
  } else {
    return fail(c, "no clock of a partition");
  }
  c->updating = true;
  c->clock_update(c->environment);
  c->updating = false;
  return fmi3OK;
}
FREED_AT_ONCE
static void initialize(Component* c, double start) {
  c->time = start;
  c->phase = Initializing;
}
INITIALIZED_BY(initialize)
EXPORT fmi3Status fmi3ExitInitializationMode(fmi3Instance instance) {
  ((Component*)instance)->phase = EventMode;
  return fmi3OK;
}
IDLE(fmi3Terminate)
EXPORT fmi3Status fmi3Reset(fmi3Instance instance) {
  Component* c = instance;
  const Component fresh = {.environment = c->environment,
                           .log = c->log,
                           .update = c->update,
                           .clock_update = c->clock_update,
                           .scheduled = c->scheduled,
                           .interval = 0.1,
                           .changed = true,
                           .ran = {-INFINITY, -INFINITY}};
  *c = fresh;
  return fmi3OK;
}
EXPORT fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean on, size_t count, const fmi3String names[]) {
  (void)instance, (void)on, (void)count, (void)names;
  return fmi3OK;
}

EXPORT fmi3Status fmi3EnterEventMode(fmi3Instance instance) {
  Component* c = instance;
  if (c->phase != StepMode) return fail(c, "no event mode from here");
  c->phase = EventMode;
  c->read = 0;
  return fmi3OK;
}
EXPORT fmi3Status fmi3EnterStepMode(fmi3Instance instance) {
  Component* c = instance;
  if (c->phase != EventMode) return fail(c, "no step mode from here");
  if (c->tick || c->in) return fail(c, "left with an active clock");
  c->phase = StepMode;
  return fmi3OK;
}
EXPORT fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean* again, fmi3Boolean* terminate,
                                           fmi3Boolean* nominals, fmi3Boolean* states, fmi3Boolean* known,
                                           fmi3Float64* next) {
  Component* c = instance;
  if (c->phase != EventMode) return fail(c, "an update outside of event mode");
  ++c->updates;
  if (c->tick) {
    c->tick_time = c->time;
    if (c->mode == ZeroCountdown) c->interval = c->ticks < 3 ? 0.0 : 0.2;
    if (c->mode == ZeroCountdown && c->ticks < 4) c->changed = true;
  }
  if (c->in) {
    ++c->heard;
    c->last = c->received;
    c->heard_time = c->time;
    c->changed = true; /* a countdown begins anew */
  }
  if (c->mode == StartsCountdown && c->found == 1) {
    c->interval = 0.2;
    c->changed = true;
    c->found = 2;
  }
  c->tick = c->in = c->out = false;
  c->read = c->u_set = 0;
  *again = c->mode == UpdatesForever && c->ticks > 2;
  *terminate = c->mode == StopsAtEvent && c->found;
  *nominals = *states = false;
  *known = c->mode == AnnouncesEvent && c->time < 0.33;
  *next = 0.33;
  if (c->mode == AnnouncesEvent && c->time >= 0.33 && !c->found) c->found = 1;
  return fmi3OK;
}

EXPORT fmi3Status fmi3SetClock(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                               const fmi3Clock values[]) {
  Component* c = instance;
  if (c->phase != EventMode) return fail(c, "a clock outside of event mode");
  if (c->mode == SetAfterGet && c->read) return fail(c, "set after get");
  for (size_t i = 0; i < count; ++i) {
    if (references[i] == Tick) {
      if (values[i] && !c->tick) ++c->ticks;
      c->tick = values[i];
      c->out = c->out || (c->tick && c->mode != FindsEvent);
    } else if (references[i] == In) {
      c->in = values[i];
    } else {
      return fail(c, "no input clock");
    }
  }
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                               fmi3Clock values[]) {
  Component* c = instance;
  if (c->phase != EventMode) return fail(c, "a clock outside of event mode");
  if (c->scheduled) {
    if (!c->updating) return fail(c, "a clock outside of its update");
    values[0] = c->partition_out;
    c->partition_out = false;
    return count == 1 && references[0] == Out ? fmi3OK : fail(c, "no output clock");
  }
  for (size_t i = 0; i < count; ++i) {
    if (references[i] != Out) return fail(c, "no output clock");
    values[i] = c->out || (c->mode == AnnouncesEvent && c->time >= 0.33 && !c->found);
  }
  return fmi3OK;
}
/* Of countdowns, in scheduled execution, inside the clock update only; the other kinds are not used there. */
static bool interval_allowed(const Component* c) {
  return c->phase == Initializing || (c->phase == EventMode && (!c->scheduled || c->updating));
}
EXPORT fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                         fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[]) {
  Component* c = instance;
  if (!interval_allowed(c) || count != 1 || references[0] != Tick) return fail(c, "no interval here");
  intervals[0] = c->interval;
  qualifiers[0] = c->changed ? fmi3IntervalChanged : fmi3IntervalUnchanged;
  c->changed = false;
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetIntervalFraction(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                          fmi3UInt64 counters[], fmi3UInt64 resolutions[],
                                          fmi3IntervalQualifier qualifiers[]) {
  Component* c = instance;
  fmi3Float64 seconds = 0.0;
  const fmi3Status status = fmi3GetIntervalDecimal(instance, references, count, &seconds, qualifiers);
  counters[0] = (fmi3UInt64)llround(seconds * 300.0);
  resolutions[0] = c->interval < 0.0 ? 0 : 300;
  return status;
}
EXPORT fmi3Status fmi3GetShiftDecimal(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                      fmi3Float64 shifts[]) {
  Component* c = instance;
  if (c->phase != Initializing || count != 1 || references[0] != Tick) return fail(c, "no shift here");
  shifts[0] = c->shift;
  return fmi3OK;
}

EXPORT fmi3Status fmi3GetShiftFraction(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                       fmi3UInt64 counters[], fmi3UInt64 resolutions[]) {
  fmi3Float64 seconds = 0.0;
  const fmi3Status status = fmi3GetShiftDecimal(instance, references, count, &seconds);
  counters[0] = (fmi3UInt64)llround(seconds * 300.0);
  resolutions[0] = 300;
  return status;
}

EXPORT fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                 const fmi3Float64 values[], size_t number) {
  Component* c = instance;
  (void)number;
  note_set(c);
  for (size_t i = 0; i < count; ++i) {
    switch (references[i]) {
      case Interval:
        c->interval = values[i];
        c->changed = true;
        break;
      case Shift: c->shift = values[i]; break;
      case X: c->x = values[i]; break;
      case U:
        if (c->phase == EventMode && !c->tick && !c->scheduled) return fail(c, "u without its clock");
        if (c->phase == StepMode) return fail(c, "u outside of event mode");
        c->u = values[i];
        c->u_set = 1;
        break;
      default: return fail(c, "no such input");
    }
  }
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                 fmi3Float64 values[], size_t number) {
  Component* c = instance;
  (void)number;
  if (reads_too_early(c)) return fail(c, "values are read behind others that were set, without a partition between");
  for (size_t i = 0; i < count; ++i) {
    switch (references[i]) {
      case Interval: values[i] = c->interval; break;
      case Shift: values[i] = c->shift; break;
      case TickTime: values[i] = c->tick_time; break;
      case HeardTime: values[i] = c->heard_time; break;
      case Z: values[i] = c->x + 10.0 * c->ticks; break;
      case Y:
        if (c->scheduled) {
          values[i] = c->y;
          break;
        }
        if (!c->tick) return fail(c, "y without its clock");
        if (c->mode == NeedsInput && !c->u_set) return fail(c, "y was asked for before u was set");
        values[i] = 2.0 * c->u;
        break;
      default: return fail(c, "no such output");
    }
  }
  return fmi3OK;
}
EXPORT fmi3Status fmi3SetInt32(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                               const fmi3Int32 values[], size_t number) {
  Component* c = instance;
  (void)number;
  note_set(c);
  for (size_t i = 0; i < count; ++i) {
    if (references[i] == Mode) {
      c->mode = values[i];
    } else if (references[i] == Received) {
      if (c->phase == EventMode && !c->in && !c->scheduled) return fail(c, "a value without its clock");
      if (c->phase == StepMode) return fail(c, "a value outside of event mode");
      if (c->mode == SetAfterGet && c->read) return fail(c, "set after get");
      c->received = values[i];
    } else {
      return fail(c, "no such input");
    }
  }
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetInt32(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                               fmi3Int32 values[], size_t number) {
  Component* c = instance;
  (void)number;
  if (reads_too_early(c)) return fail(c, "values are read behind others that were set, without a partition between");
  for (size_t i = 0; i < count; ++i) {
    switch (references[i]) {
      case Mode: values[i] = c->mode; break;
      case Ticks: values[i] = c->ticks; break;
      case Heard: values[i] = c->heard; break;
      case Last: values[i] = c->last; break;
      case Updates: values[i] = c->updates; break;
      case Value:
        if (c->phase != EventMode) return fail(c, "a value outside of event mode");
        c->read = 1;
        values[i] = c->ticks;
        break;
      default: return fail(c, "no such output");
    }
  }
  return fmi3OK;
}

SAVED_AS_COPY
/* What belongs to the process stays. */
EXPORT fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState state) {
  Component* c = instance;
  const Component here = *c;
  memcpy(c, state, sizeof(Component));
  c->environment = here.environment;
  c->log = here.log;
  c->update = here.update;
  c->clock_update = here.clock_update;
  return fmi3OK;
}
EXPORT fmi3Status fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState state, size_t* size) {
  (void)instance, (void)state;
  *size = sizeof(Component);
  return fmi3OK;
}
EXPORT fmi3Status fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[], size_t size) {
  (void)instance;
  memcpy(bytes, state, size);
  return fmi3OK;
}
EXPORT fmi3Status fmi3DeserializeFMUState(fmi3Instance instance, const fmi3Byte bytes[], size_t size,
                                          fmi3FMUState* state) {
  const fmi3Status status = fmi3GetFMUState(instance, state);
  memcpy(*state, bytes, size);
  return status;
}

static double event_inside(const Component* c) {
  if (c->mode == FindsEvent) return 0.25;
  if (c->mode == FindsEventBetween) return 0.33;
  return c->mode == FindsEventLater || c->mode == StartsCountdown || c->mode == StopsAtEvent ? 0.35 : INFINITY;
}
/* With an intermediate update it asks every 0.05 s whether to go on, as far as it finds no event itself. */
static double ended_from_outside(const Component* c, double from, double end) {
  const double own = c->found ? INFINITY : event_inside(c);
  if (c->update == NULL) return end;
  for (int k = (int)floor(from / 0.05 + 1e-9) + 1; 0.05 * k < end - 1e-12 && 0.05 * k < own; ++k) {
    fmi3Boolean stop = false;
    fmi3Float64 at = 0.0;
    c->update(c->environment, 0.05 * k, false, false, true, true, &stop, &at);
    if (stop) return 0.05 * k;
  }
  return end;
}
EXPORT fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 from, fmi3Float64 size, fmi3Boolean no_going_back,
                             fmi3Boolean* event, fmi3Boolean* terminate, fmi3Boolean* early, fmi3Float64* last) {
  Component* c = instance;
  (void)no_going_back;
  if (c->phase != StepMode) return fail(c, "a step outside of step mode");
  if (!c->found && fabs(from - c->time) > 1e-12) return fail(c, "a step from another time");
  *event = *terminate = *early = false;
  double end = ended_from_outside(c, from, from + size);
  *early = end < from + size;
  const double inside = event_inside(c);
  if (!c->found && inside <= end) {
    c->found = 1;
    *event = true;
    *early = inside < end;
    end = inside;
    c->out = true;
  } else if (c->mode == ReturnsEarly && size > 0.06) {
    *early = true;
    end = from + 0.5 * size;
  } else if (c->mode == EventAtStepEnd && !c->found && end >= 0.5) {
    c->found = 1;
    *event = c->out = true;
  } else if (c->mode == AnnouncesEvent && !c->found && end > 0.33 + 1e-12) {
    return fail(c, "a step past an announced event");
  }
  c->time = *last = end;
  return fmi3OK;
}
