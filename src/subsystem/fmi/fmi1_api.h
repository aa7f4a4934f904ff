/* C interface of FMI 1.0 for co-simulation and for model exchange, declared from the text of the standards; the names
   are the standards'. Functions are declared as function types: an importer makes pointers of them, an FMU defines
   functions of them. In a library each name has the model identifier and '_' before it. */
#ifndef ENTRAIN_FMI1_API_H
#define ENTRAIN_FMI1_API_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void* fmiComponent;
typedef unsigned int fmiValueReference;
typedef double fmiReal;
typedef int fmiInteger;
typedef char fmiBoolean;
typedef const char* fmiString;

#define fmiPlatform "standard32"
#define fmiVersion "1.0"
#define fmiTrue 1
#define fmiFalse 0
#define fmiUndefinedValueReference ((fmiValueReference)(-1))

/* fmiPending: of co-simulation. NOLINTBEGIN(readability-identifier-naming): names of the standard */
typedef enum { fmiOK, fmiWarning, fmiDiscard, fmiError, fmiFatal, fmiPending } fmiStatus;
typedef enum { fmiDoStepStatus, fmiPendingStatus, fmiLastSuccessfulTime } fmiStatusKind;
/* NOLINTEND(readability-identifier-naming) */

typedef void (*fmiCallbackLogger)(fmiComponent c, fmiString instanceName, fmiStatus status, fmiString category,
                                  fmiString message, ...);
typedef void* (*fmiCallbackAllocateMemory)(size_t count, size_t size);
typedef void (*fmiCallbackFreeMemory)(void* memory);
typedef void (*fmiStepFinished)(fmiComponent c, fmiStatus status);

/* Both are passed by value. */
typedef struct {
  fmiCallbackLogger logger;
  fmiCallbackAllocateMemory allocateMemory;
  fmiCallbackFreeMemory freeMemory;
  fmiStepFinished stepFinished;
} fmiCallbackFunctionsOfSlave;
typedef struct {
  fmiCallbackLogger logger;
  fmiCallbackAllocateMemory allocateMemory;
  fmiCallbackFreeMemory freeMemory;
} fmiCallbackFunctionsOfModel;

typedef struct {
  fmiBoolean iterationConverged;
  fmiBoolean stateValueReferencesChanged;
  fmiBoolean stateValuesChanged;
  fmiBoolean terminateSimulation;
  fmiBoolean upcomingTimeEvent;
  fmiReal nextEventTime;
} fmiEventInfo;

/* Common to both kinds. */
typedef fmiStatus fmiSetDebugLoggingTYPE(fmiComponent c, fmiBoolean loggingOn);
typedef fmiStatus fmiSetRealTYPE(fmiComponent c, const fmiValueReference vr[], size_t nvr, const fmiReal value[]);
typedef fmiStatus fmiSetIntegerTYPE(fmiComponent c, const fmiValueReference vr[], size_t nvr, const fmiInteger value[]);
typedef fmiStatus fmiSetBooleanTYPE(fmiComponent c, const fmiValueReference vr[], size_t nvr, const fmiBoolean value[]);
typedef fmiStatus fmiSetStringTYPE(fmiComponent c, const fmiValueReference vr[], size_t nvr, const fmiString value[]);
typedef fmiStatus fmiGetRealTYPE(fmiComponent c, const fmiValueReference vr[], size_t nvr, fmiReal value[]);
typedef fmiStatus fmiGetIntegerTYPE(fmiComponent c, const fmiValueReference vr[], size_t nvr, fmiInteger value[]);
typedef fmiStatus fmiGetBooleanTYPE(fmiComponent c, const fmiValueReference vr[], size_t nvr, fmiBoolean value[]);
typedef fmiStatus fmiGetStringTYPE(fmiComponent c, const fmiValueReference vr[], size_t nvr, fmiString value[]);

/* Co-simulation. */
typedef fmiComponent fmiInstantiateSlaveTYPE(fmiString instanceName, fmiString fmuGUID, fmiString fmuLocation,
                                             fmiString mimeType, fmiReal timeout, fmiBoolean visible,
                                             fmiBoolean interactive, fmiCallbackFunctionsOfSlave functions,
                                             fmiBoolean loggingOn);
typedef fmiStatus fmiInitializeSlaveTYPE(fmiComponent c, fmiReal tStart, fmiBoolean stopTimeDefined, fmiReal tStop);
typedef fmiStatus fmiTerminateSlaveTYPE(fmiComponent c);
typedef fmiStatus fmiResetSlaveTYPE(fmiComponent c);
typedef void fmiFreeSlaveInstanceTYPE(fmiComponent c);
typedef fmiStatus fmiSetRealInputDerivativesTYPE(fmiComponent c, const fmiValueReference vr[], size_t nvr,
                                                 const fmiInteger order[], const fmiReal value[]);
typedef fmiStatus fmiGetRealOutputDerivativesTYPE(fmiComponent c, const fmiValueReference vr[], size_t nvr,
                                                  const fmiInteger order[], fmiReal value[]);
typedef fmiStatus fmiDoStepTYPE(fmiComponent c, fmiReal currentCommunicationPoint, fmiReal communicationStepSize,
                                fmiBoolean newStep);
typedef fmiStatus fmiCancelStepTYPE(fmiComponent c);
typedef fmiStatus fmiGetStatusTYPE(fmiComponent c, const fmiStatusKind kind, fmiStatus* value);
typedef fmiStatus fmiGetIntegerStatusTYPE(fmiComponent c, const fmiStatusKind kind, fmiInteger* value);
typedef fmiStatus fmiGetBooleanStatusTYPE(fmiComponent c, const fmiStatusKind kind, fmiBoolean* value);
typedef fmiStatus fmiGetStringStatusTYPE(fmiComponent c, const fmiStatusKind kind, fmiString* value);
typedef fmiStatus fmiGetRealStatusTYPE(fmiComponent c, const fmiStatusKind kind, fmiReal* value);

/* Model exchange. */
typedef fmiComponent fmiInstantiateModelTYPE(fmiString instanceName, fmiString GUID,
                                             fmiCallbackFunctionsOfModel functions, fmiBoolean loggingOn);
typedef void fmiFreeModelInstanceTYPE(fmiComponent c);
typedef fmiStatus fmiSetTimeTYPE(fmiComponent c, fmiReal time);
typedef fmiStatus fmiSetContinuousStatesTYPE(fmiComponent c, const fmiReal x[], size_t nx);
typedef fmiStatus fmiCompletedIntegratorStepTYPE(fmiComponent c, fmiBoolean* callEventUpdate);
typedef fmiStatus fmiInitializeTYPE(fmiComponent c, fmiBoolean toleranceControlled, fmiReal relativeTolerance,
                                    fmiEventInfo* eventInfo);
typedef fmiStatus fmiGetDerivativesTYPE(fmiComponent c, fmiReal derivatives[], size_t nx);
typedef fmiStatus fmiGetEventIndicatorsTYPE(fmiComponent c, fmiReal eventIndicators[], size_t ni);
typedef fmiStatus fmiEventUpdateTYPE(fmiComponent c, fmiBoolean intermediateResults, fmiEventInfo* eventInfo);
typedef fmiStatus fmiGetContinuousStatesTYPE(fmiComponent c, fmiReal states[], size_t nx);
typedef fmiStatus fmiGetNominalContinuousStatesTYPE(fmiComponent c, fmiReal x_nominal[], size_t nx);
typedef fmiStatus fmiGetStateValueReferencesTYPE(fmiComponent c, fmiValueReference vrx[], size_t nx);
typedef fmiStatus fmiTerminateTYPE(fmiComponent c);

#ifdef __cplusplus
}
#endif

#endif
