#pragma once

#include <vector>

#include "assembly/assembly.hpp"
#include "coupling/scenario.hpp"

namespace entrain::assembly {

/// The scenario of a description with its names resolved. Everything wrong goes to `problems`. The values of the
/// description are checked already.
std::vector<coupling::ScenarioEntry> scenario_of(const SystemDescription& description, const Assembly& assembly,
                                                 const Graph& graph, std::vector<Problem>& problems);

}  // namespace entrain::assembly
