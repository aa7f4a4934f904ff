/* An FMU of FMI 3 with inputs and outputs of all types. Each output is what its input was at the end of the last step,
   in initialization mode what it is. In event mode it takes discrete inputs and tunable parameters there only. */
#include <stdlib.h>
#include <string.h>

#include "idle_fmi3.h"

enum { kTypes = 10, kMost = 64, kMatrix = 6 };
/* Value references: input 10 + type, output 30 + type, in the order below. */
enum { kFloat32, kInt8, kUInt8, kInt16, kUInt16, kInt32, kUInt32, kInt64, kUInt64, kBoolean };
enum {
  kSize = 1, /* structural parameter */
  kGain = 2, /* tunable */
  kX = 3,    /* y = gain * x */
  kY = 4,
  kMatrixIn = 5, /* 2 x 3 */
  kMatrixOut = 6,
  kVectorIn = 7, /* of length kSize */
  kVectorOut = 8,
  kCalls = 9, /* how often Float64 values were set in steps */
  kTextIn = 50,
  kTextOut = 51,
  kBytesIn = 52,
  kBytesOut = 53,
  kEnumIn = 54,
  kEnumOut = 55,
  kPairIn = 56, /* two Int32 */
  kPairOut = 57
};
enum Phase { Instantiated, Configuring, Initializing, EventMode, StepMode };

typedef struct {
  double x, matrix[kMatrix], vector[kMost];
  long long number[kTypes]; /* whole numbers, bit by bit */
  float single;
  long long enumeration;
  int pair[2];
  char text[200];
  unsigned char bytes[100000];
  size_t byte_count;
} Values;

typedef struct {
  fmi3InstanceEnvironment environment;
  fmi3LogMessageCallback log;
  Values in, out;
  double gain;
  unsigned long long size;
  int phase, events_used, calls, logs_all;
} Component;

FAILS_WITH_A_WORD

static Values* outputs(Component* c) {
  return c->phase == Initializing ? &c->in : &c->out;
}

static int discrete_allowed(const Component* c) {
  return c->phase != StepMode || !c->events_used;
}

static Component* made(const Instantiation* wish) {
  Component* c = calloc(1, sizeof(Component));
  c->environment = wish->environment;
  c->log = wish->log;
  c->events_used = wish->events;
  c->gain = 1.0;
  c->size = 2;
  for (int i = 0; i < kMatrix; ++i) c->in.matrix[i] = i + 1.0; /* as in the description */
  c->in.pair[0] = 7;
  c->in.pair[1] = 8;
  return c;
}
INSTANTIATED_BY(made)
FREED_AT_ONCE
EXPORT fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean on, size_t count,
                                      const fmi3String categories[]) {
  Component* c = instance;
  c->logs_all = 0;
  for (size_t i = 0; i < count; ++i) c->logs_all |= on && strcmp(categories[i], "logAll") == 0;
  return fmi3OK;
}
EXPORT fmi3Status fmi3EnterConfigurationMode(fmi3Instance instance) {
  Component* c = instance;
  if (c->phase != Instantiated) return fail(c, "configuration mode entered too late");
  c->phase = Configuring;
  return fmi3OK;
}
EXPORT fmi3Status fmi3ExitConfigurationMode(fmi3Instance instance) {
  ((Component*)instance)->phase = Instantiated;
  return fmi3OK;
}
static void initialize(Component* c, double start) {
  (void)start;
  c->phase = Initializing;
  if (c->logs_all) c->log(c->environment, fmi3OK, "logAll", "initializing at 100%n");
}
INITIALIZED_BY(initialize)
EXPORT fmi3Status fmi3ExitInitializationMode(fmi3Instance instance) {
  Component* c = instance;
  c->out = c->in;
  c->phase = c->events_used ? EventMode : StepMode;
  return fmi3OK;
}
IDLE(fmi3Terminate)
EXPORT fmi3Status fmi3EnterEventMode(fmi3Instance instance) {
  ((Component*)instance)->phase = EventMode;
  return fmi3OK;
}
NOTHING_TO_UPDATE
EXPORT fmi3Status fmi3EnterStepMode(fmi3Instance instance) {
  ((Component*)instance)->phase = StepMode;
  return fmi3OK;
}
EXPORT fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 from, fmi3Float64 size, fmi3Boolean no_set,
                             fmi3Boolean* event, fmi3Boolean* terminate, fmi3Boolean* early, fmi3Float64* last) {
  Component* c = instance;
  (void)no_set;
  if (c->phase != StepMode) return fail(c, "a step outside step mode");
  c->out = c->in;
  *event = *terminate = *early = fmi3False;
  *last = from + size;
  return fmi3OK;
}

EXPORT fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                 const fmi3Float64 values[], size_t count) {
  Component* c = instance;
  const double* next = values;
  if (c->phase == StepMode) ++c->calls;
  for (size_t i = 0; i < n; ++i) {
    if (vr[i] == kGain && !discrete_allowed(c)) return fail(c, "a parameter set in step mode");
    double* to = vr[i] == kX ? &c->in.x : vr[i] == kGain ? &c->gain : vr[i] == kMatrixIn ? c->in.matrix : c->in.vector;
    const size_t length = vr[i] == kMatrixIn ? kMatrix : vr[i] == kVectorIn ? c->size : 1;
    if (next + length > values + count) return fail(c, "too few values");
    memcpy(to, next, length * sizeof(double));
    next += length;
  }
  return next == values + count ? fmi3OK : fail(c, "too many values");
}
EXPORT fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Float64 values[],
                                 size_t count) {
  Component* c = instance;
  const Values* out = outputs(c);
  double* next = values;
  for (size_t i = 0; i < n; ++i) {
    const double y = c->gain * out->x;
    const int is_matrix = vr[i] == kMatrixOut || vr[i] == kMatrixIn;
    const int is_vector = vr[i] == kVectorOut || vr[i] == kVectorIn;
    const Values* of = vr[i] == kMatrixIn || vr[i] == kVectorIn ? &c->in : out;
    const double* from = vr[i] == kY      ? &y
                         : vr[i] == kX    ? &c->in.x
                         : vr[i] == kGain ? &c->gain
                         : is_matrix      ? of->matrix
                                          : of->vector;
    const size_t length = is_matrix ? kMatrix : is_vector ? c->size : 1;
    if (next + length > values + count) return fail(c, "too few values");
    memcpy(next, from, length * sizeof(double));
    next += length;
  }
  return next == values + count ? fmi3OK : fail(c, "too many values");
}
EXPORT fmi3Status fmi3SetFloat32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                 const fmi3Float32 values[], size_t count) {
  (void)vr, (void)n, (void)count;
  ((Component*)instance)->in.single = values[0];
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetFloat32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Float32 values[],
                                 size_t count) {
  (void)vr, (void)n, (void)count;
  values[0] = outputs(instance)->single;
  return fmi3OK;
}

#define NUMBER(Name, kind)                                                                                             \
  EXPORT fmi3Status fmi3Set##Name(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,                      \
                                  const fmi3##Name values[], size_t count) {                                           \
    Component* c = instance;                                                                                           \
    (void)vr, (void)n, (void)count;                                                                                    \
    if (!discrete_allowed(c)) return fail(c, "a discrete input set in step mode");                                     \
    c->in.number[kind] = (long long)values[0];                                                                         \
    return fmi3OK;                                                                                                     \
  }                                                                                                                    \
  EXPORT fmi3Status fmi3Get##Name(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3##Name values[], \
                                  size_t count) {                                                                      \
    (void)vr, (void)n, (void)count;                                                                                    \
    values[0] = (fmi3##Name)outputs(instance)->number[kind];                                                           \
    return fmi3OK;                                                                                                     \
  }
NUMBER(Int8, kInt8)
NUMBER(UInt8, kUInt8)
NUMBER(Int16, kInt16)
NUMBER(UInt16, kUInt16)
NUMBER(UInt32, kUInt32)
NUMBER(Boolean, kBoolean)

EXPORT fmi3Status fmi3SetInt32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const fmi3Int32 values[],
                               size_t count) {
  Component* c = instance;
  (void)n;
  if (!discrete_allowed(c)) return fail(c, "a discrete input set in step mode");
  if (vr[0] == kPairIn) {
    if (count != 2) return fail(c, "a pair has two numbers");
    memcpy(c->in.pair, values, sizeof c->in.pair);
  } else {
    c->in.number[kInt32] = values[0];
  }
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetInt32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Int32 values[],
                               size_t count) {
  Component* c = instance;
  (void)n, (void)count;
  if (vr[0] == kCalls) {
    values[0] = c->calls;
  } else if (vr[0] == kPairOut || vr[0] == kPairIn) {
    memcpy(values, outputs(c)->pair, sizeof c->out.pair);
  } else {
    values[0] = (fmi3Int32)outputs(c)->number[kInt32];
  }
  return fmi3OK;
}
EXPORT fmi3Status fmi3SetInt64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const fmi3Int64 values[],
                               size_t count) {
  Component* c = instance;
  (void)n, (void)count;
  if (!discrete_allowed(c)) return fail(c, "a discrete input set in step mode");
  *(vr[0] == kEnumIn ? &c->in.enumeration : &c->in.number[kInt64]) = values[0];
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetInt64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Int64 values[],
                               size_t count) {
  (void)n, (void)count;
  const Values* out = outputs(instance);
  values[0] = vr[0] == kEnumOut || vr[0] == kEnumIn ? out->enumeration : out->number[kInt64];
  return fmi3OK;
}
EXPORT fmi3Status fmi3SetUInt64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                const fmi3UInt64 values[], size_t count) {
  Component* c = instance;
  (void)n, (void)count;
  if (vr[0] == kSize) {
    if (c->phase != Configuring) return fail(c, "a structural parameter set outside configuration mode");
    if (values[0] > kMost) return fail(c, "too long");
    c->size = values[0];
  } else {
    if (!discrete_allowed(c)) return fail(c, "a discrete input set in step mode");
    c->in.number[kUInt64] = (long long)values[0];
  }
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetUInt64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3UInt64 values[],
                                size_t count) {
  const Component* c = instance;
  (void)n, (void)count;
  values[0] = vr[0] == kSize ? c->size : (fmi3UInt64)outputs(instance)->number[kUInt64];
  return fmi3OK;
}
EXPORT fmi3Status fmi3SetString(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                const fmi3String values[], size_t count) {
  Component* c = instance;
  (void)vr, (void)n, (void)count;
  if (!discrete_allowed(c)) return fail(c, "a discrete input set in step mode");
  strncpy(c->in.text, values[0], sizeof c->in.text - 1);
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetString(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3String values[],
                                size_t count) {
  (void)vr, (void)n, (void)count;
  values[0] = outputs(instance)->text;
  return fmi3OK;
}
EXPORT fmi3Status fmi3SetBinary(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, const size_t sizes[],
                                const fmi3Binary values[], size_t count) {
  Component* c = instance;
  (void)vr, (void)n, (void)count;
  if (!discrete_allowed(c) || sizes[0] > sizeof c->in.bytes) return fail(c, "bytes refused");
  c->in.byte_count = sizes[0];
  if (sizes[0] > 0) memcpy(c->in.bytes, values[0], sizes[0]);
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetBinary(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, size_t sizes[],
                                fmi3Binary values[], size_t count) {
  (void)vr, (void)n, (void)count;
  sizes[0] = outputs(instance)->byte_count;
  values[0] = outputs(instance)->bytes;
  return fmi3OK;
}
