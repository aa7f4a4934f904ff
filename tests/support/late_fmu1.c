/* late_fmu.h by FMI 1.0, as a slave and as a model: their initialization is one call, and nothing can be read before.
 */
#include "late_fmu.h"

#include "subsystem/fmi/fmi1_api.h"

#define EXPORT __attribute__((visibility("default")))

static fmiComponent instance(fmiString guid) {
  return made_of(guid);
}
EXPORT fmiComponent late_fmiInstantiateSlave(fmiString name, fmiString guid, fmiString location, fmiString mime,
                                             fmiReal timeout, fmiBoolean visible, fmiBoolean interactive,
                                             fmiCallbackFunctionsOfSlave functions, fmiBoolean logging) {
  (void)name, (void)location, (void)mime, (void)timeout, (void)visible, (void)interactive, (void)functions;
  (void)logging;
  return instance(guid);
}
EXPORT fmiComponent late_fmiInstantiateModel(fmiString name, fmiString guid, fmiCallbackFunctionsOfModel functions,
                                             fmiBoolean logging) {
  (void)name, (void)functions, (void)logging;
  return instance(guid);
}
EXPORT void late_fmiFreeSlaveInstance(fmiComponent c) {
  free(c);
}
EXPORT void late_fmiFreeModelInstance(fmiComponent c) {
  free(c);
}
EXPORT fmiStatus late_fmiInitializeSlave(fmiComponent c, fmiReal start, fmiBoolean has_stop, fmiReal stop) {
  (void)start, (void)has_stop, (void)stop;
  enter(c, Steps);
  return fmiOK;
}
EXPORT fmiStatus late_fmiInitialize(fmiComponent c, fmiBoolean controlled, fmiReal tolerance, fmiEventInfo* info) {
  (void)controlled, (void)tolerance, (void)info;
  enter(c, ContinuousTime);
  return fmiOK;
}
EXPORT fmiStatus late_fmiTerminateSlave(fmiComponent c) {
  (void)c;
  return fmiOK;
}
EXPORT fmiStatus late_fmiTerminate(fmiComponent c) {
  (void)c;
  return fmiOK;
}
EXPORT fmiStatus late_fmiResetSlave(fmiComponent c) {
  begin_anew(c);
  return fmiOK;
}
EXPORT fmiStatus late_fmiDoStep(fmiComponent c, fmiReal from, fmiReal h, fmiBoolean is_new) {
  (void)from, (void)is_new;
  advance(c, h);
  return fmiOK;
}
EXPORT fmiStatus late_fmiGetReal(fmiComponent c, const fmiValueReference vr[], size_t n, fmiReal value[]) {
  for (size_t i = 0; i < n; ++i) {
    if (!get(c, vr[i], &value[i])) return fmiError;
  }
  return fmiOK;
}
EXPORT fmiStatus late_fmiSetReal(fmiComponent c, const fmiValueReference vr[], size_t n, const fmiReal value[]) {
  for (size_t i = 0; i < n; ++i) set(c, vr[i], value[i]);
  return fmiOK;
}
EXPORT fmiStatus late_fmiSetTime(fmiComponent c, fmiReal time) {
  (void)c, (void)time;
  return fmiOK;
}
EXPORT fmiStatus late_fmiSetContinuousStates(fmiComponent c, const fmiReal x[], size_t n) {
  (void)n;
  set(c, StateX, x[0]);
  return fmiOK;
}
EXPORT fmiStatus late_fmiGetContinuousStates(fmiComponent c, fmiReal x[], size_t n) {
  (void)n;
  return get(c, StateX, x) ? fmiOK : fmiError;
}
EXPORT fmiStatus late_fmiGetNominalContinuousStates(fmiComponent c, fmiReal x[], size_t n) {
  (void)c, (void)n;
  x[0] = 1.0;
  return fmiOK;
}
EXPORT fmiStatus late_fmiGetDerivatives(fmiComponent c, fmiReal dx[], size_t n) {
  (void)n;
  return get(c, SlopeX, dx) ? fmiOK : fmiError;
}
EXPORT fmiStatus late_fmiGetEventIndicators(fmiComponent c, fmiReal z[], size_t n) {
  (void)c, (void)z, (void)n;
  return fmiOK;
}
EXPORT fmiStatus late_fmiCompletedIntegratorStep(fmiComponent c, fmiBoolean* event) {
  (void)c;
  *event = fmiFalse;
  return fmiOK;
}
EXPORT fmiStatus late_fmiEventUpdate(fmiComponent c, fmiBoolean intermediate, fmiEventInfo* info) {
  (void)intermediate;
  ((Component*)c)->updated = 1;
  const fmiEventInfo settled = {.iterationConverged = fmiTrue};
  *info = settled;
  return fmiOK;
}
