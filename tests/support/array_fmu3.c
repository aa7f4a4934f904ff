/* An FMU of FMI 3 whose states, inputs and outputs are arrays, some of 32 bits: x' = A x + B u, y = C x + D u, for
   co-simulation and model exchange. All it computes is one matrix times what is known. */
#include <stdlib.h>
#include <string.h>

#include "idle_fmi3.h"

/* Value references, in the order of the knowns and of the unknowns. */
enum { kX = 1, kU = 2, kHeld = 3, kSingle = 4, kDerX = 5, kY = 6, kZ = 7 };
enum { kKnowns = 8, kUnknowns = 6, kStates = 3 };

/* x[3], u[2], held[2], single */
static const double kMatrix[kUnknowns][kKnowns] = {
    {-1.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0}, {0.25, -2.0, 0.5, 0.0, 2.0, 0.0, 0.0, 0.0},
    {0.0, 0.5, -3.0, 0.5, 0.0, 0.0, 0.0, 1.0},                                            /* der x */
    {1.0, 0.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.0},  {0.0, 1.0, -1.0, 0.0, 0.0, 0.0, 1.0, 0.0}, /* y */
    {0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0}                                              /* z */
};

typedef struct {
  double known[kKnowns];
  int continuous; /* model exchange between events: discrete inputs may not be set */
  int single;     /* its states are of 32 bits: an FMU of its own, chosen by the token */
} Component;

typedef struct {
  size_t first, count;
} Range;

static Range known_range(fmi3ValueReference vr) {
  switch (vr) {
    case kX: return (Range){0, 3};
    case kU: return (Range){3, 2};
    case kHeld: return (Range){5, 2};
    case kSingle: return (Range){7, 1};
    default: return (Range){0, 0};
  }
}
static Range unknown_range(fmi3ValueReference vr) {
  switch (vr) {
    case kDerX: return (Range){0, 3};
    case kY: return (Range){3, 2};
    case kZ: return (Range){5, 1};
    default: return (Range){0, 0};
  }
}
static double unknown(const double* known, size_t row) {
  double sum = 0.0;
  for (size_t j = 0; j < kKnowns; ++j) sum += kMatrix[row][j] * known[j];
  return sum;
}

static Component* make(fmi3String token) {
  Component* c = calloc(1, sizeof(Component));
  c->single = strcmp(token, "array32") == 0;
  for (size_t i = 0; i < kStates; ++i) c->known[i] = (double)i + 1.0; /* as in the description */
  return c;
}
static Component* made(const Instantiation* wish) {
  return make(wish->token);
}
INSTANTIATED_BY(made)
EXPORT fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                                 fmi3Boolean visible, fmi3Boolean logging,
                                                 fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
  (void)name, (void)resources, (void)visible, (void)logging, (void)environment, (void)log;
  return make(token);
}
FREED_AT_ONCE
static void initialize(Component* c, double start) {
  (void)c, (void)start;
}
INITIALIZED_BY(initialize)
IDLE(fmi3ExitInitializationMode)
IDLE(fmi3Terminate)
EXPORT fmi3Status fmi3EnterEventMode(fmi3Instance instance) {
  ((Component*)instance)->continuous = 0;
  return fmi3OK;
}
NOTHING_TO_UPDATE
EXPORT fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance instance) {
  ((Component*)instance)->continuous = 1;
  return fmi3OK;
}
EXPORT fmi3Status fmi3SetTime(fmi3Instance instance, fmi3Float64 time) {
  (void)instance, (void)time;
  return fmi3OK;
}
EXPORT fmi3Status fmi3SetContinuousStates(fmi3Instance instance, const fmi3Float64 x[], size_t n) {
  Component* c = instance;
  for (size_t i = 0; i < n; ++i) c->known[i] = c->single ? (float)x[i] : x[i];
  return n == kStates ? fmi3OK : fmi3Error;
}
EXPORT fmi3Status fmi3GetContinuousStates(fmi3Instance instance, fmi3Float64 x[], size_t n) {
  memcpy(x, ((Component*)instance)->known, n * sizeof(double));
  return n == kStates ? fmi3OK : fmi3Error;
}
EXPORT fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance instance, fmi3Float64 nominals[], size_t n) {
  (void)instance;
  for (size_t i = 0; i < n; ++i) nominals[i] = 1.0;
  return n == kStates ? fmi3OK : fmi3Error;
}
EXPORT fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance instance, fmi3Float64 dx[], size_t n) {
  for (size_t i = 0; i < n; ++i) dx[i] = unknown(((Component*)instance)->known, i);
  return n == kStates ? fmi3OK : fmi3Error;
}
EXPORT fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance instance, size_t* count) {
  (void)instance;
  *count = 0;
  return fmi3OK;
}

/* Explicit steps of the classical fourth order, a thousand of them. */
EXPORT fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 from, fmi3Float64 size, fmi3Boolean no_set,
                             fmi3Boolean* event, fmi3Boolean* terminate, fmi3Boolean* early, fmi3Float64* last) {
  enum { kParts = 1000 };
  static const double kShare[4] = {0.0, 0.5, 0.5, 1.0};
  Component* c = instance;
  const double h = size / kParts;
  (void)no_set;
  for (int part = 0; part < kParts; ++part) {
    double slope[4][kStates] = {{0.0}};
    for (int stage = 0; stage < 4; ++stage) {
      double at[kKnowns];
      memcpy(at, c->known, sizeof at);
      for (size_t i = 0; i < kStates; ++i) at[i] += stage == 0 ? 0.0 : h * kShare[stage] * slope[stage - 1][i];
      for (size_t i = 0; i < kStates; ++i) slope[stage][i] = unknown(at, i);
    }
    for (size_t i = 0; i < kStates; ++i) {
      c->known[i] += h / 6.0 * (slope[0][i] + 2.0 * slope[1][i] + 2.0 * slope[2][i] + slope[3][i]);
    }
  }
  *event = *terminate = *early = fmi3False;
  *last = from + size;
  return fmi3OK;
}

EXPORT fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                 const fmi3Float64 values[], size_t count) {
  Component* c = instance;
  size_t taken = 0;
  for (size_t i = 0; i < n; ++i) {
    const Range to = known_range(vr[i]);
    if (to.count == 0 || vr[i] == kSingle || (vr[i] == kHeld && c->continuous)) return fmi3Error;
    if (vr[i] == kX && c->single) return fmi3Error;
    memcpy(c->known + to.first, values + taken, to.count * sizeof(double));
    taken += to.count;
  }
  return taken == count ? fmi3OK : fmi3Error;
}
EXPORT fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Float64 values[],
                                 size_t count) {
  const Component* c = instance;
  size_t given = 0;
  for (size_t i = 0; i < n; ++i) {
    const Range known = known_range(vr[i]);
    const Range asked = unknown_range(vr[i]);
    if (vr[i] == kSingle || vr[i] == kZ || known.count + asked.count == 0) return fmi3Error;
    if ((vr[i] == kX || vr[i] == kDerX) && c->single) return fmi3Error;
    for (size_t k = 0; k < known.count; ++k) values[given++] = c->known[known.first + k];
    for (size_t k = 0; k < asked.count; ++k) values[given++] = unknown(c->known, asked.first + k);
  }
  return given == count ? fmi3OK : fmi3Error;
}
EXPORT fmi3Status fmi3SetFloat32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n,
                                 const fmi3Float32 values[], size_t count) {
  size_t taken = 0;
  for (size_t i = 0; i < n; ++i) {
    const Range to = known_range(vr[i]);
    if (vr[i] != kSingle && vr[i] != kX) return fmi3Error;
    for (size_t k = 0; k < to.count; ++k) ((Component*)instance)->known[to.first + k] = values[taken++];
  }
  return taken == count ? fmi3OK : fmi3Error;
}
EXPORT fmi3Status fmi3GetFloat32(fmi3Instance instance, const fmi3ValueReference vr[], size_t n, fmi3Float32 values[],
                                 size_t count) {
  const Component* c = instance;
  size_t given = 0;
  for (size_t i = 0; i < n; ++i) {
    const Range known = known_range(vr[i]);
    const Range asked = unknown_range(vr[i]);
    if (vr[i] != kSingle && vr[i] != kZ && vr[i] != kX && vr[i] != kDerX) return fmi3Error;
    for (size_t k = 0; k < known.count; ++k) values[given++] = (float)c->known[known.first + k];
    for (size_t k = 0; k < asked.count; ++k) values[given++] = (float)unknown(c->known, asked.first + k);
  }
  return given == count ? fmi3OK : fmi3Error;
}

EXPORT fmi3Status fmi3GetDirectionalDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[], size_t n,
                                               const fmi3ValueReference knowns[], size_t m, const fmi3Float64 seed[],
                                               size_t seeds, fmi3Float64 sensitivity[], size_t sensitivities) {
  double direction[kKnowns] = {0.0};
  size_t taken = 0;
  size_t given = 0;
  (void)instance;
  for (size_t j = 0; j < m; ++j) {
    const Range of = known_range(knowns[j]);
    for (size_t k = 0; k < of.count && taken < seeds; ++k) direction[of.first + k] = seed[taken++];
  }
  for (size_t i = 0; i < n; ++i) {
    const Range of = unknown_range(unknowns[i]);
    for (size_t k = 0; k < of.count && given < sensitivities; ++k)
      sensitivity[given++] = unknown(direction, of.first + k);
  }
  return taken == seeds && given == sensitivities ? fmi3OK : fmi3Error;
}
EXPORT fmi3Status fmi3GetAdjointDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[], size_t n,
                                           const fmi3ValueReference knowns[], size_t m, const fmi3Float64 seed[],
                                           size_t seeds, fmi3Float64 sensitivity[], size_t sensitivities) {
  double row[kKnowns] = {0.0};
  size_t taken = 0;
  size_t given = 0;
  (void)instance;
  for (size_t i = 0; i < n; ++i) {
    const Range of = unknown_range(unknowns[i]);
    for (size_t k = 0; k < of.count && taken < seeds; ++k, ++taken)
      for (size_t j = 0; j < kKnowns; ++j) row[j] += seed[taken] * kMatrix[of.first + k][j];
  }
  for (size_t j = 0; j < m; ++j) {
    const Range of = known_range(knowns[j]);
    for (size_t k = 0; k < of.count && given < sensitivities; ++k) sensitivity[given++] = row[of.first + k];
  }
  return taken == seeds && given == sensitivities ? fmi3OK : fmi3Error;
}
