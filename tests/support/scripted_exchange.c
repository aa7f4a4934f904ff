/* An FMI 2.0 model-exchange FMU, x' = 1, y = x, without a function for its state, that does from x = 0.5 on what its
   parameter 'mode' requests. It checks that calls come in the modes where the standard allows them. */
#include <math.h>
#include <string.h>

#include "idle_fmi2.h"
#include "scripted_exchange.h"

enum Phase { Initializing, EventMode, Continuous };

typedef struct {
  fmi2CallbackFunctions callbacks;
  double t, x, memory, held;
  int mode, phase, done;
} Component;

static fmi2Status fail(const Component* c, const char* why) {
  c->callbacks.logger(c->callbacks.componentEnvironment, "scripted", fmi2Error, "logStatusError", "%s", why);
  return fmi2Error;
}
static fmi2Status require(const Component* c, int allowed) {
  return allowed ? fmi2OK : fail(c, "called in the wrong mode");
}
/* From x = 0.5 on. */
static fmi2Status fault(const Component* c) {
  switch (c->mode) {
    case ReturnError: return fail(c, "the boiler burst");
    case ReturnFatal: fail(c, "out of memory"); return fmi2Fatal;
    case LogNothing:
      c->callbacks.logger(c->callbacks.componentEnvironment, NULL, fmi2Error, NULL, NULL);
      c->callbacks.logger(NULL, NULL, fmi2Error, NULL, "without an environment");
      c->callbacks.logger(c->callbacks.componentEnvironment, NULL, fmi2Error, NULL, "\033[2J%n100%");
      return fmi2Error;
    default: take_the_process_along(c->mode); return fmi2OK;
  }
}
static int is_due(const Component* c) {
  return c->x >= 0.5 && !c->done;
}

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions* callbacks, fmi2Boolean visible, fmi2Boolean logging) {
  (void)name, (void)resources, (void)visible, (void)logging;
  if (type != fmi2ModelExchange || strcmp(guid, "scripted") != 0) return NULL;
  Component* c = callbacks->allocateMemory(1, sizeof(Component));
  c->callbacks = *callbacks;
  return c;
}
EXPORT void fmi2FreeInstance(fmi2Component component) {
  Component* c = component;
  c->callbacks.freeMemory(c);
}
EXPORT fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                                      fmi2Boolean has_stop, fmi2Real stop) {
  (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
  ((Component*)c)->t = start;
  return fmi2OK;
}
IDLE(fmi2EnterInitializationMode)
EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
  ((Component*)c)->phase = EventMode;
  return fmi2OK;
}
IDLE(fmi2Terminate)
EXPORT fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n, fmi2Real value[]) {
  const Component* c = component;
  for (size_t i = 0; i < n; ++i) value[i] = vr[i] == 1 ? 1.0 : vr[i] >= 3 ? c->held : c->x;
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n,
                              const fmi2Real value[]) {
  Component* c = component;
  for (size_t i = 0; i < n; ++i) *(vr[i] == 3 ? &c->held : &c->x) = value[i];
  return require(c, c->mode != DiscreteInput || c->phase != Continuous);
}
EXPORT fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer value[]) {
  (void)vr, (void)n;
  ((Component*)c)->mode = value[0];
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetTime(fmi2Component component, fmi2Real t) {
  Component* c = component;
  c->t = t;
  return require(c, c->phase != Initializing);
}
EXPORT fmi2Status fmi2SetContinuousStates(fmi2Component component, const fmi2Real x[], size_t n) {
  Component* c = component;
  (void)n;
  c->x = x[0];
  return require(c, c->phase == Continuous);
}
EXPORT fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n) {
  (void)n;
  x[0] = ((const Component*)c)->x;
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x[], size_t n) {
  (void)c, (void)n;
  x[0] = 1.0;
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetDerivatives(fmi2Component component, fmi2Real dx[], size_t n) {
  Component* c = component;
  (void)n;
  c->memory += 1e-3;
  dx[0] = c->mode == Remembers ? 1.0 + c->memory : 1.0;
  if (c->mode == DiscardExchange && c->x > 0.5) return fmi2Discard;
  if (c->mode == ReturnNan && c->x > 0.5) dx[0] = NAN;
  return c->x > 0.5 ? fault(c) : fmi2OK;
}
EXPORT fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real z[], size_t n) {
  for (size_t i = 0; i < n; ++i) z[i] = 0.5 - ((const Component*)c)->x;
  return fmi2OK;
}
EXPORT fmi2Status fmi2EnterEventMode(fmi2Component component) {
  Component* c = component;
  const fmi2Status status = require(c, c->phase == Continuous);
  c->phase = EventMode;
  return status;
}
EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component component, fmi2EventInfo* info) {
  Component* c = component;
  memset(info, 0, sizeof *info);
  if (is_due(c)) {
    if (c->mode == NeverSettlesExchange) info->newDiscreteStatesNeeded = fmi2True;
    if (c->mode == TerminateInEventExchange) info->terminateSimulation = fmi2True;
    if (c->mode == StepEvent) {
      c->x = 10.0;
      c->done = 1;
      info->valuesOfContinuousStatesChanged = fmi2True;
    }
  }
  return require(c, c->phase == EventMode);
}
EXPORT fmi2Status fmi2EnterContinuousTimeMode(fmi2Component component) {
  Component* c = component;
  const fmi2Status status = require(c, c->phase == EventMode);
  c->phase = Continuous;
  return status;
}
EXPORT fmi2Status fmi2CompletedIntegratorStep(fmi2Component component, fmi2Boolean no_set, fmi2Boolean* event,
                                              fmi2Boolean* terminate) {
  Component* c = component;
  (void)no_set;
  *event = c->mode == StepEvent && is_due(c);
  *terminate = c->mode == TerminateInStep && is_due(c);
  return require(c, c->phase == Continuous);
}
