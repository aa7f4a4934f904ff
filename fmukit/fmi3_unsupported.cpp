// Functions of FMI 3.0 that these FMUs do not support: the standard requires every one to exist in every FMU.
#include "entrain/error.hpp"
#include "fmukit/fmi3_component.hpp"
#include "fmukit/fmi3_functions.hpp"

namespace {

using namespace entrain;
using namespace entrain::fmukit;

fmi3Status unsupported(fmi3Instance c, const char* function) {
  return guarded(c, function, kAnyPhase, [](Fmi3Component&) {
    throw Error(ErrorCode::SubsystemFailed, "this FMU does not support the function");
  });
}

/// An FMU that cannot be instantiated by this function has no instance yet that could log.
fmi3Instance not_offered(fmi3Boolean logging_on, fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger) {
  if (logger != nullptr && logging_on) {
    logger(environment, fmi3Error, "logStatusError", "this FMU does not offer scheduled execution");
  }
  return nullptr;
}

/// No variable is of the type, so a call for no variables at all is the only one that makes sense.
fmi3Status no_such_variables(fmi3Instance c, const char* function, size_t references) {
  return guarded(c, function, kAnyPhase, [&](Fmi3Component&) {
    if (references > 0) throw Error(ErrorCode::SubsystemFailed, "this FMU has no variable of this type");
  });
}

}  // namespace

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean logging_on,
                                               fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger,
                                               fmi3ClockUpdateCallback, fmi3LockPreemptionCallback,
                                               fmi3UnlockPreemptionCallback) {
  return not_offered(logging_on, environment, logger);
}

#define ENTRAIN_FMU_NO_GETTER(Name)                                                                               \
  fmi3Status fmi3Get##Name(fmi3Instance c, const fmi3ValueReference[], size_t references, fmi3##Name[], size_t) { \
    return no_such_variables(c, "fmi3Get" #Name, references);                                                     \
  }
#define ENTRAIN_FMU_NO_SETTER(Name)                                                                           \
  fmi3Status fmi3Set##Name(fmi3Instance c, const fmi3ValueReference[], size_t references, const fmi3##Name[], \
                           size_t) {                                                                          \
    return no_such_variables(c, "fmi3Set" #Name, references);                                                 \
  }
ENTRAIN_FMU_NO_GETTER(Float32)
ENTRAIN_FMU_NO_SETTER(Float32)
ENTRAIN_FMU_NO_GETTER(Int8)
ENTRAIN_FMU_NO_SETTER(Int8)
ENTRAIN_FMU_NO_GETTER(UInt8)
ENTRAIN_FMU_NO_SETTER(UInt8)
ENTRAIN_FMU_NO_GETTER(Int16)
ENTRAIN_FMU_NO_SETTER(Int16)
ENTRAIN_FMU_NO_GETTER(UInt16)
ENTRAIN_FMU_NO_SETTER(UInt16)
ENTRAIN_FMU_NO_GETTER(UInt32)
ENTRAIN_FMU_NO_SETTER(UInt32)
ENTRAIN_FMU_NO_GETTER(UInt64)
ENTRAIN_FMU_NO_SETTER(UInt64)
ENTRAIN_FMU_NO_SETTER(Int32)  // the counters of strict FMUs can only be read
#undef ENTRAIN_FMU_NO_GETTER
#undef ENTRAIN_FMU_NO_SETTER

fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference[], size_t references, size_t[], fmi3Binary[],
                         size_t) {
  return no_such_variables(c, "fmi3GetBinary", references);
}
fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference[], size_t references, const size_t[],
                         const fmi3Binary[], size_t) {
  return no_such_variables(c, "fmi3SetBinary", references);
}
fmi3Status fmi3GetClock(fmi3Instance c, const fmi3ValueReference[], size_t references, fmi3Clock[]) {
  return no_such_variables(c, "fmi3GetClock", references);
}
fmi3Status fmi3SetClock(fmi3Instance c, const fmi3ValueReference[], size_t references, const fmi3Clock[]) {
  return no_such_variables(c, "fmi3SetClock", references);
}
fmi3Status fmi3GetIntervalDecimal(fmi3Instance c, const fmi3ValueReference[], size_t references, fmi3Float64[],
                                  fmi3IntervalQualifier[]) {
  return no_such_variables(c, "fmi3GetIntervalDecimal", references);
}
fmi3Status fmi3GetIntervalFraction(fmi3Instance c, const fmi3ValueReference[], size_t references, fmi3UInt64[],
                                   fmi3UInt64[], fmi3IntervalQualifier[]) {
  return no_such_variables(c, "fmi3GetIntervalFraction", references);
}
fmi3Status fmi3GetShiftDecimal(fmi3Instance c, const fmi3ValueReference[], size_t references, fmi3Float64[]) {
  return no_such_variables(c, "fmi3GetShiftDecimal", references);
}
fmi3Status fmi3GetShiftFraction(fmi3Instance c, const fmi3ValueReference[], size_t references, fmi3UInt64[],
                                fmi3UInt64[]) {
  return no_such_variables(c, "fmi3GetShiftFraction", references);
}
fmi3Status fmi3SetIntervalDecimal(fmi3Instance c, const fmi3ValueReference[], size_t references, const fmi3Float64[]) {
  return no_such_variables(c, "fmi3SetIntervalDecimal", references);
}
fmi3Status fmi3SetIntervalFraction(fmi3Instance c, const fmi3ValueReference[], size_t references, const fmi3UInt64[],
                                   const fmi3UInt64[]) {
  return no_such_variables(c, "fmi3SetIntervalFraction", references);
}
fmi3Status fmi3SetShiftDecimal(fmi3Instance c, const fmi3ValueReference[], size_t references, const fmi3Float64[]) {
  return no_such_variables(c, "fmi3SetShiftDecimal", references);
}
fmi3Status fmi3SetShiftFraction(fmi3Instance c, const fmi3ValueReference[], size_t references, const fmi3UInt64[],
                                const fmi3UInt64[]) {
  return no_such_variables(c, "fmi3SetShiftFraction", references);
}

fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance c, fmi3ValueReference, size_t*) {
  return unsupported(c, "fmi3GetNumberOfVariableDependencies");
}
fmi3Status fmi3GetVariableDependencies(fmi3Instance c, fmi3ValueReference, size_t[], fmi3ValueReference[], size_t[],
                                       fmi3DependencyKind[], size_t) {
  return unsupported(c, "fmi3GetVariableDependencies");
}
fmi3Status fmi3EnterConfigurationMode(fmi3Instance c) {
  return unsupported(c, "fmi3EnterConfigurationMode");
}
fmi3Status fmi3ExitConfigurationMode(fmi3Instance c) {
  return unsupported(c, "fmi3ExitConfigurationMode");
}
fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance c) {
  return unsupported(c, "fmi3EvaluateDiscreteStates");
}
fmi3Status fmi3ActivateModelPartition(fmi3Instance c, fmi3ValueReference, fmi3Float64) {
  return unsupported(c, "fmi3ActivateModelPartition");
}
