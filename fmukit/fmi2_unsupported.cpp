// Functions of FMI 2.0 that these FMUs do not support. They exist because an importer may look for every symbol.
#include "entrain/error.hpp"
#include "fmukit/fmi2_component.hpp"
#include "fmukit/fmi2_functions.hpp"

namespace {

using namespace entrain;
using namespace entrain::fmukit;

fmi2Status unsupported(fmi2Component c, const char* function) {
  return guarded(c, function, kAnyPhase, [](Fmi2Component&) {
    throw Error(ErrorCode::SubsystemFailed, "this FMU does not support the function");
  });
}

}  // namespace

fmi2Status fmi2EnterEventMode(fmi2Component c) {
  return unsupported(c, "fmi2EnterEventMode");
}
fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo*) {
  return unsupported(c, "fmi2NewDiscreteStates");
}
fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
  return unsupported(c, "fmi2EnterContinuousTimeMode");
}
fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean, fmi2Boolean*, fmi2Boolean*) {
  return unsupported(c, "fmi2CompletedIntegratorStep");
}
fmi2Status fmi2SetTime(fmi2Component c, fmi2Real) {
  return unsupported(c, "fmi2SetTime");
}
fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real[], size_t) {
  return unsupported(c, "fmi2SetContinuousStates");
}
fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real[], size_t) {
  return unsupported(c, "fmi2GetDerivatives");
}
fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real[], size_t) {
  return unsupported(c, "fmi2GetEventIndicators");
}
fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real[], size_t) {
  return unsupported(c, "fmi2GetContinuousStates");
}
fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real[], size_t) {
  return unsupported(c, "fmi2GetNominalsOfContinuousStates");
}
fmi2Status fmi2CancelStep(fmi2Component c) {
  return unsupported(c, "fmi2CancelStep");
}
fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind, fmi2Status*) {
  return unsupported(c, "fmi2GetStatus");
}
fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind, fmi2Integer*) {
  return unsupported(c, "fmi2GetIntegerStatus");
}
fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind, fmi2String*) {
  return unsupported(c, "fmi2GetStringStatus");
}
