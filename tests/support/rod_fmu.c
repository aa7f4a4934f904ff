/* An FMI 2.0 model-exchange FMU with many states that depend on their neighbours only: a rod of kRodPoints points that
   conducts heat, x_i' = (n + 1)^2 (x_{i-1} - 2 x_i + x_{i+1}), with the temperature u at its left end and 0 at its
   right end. Value references: i the state, 1000 + i its derivative, 2000 the input, 2001 how often it was asked for
   directional derivatives, 2002 how often for derivatives. */
#include <string.h>

#include "idle_fmi2.h"
#include "rod_fmu.h"

typedef struct {
  double x[kRodPoints], u, products, rates;
} Rod;

/* Linear in the temperatures: serves derivatives and directional derivatives alike. */
static double rate(const double* x, double left, size_t i) {
  const double before = i == 0 ? left : x[i - 1];
  const double after = i + 1 == kRodPoints ? 0.0 : x[i + 1];
  return (kRodPoints + 1.0) * (kRodPoints + 1.0) * (before - 2.0 * x[i] + after);
}

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions* callbacks, fmi2Boolean visible, fmi2Boolean logging) {
  (void)name, (void)type, (void)guid, (void)resources, (void)callbacks, (void)visible, (void)logging;
  return calloc(1, sizeof(Rod));
}
FREED_AT_ONCE
ANY_EXPERIMENT
IDLE(fmi2EnterInitializationMode)
IDLE(fmi2ExitInitializationMode)
IDLE(fmi2EnterEventMode)
IDLE(fmi2EnterContinuousTimeMode)
IDLE(fmi2Terminate)

EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo* info) {
  (void)c;
  memset(info, 0, sizeof *info);
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time) {
  (void)c, (void)time;
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t count) {
  memcpy(((Rod*)c)->x, x, count * sizeof *x);
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t count) {
  memcpy(x, ((Rod*)c)->x, count * sizeof *x);
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x[], size_t count) {
  (void)c;
  for (size_t i = 0; i < count; ++i) x[i] = 1.0;
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real dx[], size_t count) {
  Rod* rod = c;
  ++rod->rates;
  for (size_t i = 0; i < count; ++i) dx[i] = rate(rod->x, rod->u, i);
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference references[], size_t count,
                              const fmi2Real values[]) {
  Rod* rod = c;
  for (size_t i = 0; i < count; ++i) *(references[i] < kRodPoints ? &rod->x[references[i]] : &rod->u) = values[i];
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference references[], size_t count, fmi2Real values[]) {
  const Rod* rod = c;
  for (size_t i = 0; i < count; ++i) {
    const fmi2ValueReference r = references[i];
    values[i] = r < 1000    ? rod->x[r]
                : r < 2000  ? rate(rod->x, rod->u, r - 1000)
                : r == 2000 ? rod->u
                : r == 2001 ? rod->products
                            : rod->rates;
  }
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknowns[],
                                               size_t unknown_count, const fmi2ValueReference knowns[],
                                               size_t known_count, const fmi2Real seed[], fmi2Real product[]) {
  Rod direction;
  memset(&direction, 0, sizeof direction);
  ++((Rod*)c)->products;
  fmi2SetReal(&direction, knowns, known_count, seed);
  return fmi2GetReal(&direction, unknowns, unknown_count, product);
}
