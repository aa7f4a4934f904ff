#pragma once

#include <string>
#include <utility>

#include "fmukit/guard.hpp"
#include "fmukit/instance.hpp"
#include "subsystem/fmi/fmi2_api.h"

namespace entrain::fmukit {

/// What an fmi2Component points to.
struct Fmi2Component {
  Instance instance;
  std::string name;
  fmi2CallbackFunctions callbacks;

  void log(const char* function, const char* text) const {
    if (callbacks.logger == nullptr) return;
    // The logger formats like printf: the text is an argument, never the format.
    callbacks.logger(callbacks.componentEnvironment, name.c_str(), fmi2Error, "logStatusError", "%s: %s", function,
                     text);
  }
};

/// `call(component)` with everything it throws turned into a logged sentence and fmi2Error. In a strict FMU it is an
/// error too to be in none of the phases `allowed`.
template <class Call>
fmi2Status guarded(fmi2Component c, const char* function, unsigned allowed, Call&& call) noexcept {
  if (c == nullptr) return fmi2Error;
  auto& component = *static_cast<Fmi2Component*>(c);
  const bool done = completes(
      [&] {
        component.instance.require(allowed, function);
        call(component);
      },
      [&](const char* why) { component.log(function, why); });
  if (done) return fmi2OK;
  component.instance.fail();
  return fmi2Error;
}

}  // namespace entrain::fmukit
