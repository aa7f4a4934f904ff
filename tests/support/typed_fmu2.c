/* An FMU of FMI 2 with inputs and outputs of all types; each output is its input at the end of the last step, in
   initialization mode as it is. */
#include <string.h>

#include "idle_fmi2.h"

/* A parameter that is always 1, whatever it is set to. */
enum { kIgnored = 9 };

typedef struct {
  double x;
  int integer, boolean, enumeration;
  char text[200];
} Values;
typedef struct {
  const fmi2CallbackFunctions* outside;
  Values in, out;
  double gain;
  int stepping;
} Component;

static Values* outputs(Component* c) {
  return c->stepping ? &c->out : &c->in;
}

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions* outside, fmi2Boolean visible, fmi2Boolean logging) {
  (void)name, (void)type, (void)guid, (void)resources, (void)visible, (void)logging;
  Component* c = calloc(1, sizeof(Component));
  c->outside = outside;
  c->gain = 1.0;
  return c;
}
FREED_AT_ONCE
ANY_EXPERIMENT
IDLE(fmi2EnterInitializationMode)
EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component component) {
  Component* c = component;
  c->out = c->in;
  c->stepping = 1;
  return fmi2OK;
}
IDLE(fmi2Terminate)
EXPORT fmi2Status fmi2DoStep(fmi2Component component, fmi2Real from, fmi2Real size, fmi2Boolean no_set) {
  Component* c = component;
  (void)size, (void)no_set;
  c->out = c->in;
  if (from < 0.05) {
    c->outside->logger(c->outside->componentEnvironment, "x", fmi2Warning, "logStatusWarning", "gain of #r2# at %g%%",
                       100.0 * c->gain);
    c->outside->logger(c->outside->componentEnvironment, "x", fmi2Warning, "logStatusWarning", "wrote %n bytes");
  }
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n, const fmi2Real v[]) {
  Component* c = component;
  for (size_t i = 0; i < n; ++i) {
    if (vr[i] == kIgnored) continue;
    *(vr[i] == 2 ? &c->gain : &c->in.x) = v[i];
  }
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n, fmi2Real v[]) {
  Component* c = component;
  for (size_t i = 0; i < n; ++i) {
    v[i] = vr[i] == 0 ? c->in.x : vr[i] == 2 ? c->gain : vr[i] == kIgnored ? 1.0 : c->gain * outputs(c)->x;
  }
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetInteger(fmi2Component component, const fmi2ValueReference vr[], size_t n,
                                 const fmi2Integer v[]) {
  Component* c = component;
  for (size_t i = 0; i < n; ++i) *(vr[i] == 0 ? &c->in.integer : &c->in.enumeration) = v[i];
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetInteger(fmi2Component component, const fmi2ValueReference vr[], size_t n, fmi2Integer v[]) {
  const Values* out = outputs(component);
  for (size_t i = 0; i < n; ++i) v[i] = vr[i] < 2 ? out->integer : out->enumeration;
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetBoolean(fmi2Component component, const fmi2ValueReference vr[], size_t n,
                                 const fmi2Boolean v[]) {
  (void)vr, (void)n;
  ((Component*)component)->in.boolean = v[0];
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetBoolean(fmi2Component component, const fmi2ValueReference vr[], size_t n, fmi2Boolean v[]) {
  (void)vr, (void)n;
  v[0] = outputs(component)->boolean;
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetString(fmi2Component component, const fmi2ValueReference vr[], size_t n,
                                const fmi2String v[]) {
  (void)vr, (void)n;
  strncpy(((Component*)component)->in.text, v[0], sizeof((Component*)component)->in.text - 1);
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetString(fmi2Component component, const fmi2ValueReference vr[], size_t n, fmi2String v[]) {
  (void)vr, (void)n;
  v[0] = outputs(component)->text;
  return fmi2OK;
}
