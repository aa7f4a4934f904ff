/* An FMI 2.0 co-simulation FMU whose output comes two steps late. Its state is the step under way and the two before.
   With the guid "forgetful" fmi2SetFMUstate leaves the newest of them as it is: no output of the next step shows it,
   only the one after. With the guid "at most <s>" it refuses longer steps, which stand for those that take for ever. */
#include <string.h>

#include "idle_fmi2.h"

typedef struct {
  double y, late, later;
} State;

typedef struct {
  State state;
  double u, longest;
  int forgets;
} Component;

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions* callbacks, fmi2Boolean visible, fmi2Boolean logging) {
  (void)name, (void)type, (void)resources, (void)callbacks, (void)visible, (void)logging;
  Component* c = calloc(1, sizeof(Component));
  c->forgets = strcmp(guid, "forgetful") == 0;
  c->longest = strncmp(guid, "at most ", 8) == 0 ? strtod(guid + 8, NULL) : 1e300;
  return c;
}
FREED_AT_ONCE
ANY_EXPERIMENT
IDLE(fmi2EnterInitializationMode)
IDLE(fmi2ExitInitializationMode)
IDLE(fmi2Terminate)
EXPORT fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference references[], size_t count,
                              const fmi2Real values[]) {
  (void)references;
  if (count > 0) ((Component*)c)->u = values[0];
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference references[], size_t count, fmi2Real values[]) {
  const Component* component = c;
  for (size_t i = 0; i < count; ++i) values[i] = references[i] == 0 ? component->u : component->state.y;
  return fmi2OK;
}
EXPORT fmi2Status fmi2DoStep(fmi2Component c, fmi2Real from, fmi2Real size, fmi2Boolean forward) {
  (void)forward;
  Component* component = c;
  State* state = &component->state;
  if (size > component->longest) return fmi2Error;
  state->y = state->late;
  state->late = state->later;
  state->later = component->u + from + size;
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate* state) {
  if (*state == NULL) *state = malloc(sizeof(State));
  memcpy(*state, &((Component*)c)->state, sizeof(State));
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
  Component* component = c;
  const double later = component->state.later;
  memcpy(&component->state, state, sizeof(State));
  if (component->forgets) component->state.later = later;
  return fmi2OK;
}
EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate* state) {
  (void)c;
  free(*state);
  *state = NULL;
  return fmi2OK;
}
