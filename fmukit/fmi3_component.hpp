#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "entrain/error.hpp"
#include "fmukit/describe.hpp"
#include "fmukit/guard.hpp"
#include "fmukit/instance.hpp"
#include "subsystem/fmi/fmi3_api.h"

namespace entrain::fmukit {

/// What an fmi3Instance points to.
struct Fmi3Component {
  Instance instance;
  fmi3InstanceEnvironment environment;
  fmi3LogMessageCallback logger;
  bool logging_on;
  fmi3IntermediateUpdateCallback intermediate_update = nullptr;  ///< null: the importer takes no part inside a step
  std::vector<Reference> intermediate_inputs = {};               ///< those it may set there
  bool early_return_allowed = false;

  void log(const std::string& text) const {
    // FMI 3 forbids any message when logging is off.
    if (logger == nullptr || !logging_on) return;
    logger(environment, fmi3Error, "logStatusError", text.c_str());
  }
};

/// Why no instance was made.
inline void log_refusal(fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger, bool logging_on,
                        const char* function, const char* why) {
  if (logger == nullptr || !logging_on) return;
  logger(environment, fmi3Error, "logStatusError", fmt::format("{}: {}", function, why).c_str());
}

/// Throws unless it is the one of the description.
inline void require_token(fmi3String token) {
  static const std::string own_token = describe(fmu_definition(), 3).token;
  if (token != nullptr && token == own_token) return;
  throw Error(ErrorCode::SubsystemFailed, "the instantiation token is not that of this FMU");
}

/// In an intermediate update the importer sets inputs that it named when it made the instance.
inline void require_intermediate(const Fmi3Component& component, std::span<const Reference> references) {
  if (!component.instance.in_intermediate_update()) return;
  const auto& named = component.intermediate_inputs;
  for (const Reference reference : references) {
    if (std::find(named.begin(), named.end(), reference) != named.end()) continue;
    refuse(
        fmt::format("the value reference {} is not among the intermediate variables that were asked for", reference));
  }
}

/// `call(component)` with everything it throws turned into a logged sentence and fmi3Error. In a strict FMU it is an
/// error too to be in none of the phases `allowed`.
template <class Call>
fmi3Status guarded(fmi3Instance c, const char* function, unsigned allowed, Call&& call) noexcept {
  if (c == nullptr) return fmi3Error;
  auto& component = *static_cast<Fmi3Component*>(c);
  const bool done = completes(
      [&] {
        component.instance.require(allowed, function);
        call(component);
      },
      [&](const char* why) { component.log(fmt::format("{}: {}", function, why)); });
  if (done) return fmi3OK;
  component.instance.fail();
  return fmi3Error;
}

}  // namespace entrain::fmukit
