#pragma once

#include <vector>

#include "entrain/coupled_system.hpp"
#include "entrain/simulation.hpp"

namespace entrain::api {

/// Before a paced run: some macro steps of a second simulation as fast as they can, to see whether the pace can be
/// kept. `description`: as it is really run. What is worth knowing before the run; empty = it can be kept.
std::vector<Fact> rehearse(const SystemDescription& description, const CoupledSystem& system, const RunOptions& options,
                           const Extensions& extensions);

}  // namespace entrain::api
