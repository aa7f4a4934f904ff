#pragma once

#include "numerics/column_groups.hpp"
#include "subsystem/fmi/fmu.hpp"

namespace entrain::subsystem {

/// Which state derivatives depend on which states, from ModelStructure; those without an entry depend on all.
numerics::SparsityPattern jacobian_pattern(const FmuDescription& description, const FmuPorts& ports);

}  // namespace entrain::subsystem
