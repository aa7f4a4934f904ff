#pragma once

#include <atomic>
#include <vector>

#include "entrain/inspection.hpp"

namespace entrain::api {

/// Where the subsystems go: by hand ([placement]), the others by the seconds that they take. These come from the latest
/// run of the system in `runs`, or from a pilot of a few steps. Throws Error for what is written wrong. The method of
/// the description is a real one. `interrupt` ends the pilot; null = nothing does.
PlacementInspection plan_placement(const SystemDescription& description, std::size_t ranks,
                                   const Extensions& extensions, const std::atomic<bool>* interrupt = nullptr);

}  // namespace entrain::api
