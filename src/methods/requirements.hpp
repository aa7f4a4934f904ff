#pragma once

#include <string>
#include <vector>

#include "entrain/method.hpp"

namespace entrain::method {

/// What one subsystem lacks.
struct UnmetRequirement {
  SubsystemId subsystem;
  Fact fact;
  std::string remedy;
};

/// Everything the method needs and a subsystem lacks, and every step of a subsystem's own that does not fit.
std::vector<UnmetRequirement> unmet_requirements(const Method& method, const Graph& graph,
                                                 const std::vector<const Capabilities*>& capabilities,
                                                 const RunSettings& settings);

/// Its steps are no fixed grid: it chooses the macro step, or each subsystem has steps of its own.
bool chooses_steps(const Method& method);

}  // namespace entrain::method
