/* A CAN node and a CAN bus for FMI 3.0 co-simulation, by FMI-LS-BUS 1.0 (network abstraction); which of them an
   instance is, its token says. A node transmits one frame of 4 bytes at the time 'at'. The bus has three terminals and
   100 kbit/s: a frame takes 44 + 4 bits, the one with the lowest id goes first, the others wait. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "idle_fmi3.h"

enum { Terminals = 3, Bytes = 4, FrameSize = 8 + 8 + Bytes, Transmit = 0x10, Confirm = 0x20, BaudRate = 100000 };
/* Of terminal k = 1.. : 100 k + these. */
enum Member { RxData, TxData, RxClock, TxClock };
enum Reference { At = 1, Id, Arrivals, Confirmed, LatestId, LatestTime };
enum Phase { Initializing, EventMode, StepMode };

typedef struct {
  unsigned char rx[64], tx[64];
  size_t rx_size, tx_size;
  bool rx_clock, tx_clock;
  int queued; /* id of the frame that waits; 0 = none */
} Port;

typedef struct {
  fmi3InstanceEnvironment environment;
  fmi3LogMessageCallback log;
  int is_bus, phase, evaluated, under_way, sender; /* on the bus: id and terminal of the frame */
  int arrivals, confirmed, latest, id;
  bool changed[Terminals];
  double time, at, latest_time;
  Port ports[Terminals];
} Component;

FAILS_WITH_A_WORD
static void put32(unsigned char* at, unsigned value) {
  for (int i = 0; i < 4; ++i) at[i] = (unsigned char)(value >> (8 * i));
}
static unsigned get32(const unsigned char* at) {
  return at[0] | ((unsigned)at[1] << 8) | ((unsigned)at[2] << 16) | ((unsigned)at[3] << 24);
}
static void put_transmit(Port* port, int id) {
  unsigned char* op = port->tx;
  memset(op, 0, FrameSize);
  put32(op, Transmit);
  put32(op + 4, FrameSize);
  put32(op + 8, (unsigned)id);
  op[14] = Bytes;
  for (int i = 0; i < Bytes; ++i) op[16 + i] = (unsigned char)(id + i);
  port->tx_size = FrameSize;
}
static void put_confirm(Port* port, int id) {
  put32(port->tx, Confirm);
  put32(port->tx + 4, 12);
  put32(port->tx + 8, (unsigned)id);
  port->tx_size = 12;
}

static Component* made(const Instantiation* wish) {
  if (!wish->events) return NULL;
  Component* c = calloc(1, sizeof(Component));
  c->environment = wish->environment;
  c->log = wish->log;
  c->is_bus = strcmp(wish->token, "bus") == 0;
  c->changed[0] = !c->is_bus;
  return c;
}
INSTANTIATED_BY(made)
FREED_AT_ONCE
static void initialize(Component* c, double start) {
  c->time = start;
}
INITIALIZED_BY(initialize)
EXPORT fmi3Status fmi3ExitInitializationMode(fmi3Instance instance) {
  ((Component*)instance)->phase = EventMode;
  return fmi3OK;
}
IDLE(fmi3Terminate)
EXPORT fmi3Status fmi3EnterEventMode(fmi3Instance instance) {
  Component* c = instance;
  if (c->phase != StepMode) return fail(c, "no event mode from here");
  c->phase = EventMode;
  return fmi3OK;
}
EXPORT fmi3Status fmi3EnterStepMode(fmi3Instance instance) {
  ((Component*)instance)->phase = StepMode;
  return fmi3OK;
}

/* What ticks now is put into the buffers; afterwards nothing can be set until the update. */
static void evaluate(Component* c) {
  if (c->evaluated) return;
  c->evaluated = 1;
  if (!c->is_bus) {
    if (c->ports[0].tx_clock) put_transmit(&c->ports[0], c->id);
    return;
  }
  if (!c->ports[0].tx_clock) return;
  for (int k = 0; k < Terminals; ++k) {
    if (k == c->sender) {
      put_confirm(&c->ports[k], c->under_way);
    } else {
      put_transmit(&c->ports[k], c->under_way);
    }
  }
  c->ports[c->sender].queued = 0;
  c->under_way = 0;
}
static void take_frames(Component* c, int k) {
  const Port* port = &c->ports[k];
  if (!port->rx_clock || port->rx_size == 0) return;
  const int id = (int)get32(port->rx + 8);
  if (c->is_bus) {
    c->ports[k].queued = id;
  } else if (get32(port->rx) == Transmit) {
    ++c->arrivals;
    c->latest = id;
    c->latest_time = c->time;
  } else {
    ++c->confirmed;
  }
}
static void arbitrate(Component* c) {
  if (c->under_way) return;
  for (int k = 0; k < Terminals; ++k) {
    const int id = c->ports[k].queued;
    if (id == 0 || (c->under_way && id >= c->under_way)) continue;
    c->under_way = id;
    c->sender = k;
  }
  for (int k = 0; c->under_way && k < Terminals; ++k) c->changed[k] = true;
}
EXPORT fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean* again, fmi3Boolean* terminate,
                                           fmi3Boolean* nominals, fmi3Boolean* states, fmi3Boolean* known,
                                           fmi3Float64* next) {
  Component* c = instance;
  if (c->phase != EventMode) return fail(c, "an update outside of event mode");
  evaluate(c);
  for (int k = 0; k < Terminals; ++k) take_frames(c, k);
  if (c->is_bus) arbitrate(c);
  for (int k = 0; k < Terminals; ++k) {
    c->ports[k].rx_clock = c->ports[k].tx_clock = false;
    c->ports[k].rx_size = c->ports[k].tx_size = 0;
  }
  c->evaluated = 0;
  *again = *terminate = *nominals = *states = *known = false;
  *next = 0.0;
  return fmi3OK;
}

static Port* port_of(Component* c, fmi3ValueReference reference, enum Member member) {
  const unsigned k = reference / 100;
  return k >= 1 && k <= Terminals && reference % 100 == member ? &c->ports[k - 1] : NULL;
}
EXPORT fmi3Status fmi3SetClock(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                               const fmi3Clock values[]) {
  Component* c = instance;
  if (c->phase != EventMode) return fail(c, "a clock outside of event mode");
  if (c->evaluated) return fail(c, "discrete states have already been evaluated");
  for (size_t i = 0; i < count; ++i) {
    Port* port = port_of(c, references[i], RxClock);
    if (port != NULL) {
      port->rx_clock = values[i];
    } else if ((port = port_of(c, references[i], TxClock)) != NULL) {
      port->tx_clock = values[i];
    } else {
      return fail(c, "no clock");
    }
  }
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetIntervalFraction(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                          fmi3UInt64 counters[], fmi3UInt64 resolutions[],
                                          fmi3IntervalQualifier qualifiers[]) {
  Component* c = instance;
  for (size_t i = 0; i < count; ++i) {
    if (port_of(c, references[i], TxClock) == NULL) return fail(c, "no interval");
    bool* changed = &c->changed[references[i] / 100 - 1];
    qualifiers[i] = *changed ? fmi3IntervalChanged : fmi3IntervalNotYetKnown;
    counters[i] = c->is_bus ? 44 + Bytes : (fmi3UInt64)llround(c->at * 1e6);
    resolutions[i] = c->is_bus ? BaudRate : 1000000;
    *changed = false;
  }
  return fmi3OK;
}
EXPORT fmi3Status fmi3SetBinary(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                const size_t sizes[], const fmi3Binary values[], size_t number) {
  Component* c = instance;
  (void)number;
  if (c->phase == StepMode) return fail(c, "bytes outside of event mode");
  if (c->evaluated) return fail(c, "discrete states have already been evaluated");
  for (size_t i = 0; i < count; ++i) {
    Port* port = port_of(c, references[i], RxData);
    if (port == NULL || sizes[i] > sizeof(port->rx)) return fail(c, "no place for these bytes");
    if (c->phase == EventMode && !port->rx_clock) return fail(c, "bytes without their clock");
    if (sizes[i] > 0) memcpy(port->rx, values[i], sizes[i]);
    port->rx_size = sizes[i];
  }
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetBinary(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                size_t sizes[], fmi3Binary values[], size_t number) {
  Component* c = instance;
  (void)number;
  for (size_t i = 0; i < count; ++i) {
    Port* port = port_of(c, references[i], TxData);
    if (port == NULL) return fail(c, "no such bytes");
    evaluate(c);
    values[i] = port->tx;
    sizes[i] = port->tx_size;
  }
  return fmi3OK;
}
EXPORT fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                 const fmi3Float64 values[], size_t number) {
  (void)references, (void)number;
  for (size_t i = 0; i < count; ++i) ((Component*)instance)->at = values[i];
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                 fmi3Float64 values[], size_t number) {
  const Component* c = instance;
  (void)number;
  for (size_t i = 0; i < count; ++i) values[i] = references[i] == At ? c->at : c->latest_time;
  return fmi3OK;
}
EXPORT fmi3Status fmi3SetInt32(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                               const fmi3Int32 values[], size_t number) {
  (void)references, (void)number;
  for (size_t i = 0; i < count; ++i) ((Component*)instance)->id = values[i];
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetInt32(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                               fmi3Int32 values[], size_t number) {
  const Component* c = instance;
  (void)number;
  for (size_t i = 0; i < count; ++i) {
    values[i] = references[i] == Id          ? c->id
                : references[i] == Arrivals  ? c->arrivals
                : references[i] == Confirmed ? c->confirmed
                                             : c->latest;
  }
  return fmi3OK;
}
EXPORT fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 from, fmi3Float64 size, fmi3Boolean no_going_back,
                             fmi3Boolean* event, fmi3Boolean* terminate, fmi3Boolean* early, fmi3Float64* last) {
  Component* c = instance;
  (void)no_going_back;
  if (c->phase != StepMode) return fail(c, "a step outside of step mode");
  *event = *terminate = *early = false;
  c->time = *last = from + size;
  return fmi3OK;
}
