#pragma once

#include <vector>

#include "assembly/assembly.hpp"

namespace entrain::session {

/// What limits the grade of a run before it begins: inputs of FMUs that are open and not listed as such, a system
/// without connections. And what is named for the grade, but not there: in [run] open and [run.tolerances].
void check_judged_ports(const SystemDescription& description, const assembly::Assembly& assembly,
                        std::vector<Problem>& problems);

}  // namespace entrain::session
