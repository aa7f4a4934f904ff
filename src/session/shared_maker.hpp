#pragma once

#include <memory>

#include "assembly/assembly.hpp"
#include "ranks/distributed_system.hpp"

namespace entrain::session {

/// The rank of each subsystem, as the link knows it; by their numbers where it knows nothing of them.
std::vector<int> ranks_of(const SystemDescription& description, const ranks::RankLink& link);

/// Subsystems that stand in all processes, and are made by `make` in the one where they live. Those of this process are
/// made at once, while the others make theirs. Borrows the description.
assembly::SubsystemMaker shared_maker(const SystemDescription& description,
                                      const std::shared_ptr<ranks::DistributedSystem>& system,
                                      assembly::SubsystemMaker make);

}  // namespace entrain::session
