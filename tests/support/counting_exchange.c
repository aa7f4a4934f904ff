/* An FMI 2.0 model-exchange FMU: x' = 1 from 0; 'count' grows by 1 where x reaches 0.3, 0.6, ... (a state event), and
   'copy' becomes 'in' in event mode. A call of event mode elsewhere is an error. */
#include <string.h>

#include "idle_fmi2.h"

typedef struct {
  double t, x;
  int count, in, copy, event_mode;
} Component;

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions* functions, fmi2Boolean visible, fmi2Boolean logging) {
  (void)name, (void)type, (void)guid, (void)resources, (void)functions, (void)visible, (void)logging;
  return calloc(1, sizeof(Component));
}
FREED_AT_ONCE
ANY_EXPERIMENT
IDLE(fmi2EnterInitializationMode)
IDLE(fmi2Terminate)
EXPORT fmi2Status fmi2Reset(fmi2Component component) {
  memset(component, 0, sizeof(Component));
  return fmi2OK;
}
EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component component) {
  ((Component*)component)->event_mode = 1;
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t count, const fmi2String names[]) {
  (void)c, (void)on, (void)count, (void)names;
  return fmi2OK;
}
EXPORT fmi2Status fmi2EnterEventMode(fmi2Component component) {
  Component* c = component;
  if (c->event_mode) return fmi2Error;
  c->event_mode = 1;
  return fmi2OK;
}
EXPORT fmi2Status fmi2EnterContinuousTimeMode(fmi2Component component) {
  ((Component*)component)->event_mode = 0;
  return fmi2OK;
}
static double threshold(const Component* c) {
  return 0.3 * (c->count + 1);
}
EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component component, fmi2EventInfo* info) {
  Component* c = component;
  if (!c->event_mode) return fmi2Error;
  memset(info, 0, sizeof(*info));
  if (c->x >= threshold(c) - 1e-9) ++c->count;
  c->copy = c->in;
  return fmi2OK;
}
EXPORT fmi2Status fmi2CompletedIntegratorStep(fmi2Component component, fmi2Boolean final, fmi2Boolean* event,
                                              fmi2Boolean* terminate) {
  (void)component, (void) final;
  *event = *terminate = fmi2False;
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetTime(fmi2Component component, fmi2Real time) {
  ((Component*)component)->t = time;
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetContinuousStates(fmi2Component component, const fmi2Real x[], size_t count) {
  (void)count;
  ((Component*)component)->x = x[0];
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetContinuousStates(fmi2Component component, fmi2Real x[], size_t count) {
  (void)count;
  x[0] = ((Component*)component)->x;
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component component, fmi2Real x[], size_t count) {
  (void)component, (void)count;
  x[0] = 1.0;
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetDerivatives(fmi2Component component, fmi2Real dx[], size_t count) {
  (void)component, (void)count;
  dx[0] = 1.0;
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetEventIndicators(fmi2Component component, fmi2Real z[], size_t count) {
  const Component* c = component;
  (void)count;
  z[0] = c->x - threshold(c);
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference references[], size_t count,
                              fmi2Real values[]) {
  for (size_t i = 0; i < count; ++i) values[i] = references[i] == 0 ? ((Component*)component)->x : 1.0;
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference references[], size_t count,
                              const fmi2Real values[]) {
  (void)references;
  if (count > 0) ((Component*)component)->x = values[0];
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetInteger(fmi2Component component, const fmi2ValueReference references[], size_t count,
                                 fmi2Integer values[]) {
  const Component* c = component;
  for (size_t i = 0; i < count; ++i) values[i] = references[i] == 0 ? c->count : references[i] == 1 ? c->in : c->copy;
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetInteger(fmi2Component component, const fmi2ValueReference references[], size_t count,
                                 const fmi2Integer values[]) {
  (void)references;
  if (count > 0) ((Component*)component)->in = values[0];
  return fmi2OK;
}
