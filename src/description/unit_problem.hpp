#pragma once

#include "base/units.hpp"
#include "entrain/system_description.hpp"

namespace entrain::description {

/// Why the units of a connection do not fit, or a warning that they are not known.
Problem unit_problem(base::UnitMatch::Kind kind, const ConnectionDescription& connection, const Variable& output,
                     const Variable& input);

}  // namespace entrain::description
