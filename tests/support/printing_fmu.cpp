// An FMI 2.0 co-simulation FMU in C++ that prints through std::cout and carries functions with the names of the solvers
// that the engine uses: it must print, and reach its own. y = 42 when it did. The logger gets an environment that the
// engine never gave out, as FMUs of some tools do. With SOLVER_BESIDE those functions are in a library of its own.
#include <iostream>
#include <sstream>

extern "C" {
#include "idle_fmi2.h"

#ifdef SOLVER_BESIDE
int CVodeInit(void);
#else
EXPORT int SUNContext_Create(void) {
  return 40;
}
EXPORT int CVodeInit(void) {
  return SUNContext_Create() + 2;
}
#endif

struct Component {
  const fmi2CallbackFunctions* callbacks;
  double y;
};

EXPORT fmi2Component fmi2Instantiate(fmi2String, fmi2Type, fmi2String, fmi2String,
                                     const fmi2CallbackFunctions* callbacks, fmi2Boolean, fmi2Boolean) {
  return new Component{callbacks, 0.0};
}
EXPORT void fmi2FreeInstance(fmi2Component c) {
  delete static_cast<Component*>(c);
}
ANY_EXPERIMENT
IDLE(fmi2EnterInitializationMode)
IDLE(fmi2ExitInitializationMode)
IDLE(fmi2Terminate)
EXPORT fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference*, size_t n, fmi2Real value[]) {
  for (size_t i = 0; i < n; ++i) value[i] = static_cast<Component*>(c)->y;
  return fmi2OK;
}
EXPORT fmi2Status fmi2DoStep(fmi2Component component, fmi2Real from, fmi2Real, fmi2Boolean) {
  auto& c = *static_cast<Component*>(component);
  c.y = CVodeInit();
  std::ostringstream text;  // its tables are data of the C++ library, which programs have copies of
  text << "stepping from " << from;
  std::cout << text.str() << std::endl;
  int nothing_of_yours = 0;
  c.callbacks->logger(&nothing_of_yours, "printing", fmi2Warning, "logStatusWarning", "from %g", from);
  c.callbacks->logger(&c, "printing", fmi2Warning, "logStatusWarning", "to the component");
  c.callbacks->logger(nullptr, "printing", fmi2Warning, "logStatusWarning", "without an environment");
  return fmi2OK;
}
}
