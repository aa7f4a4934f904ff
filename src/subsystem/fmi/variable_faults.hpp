#pragma once

#include <string>
#include <vector>

#include "subsystem/fmi/model_description.hpp"

namespace entrain::subsystem {

/// What makes no sense about the variables of a description as a whole; empty when nothing does.
std::string fault_of_variables(const std::vector<FmuVariable>& variables);

}  // namespace entrain::subsystem
