#pragma once

#include <string>
#include <vector>

#include "learn/repeated_run.hpp"

namespace entrain::learning {

struct FoundFeedthrough {
  std::vector<OutputId> outputs;  ///< that follow a connected input at once
  std::vector<Fact> notes;        ///< what was declared and not seen, or could not be tried
};

/// Which outputs really follow a connected input at once. What a subsystem declares as independent is accepted. What it
/// declares as dependent (an FMU that declares nothing means everything) must show: in its linearization at the start,
/// or when its inputs are moved at the start, by little and by much, from several points; or else in its linearization
/// at times spread over a first run.
FoundFeedthrough find_feedthrough(RepeatedRun& run);

/// As declared: for systems that cannot be run here.
FoundFeedthrough declared_feedthrough(const CoupledSystem& system);

}  // namespace entrain::learning
