// The controller of own_subsystem_test.py once more, as an FMU of FMI 2.0: PI, by Euler's method, with a sine. With a
// negative gain a step takes that many seconds.
#include <unistd.h>

#include <cmath>
#include <cstddef>

extern "C" {
#include "subsystem/fmi/fmi2_api.h"
#define EXPORT __attribute__((visibility("default")))

struct Twin {
  double w = 0.0, torque = 0.0, kp = 2.0, ki = 0.7, sum = 0.0;
};

EXPORT fmi2Component fmi2Instantiate(fmi2String, fmi2Type, fmi2String, fmi2String, const fmi2CallbackFunctions*,
                                     fmi2Boolean, fmi2Boolean) {
  return new Twin;
}
EXPORT void fmi2FreeInstance(fmi2Component c) {
  delete static_cast<Twin*>(c);
}
EXPORT fmi2Status fmi2SetupExperiment(fmi2Component, fmi2Boolean, fmi2Real, fmi2Real, fmi2Boolean, fmi2Real) {
  return fmi2OK;
}
EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component) {
  return fmi2OK;
}
EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component) {
  return fmi2OK;
}
EXPORT fmi2Status fmi2Terminate(fmi2Component) {
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Real v[]) {
  auto* twin = static_cast<Twin*>(c);
  double* const fields[] = {&twin->w, &twin->torque, &twin->kp, &twin->ki};
  for (size_t i = 0; i < n; ++i) *fields[r[i]] = v[i];
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference r[], size_t n, fmi2Real v[]) {
  auto* twin = static_cast<Twin*>(c);
  const double* const fields[] = {&twin->w, &twin->torque, &twin->kp, &twin->ki};
  for (size_t i = 0; i < n; ++i) v[i] = *fields[r[i]];
  return fmi2OK;
}
EXPORT fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean) {
  auto* twin = static_cast<Twin*>(c);
  if (twin->kp < 0.0) ::sleep(static_cast<unsigned>(-twin->kp));
  const double e = std::sin(t) - twin->w;
  twin->sum += twin->ki * e * h;
  twin->torque = twin->kp * e + twin->sum;
  return fmi2OK;
}
}
