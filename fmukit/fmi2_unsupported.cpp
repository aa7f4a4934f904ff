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
