/* An FMI 2.0 co-simulation FMU, der(x) = u + v, y = x, with one trap of FMUs in the field; the guid determines which:
   state_crash      fmi2SetFMUstate uses memory that is not there
   second_crash     so does fmi2Instantiate when the process has had an instance
   late             y = 5 + x, which is known when the initialization mode is left; before it is 0
   gain             y = 2 u at any time
   one_order        warns when derivatives of several orders come in one call, and holds its inputs then
   warns            warns whenever derivatives come, and holds its inputs
   warns_later      the same from t = 0.5 s on
   strange          takes derivatives of order 2 for something else
   chatty           logs what it does, without trouble, in categories that its description does not name
   once             nothing */
#include <string.h>

#include "faults.h"
#include "idle_fmi2.h"

#define ORDERS 4

typedef struct {
  fmi2CallbackLogger log;
  void* environment;
  char trap[20];
  double t, x, u[ORDERS], v[ORDERS]; /* inputs and their derivatives */
  int running;
} Component;

static int instances = 0;

static int is(const Component* c, const char* trap) {
  return strcmp(c->trap, trap) == 0;
}

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions* callbacks, fmi2Boolean visible, fmi2Boolean logging) {
  (void)name, (void)type, (void)resources, (void)visible, (void)logging;
  if (++instances > 1 && strcmp(guid, "second_crash") == 0) use_memory_that_is_not_there();
  if (callbacks->stepFinished != NULL) return NULL; /* takes steps for asynchronous then */
  Component* c = calloc(1, sizeof(Component));
  c->log = callbacks->logger;
  c->environment = callbacks->componentEnvironment;
  strncpy(c->trap, guid, sizeof c->trap - 1);
  return c;
}
FREED_AT_ONCE
ANY_EXPERIMENT
IDLE(fmi2EnterInitializationMode)
EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component component) {
  ((Component*)component)->running = 1;
  return fmi2OK;
}
IDLE(fmi2Terminate)
EXPORT fmi2Status fmi2Reset(fmi2Component component) {
  Component* c = component;
  c->t = c->x = 0.0;
  c->running = 0;
  memset(c->u, 0, sizeof c->u);
  memset(c->v, 0, sizeof c->v);
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n, fmi2Real value[]) {
  const Component* c = component;
  for (size_t i = 0; i < n; ++i) {
    value[i] = vr[i] == 0 ? c->u[0] : vr[i] == 2 ? c->v[0] : c->x;
    if (vr[i] == 1 && is(c, "late")) value[i] = c->running ? 5.0 + c->x : 0.0;
    if (vr[i] == 1 && is(c, "gain")) value[i] = 2.0 * c->u[0];
  }
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n,
                              const fmi2Real value[]) {
  Component* c = component;
  for (size_t i = 0; i < n; ++i) *(vr[i] == 0 ? c->u : c->v) = value[i];
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetRealInputDerivatives(fmi2Component component, const fmi2ValueReference vr[], size_t n,
                                              const fmi2Integer order[], const fmi2Real value[]) {
  Component* c = component;
  const int several = n > 0 && order[0] != order[n - 1];
  const int ignored = (is(c, "one_order") && several) || is(c, "warns") || (is(c, "warns_later") && c->t > 0.5 - 1e-9);
  for (size_t i = 0; i < n; ++i) (vr[i] == 0 ? c->u : c->v)[order[i]] = ignored ? 0.0 : value[i];
  return ignored ? fmi2Warning : fmi2OK;
}
EXPORT fmi2Status fmi2DoStep(fmi2Component component, fmi2Real from, fmi2Real h, fmi2Boolean no_set) {
  Component* c = component;
  double part = h; /* h^(p + 1) / (p + 1)! */
  (void)no_set;
  for (int p = 0; p < ORDERS; ++p) {
    c->x += part * (c->u[p] + c->v[p]) * (p == 2 && is(c, "strange") ? 7.0 : 1.0);
    part *= h / (p + 2);
  }
  c->t = from + h;
  if (is(c, "chatty")) c->log(c->environment, "trap", fmi2OK, "calls", "fmi2DoStep from %g", from);
  if (is(c, "chatty")) c->log(c->environment, "trap", fmi2Warning, "calls", "close to %g", from);
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetFMUstate(fmi2Component component, fmi2FMUstate* state) {
  if (*state == NULL) *state = malloc(sizeof(Component));
  memcpy(*state, component, sizeof(Component));
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetFMUstate(fmi2Component component, fmi2FMUstate state) {
  Component* c = component;
  if (is(c, "state_crash")) use_memory_that_is_not_there();
  memcpy(c, state, sizeof(Component));
  return fmi2OK;
}
EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component component, fmi2FMUstate* state) {
  (void)component;
  free(*state);
  *state = NULL;
  return fmi2OK;
}
