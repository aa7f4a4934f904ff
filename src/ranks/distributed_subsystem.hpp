#pragma once

#include <memory>
#include <vector>

#include "entrain/simulation.hpp"
#include "entrain/subsystem.hpp"
#include "ranks/distributed_system.hpp"

namespace entrain::ranks {

/// A subsystem that lives in one process and stands in all of them: every call is made in all, and returns, or throws,
/// everywhere what it brought there. `inner`: where it lives; null elsewhere, and where it could not be made, the
/// reasons being in `problems`, which all get. Null when it could not be made.
std::unique_ptr<Subsystem> share_subsystem(std::shared_ptr<DistributedSystem> system, SubsystemId s,
                                           const std::string& name, std::unique_ptr<Subsystem> inner,
                                           std::vector<Problem>& problems);

}  // namespace entrain::ranks
