#pragma once

#include <string>
#include <vector>

#include "entrain/coupled_system.hpp"
#include "entrain/run_summary.hpp"

namespace entrain::advising {

/// What the subsystems can do. Those that can do the same share a line; of many, the first and the last are named.
std::vector<std::string> capability_lines(const CoupledSystem& system, const std::vector<SubsystemSummary>& summaries);

}  // namespace entrain::advising
