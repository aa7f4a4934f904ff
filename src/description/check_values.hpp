#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "entrain/system_description.hpp"

namespace entrain::description {

/// Adds a problem for each value that makes no sense whatever the models and methods are: times and steps, values
/// that are not finite, names without their form, a system without subsystems. For a description from a file this is
/// part of parsing it; call it for one that a program or the command line has changed.
void check_values(const SystemDescription& description, std::vector<Problem>& problems);

/// A name that a subsystem can have: what it must not hold becomes '_'.
std::string subsystem_name(std::string_view wanted);

}  // namespace entrain::description
