#pragma once

#include <optional>
#include <vector>

#include "entrain/fact.hpp"
#include "subsystem/fmi/model_description.hpp"

namespace entrain::subsystem {

/// What makes no sense about the variables of a description as a whole, without the FMU; nullopt when all does.
std::optional<Fact> fault_of_variables(const std::vector<FmuVariable>& variables);

}  // namespace entrain::subsystem
