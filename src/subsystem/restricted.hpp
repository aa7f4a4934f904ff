#pragma once

#include <memory>
#include <string>
#include <vector>

#include "entrain/subsystem.hpp"
#include "entrain/system_description.hpp"

namespace entrain::subsystem {

/// Whether the description takes capabilities away, sets steps or replaces events.
bool restricts(const SubsystemDescription& description);

/// One sentence for each attempt to add what the subsystem cannot do; empty when the description only takes away.
std::vector<Fact> additions(const Capabilities& capabilities, const SubsystemDescription& description);

/// The subsystem with fewer capabilities, those written in the description. The equations stay: they serve the
/// reference solution, not the coupling. Expects `additions` to be empty.
std::unique_ptr<Subsystem> restricted(std::unique_ptr<Subsystem> inner, const SubsystemDescription& description);

}  // namespace entrain::subsystem
