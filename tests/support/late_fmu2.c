/* late_fmu.h by FMI 2.0, for co-simulation and for model exchange. */
#include "late_fmu.h"

#include "idle_fmi2.h"

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions* functions, fmi2Boolean visible, fmi2Boolean logging) {
  (void)name, (void)resources, (void)functions, (void)visible, (void)logging;
  Component* c = made_of(guid);
  c->events = type == fmi2ModelExchange;
  return c;
}
FREED_AT_ONCE
ANY_EXPERIMENT
IDLE(fmi2Terminate)
EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
  enter(c, Initializing);
  return fmi2OK;
}
EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
  enter(c, ((Component*)c)->events ? Events : Steps);
  return fmi2OK;
}
EXPORT fmi2Status fmi2Reset(fmi2Component c) {
  begin_anew(c);
  return fmi2OK;
}
EXPORT fmi2Status fmi2DoStep(fmi2Component c, fmi2Real from, fmi2Real h, fmi2Boolean no_set) {
  (void)from, (void)no_set;
  advance(c, h);
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[]) {
  for (size_t i = 0; i < n; ++i) {
    if (!get(c, vr[i], &value[i])) return fmi2Error;
  }
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real value[]) {
  for (size_t i = 0; i < n; ++i) set(c, vr[i], value[i]);
  return fmi2OK;
}
EXPORT fmi2Status fmi2EnterEventMode(fmi2Component c) {
  enter(c, Events);
  return fmi2OK;
}
EXPORT fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
  enter(c, ContinuousTime);
  return fmi2OK;
}
EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo* info) {
  memset(info, 0, sizeof(*info));
  ((Component*)c)->updated = 1;
  return fmi2OK;
}
EXPORT fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean final, fmi2Boolean* event,
                                              fmi2Boolean* terminate) {
  (void)c, (void) final;
  *event = *terminate = fmi2False;
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time) {
  (void)c, (void)time;
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n) {
  (void)n;
  set(c, StateX, x[0]);
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n) {
  (void)n;
  return get(c, StateX, x) ? fmi2OK : fmi2Error;
}
EXPORT fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x[], size_t n) {
  (void)c, (void)n;
  x[0] = 1.0;
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real dx[], size_t n) {
  (void)n;
  return get(c, SlopeX, dx) ? fmi2OK : fmi2Error;
}
EXPORT fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real z[], size_t n) {
  (void)c, (void)z, (void)n;
  return fmi2OK;
}
