/* late_fmu.h by FMI 3.0, for co-simulation, with and without event mode, and for model exchange. */
#include "late_fmu.h"

#include "idle_fmi3.h"

static Component* made(const Instantiation* wish) {
  Component* c = made_of(wish->token);
  c->events = wish->events;
  return c;
}
INSTANTIATED_BY(made)
EXPORT fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                                 fmi3Boolean visible, fmi3Boolean logging,
                                                 fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
  (void)name, (void)resources, (void)visible, (void)logging, (void)environment, (void)log;
  Component* c = made_of(token);
  c->events = 1;
  return c;
}
FREED_AT_ONCE
IDLE(fmi3Terminate)
static void begin(Component* c, double start) {
  (void)start;
  enter(c, Initializing);
}
INITIALIZED_BY(begin)
EXPORT fmi3Status fmi3ExitInitializationMode(fmi3Instance c) {
  enter(c, ((Component*)c)->events ? Events : Steps);
  return fmi3OK;
}
EXPORT fmi3Status fmi3Reset(fmi3Instance c) {
  begin_anew(c);
  return fmi3OK;
}
EXPORT fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t count, const fmi3String names[]) {
  (void)c, (void)on, (void)count, (void)names;
  return fmi3OK;
}
EXPORT fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 from, fmi3Float64 h, fmi3Boolean no_set, fmi3Boolean* event,
                             fmi3Boolean* terminate, fmi3Boolean* early, fmi3Float64* last) {
  (void)no_set;
  if (((Component*)c)->phase != Steps) return fmi3Error;
  advance(c, h);
  *event = *terminate = *early = fmi3False;
  *last = from + h;
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Float64 value[],
                                 size_t values) {
  (void)values;
  for (size_t i = 0; i < n; ++i) {
    if (!get(c, vr[i], &value[i])) return fmi3Error;
  }
  return fmi3OK;
}
EXPORT fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Float64 value[],
                                 size_t values) {
  (void)values;
  for (size_t i = 0; i < n; ++i) set(c, vr[i], value[i]);
  return fmi3OK;
}
static fmi3Status change_mode(Component* c, enum LatePhase from, enum LatePhase to) {
  if (c->phase != from) return fmi3Error;
  enter(c, to);
  return fmi3OK;
}
EXPORT fmi3Status fmi3EnterEventMode(fmi3Instance c) {
  return ((Component*)c)->phase == Events ? fmi3Error : change_mode(c, ((Component*)c)->phase, Events);
}
EXPORT fmi3Status fmi3EnterStepMode(fmi3Instance c) {
  return change_mode(c, Events, Steps);
}
EXPORT fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c) {
  return change_mode(c, Events, ContinuousTime);
}
EXPORT fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean* again, fmi3Boolean* terminate,
                                           fmi3Boolean* nominals, fmi3Boolean* states, fmi3Boolean* known,
                                           fmi3Float64* next) {
  (void)next;
  *again = *terminate = *nominals = *states = *known = fmi3False;
  if (((Component*)c)->phase != Events) return fmi3Error;
  ((Component*)c)->updated = 1;
  return fmi3OK;
}
EXPORT fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean no_set, fmi3Boolean* event,
                                              fmi3Boolean* terminate) {
  (void)c, (void)no_set;
  *event = *terminate = fmi3False;
  return fmi3OK;
}
EXPORT fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 time) {
  (void)c, (void)time;
  return fmi3OK;
}
EXPORT fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 x[], size_t n) {
  (void)n;
  set(c, StateX, x[0]);
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 x[], size_t n) {
  (void)n;
  return get(c, StateX, x) ? fmi3OK : fmi3Error;
}
EXPORT fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 x[], size_t n) {
  (void)c, (void)n;
  x[0] = 1.0;
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 dx[], size_t n) {
  (void)n;
  return get(c, SlopeX, dx) ? fmi3OK : fmi3Error;
}
EXPORT fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 z[], size_t n) {
  (void)c, (void)z, (void)n;
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t* n) {
  (void)c;
  *n = 0;
  return fmi3OK;
}
EXPORT fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t* n) {
  (void)c;
  *n = 1;
  return fmi3OK;
}
