/* An FMI 1.0 model-exchange FMU without states: 'count' grows by 1 every 0.3 s, by time events. fmiInitialize leaves
   the event information as it is; the first event is announced by fmiEventUpdate. */
#include <stdlib.h>

#include "subsystem/fmi/fmi1_api.h"

#define EXPORT __attribute__((visibility("default")))

typedef struct {
  double time;
  int count;
} Component;

EXPORT fmiComponent stair_fmiInstantiateModel(fmiString name, fmiString guid, fmiCallbackFunctionsOfModel functions,
                                              fmiBoolean logging) {
  (void)name, (void)guid, (void)functions, (void)logging;
  return calloc(1, sizeof(Component));
}
EXPORT void stair_fmiFreeModelInstance(fmiComponent component) {
  free(component);
}
EXPORT fmiStatus stair_fmiInitialize(fmiComponent component, fmiBoolean controlled, fmiReal tolerance,
                                     fmiEventInfo* info) {
  (void)component, (void)controlled, (void)tolerance, (void)info;
  return fmiOK;
}
EXPORT fmiStatus stair_fmiTerminate(fmiComponent component) {
  (void)component;
  return fmiOK;
}
EXPORT fmiStatus stair_fmiSetDebugLogging(fmiComponent component, fmiBoolean on) {
  (void)component, (void)on;
  return fmiOK;
}
EXPORT fmiStatus stair_fmiSetTime(fmiComponent component, fmiReal time) {
  ((Component*)component)->time = time;
  return fmiOK;
}
EXPORT fmiStatus stair_fmiCompletedIntegratorStep(fmiComponent component, fmiBoolean* event) {
  (void)component;
  *event = fmiFalse;
  return fmiOK;
}
EXPORT fmiStatus stair_fmiEventUpdate(fmiComponent component, fmiBoolean intermediate, fmiEventInfo* info) {
  Component* c = component;
  (void)intermediate;
  if (c->time >= 0.3 * (c->count + 1) - 1e-9) ++c->count;
  const fmiEventInfo settled = {
      .iterationConverged = fmiTrue, .upcomingTimeEvent = fmiTrue, .nextEventTime = 0.3 * (c->count + 1)};
  *info = settled;
  return fmiOK;
}
EXPORT fmiStatus stair_fmiGetReal(fmiComponent component, const fmiValueReference references[], size_t count,
                                  fmiReal values[]) {
  (void)references;
  for (size_t i = 0; i < count; ++i) values[i] = ((Component*)component)->count;
  return fmiOK;
}
