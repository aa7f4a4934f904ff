#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/error.hpp"
#include "entrain/system_description.hpp"
#include "entrain/variable.hpp"

namespace entrain::assembly {

/// The ways out where both sides of a connection determine the same quantity.
inline constexpr std::string_view kRigidRemedy =
    "put a spring with a damper between them, use one of them in the other causality (this variable as an input), "
    "merge "
    "both into one subsystem, or write the four variables in [constraints]";

/// The terminal of this name, without the subsystem; nullptr if there is none.
const Terminal* find_terminal(const VariableTable& variables, const std::string& name);

/// Why two terminals cannot be connected; empty when they can.
std::string terminal_mismatch(const Terminal& one, const Terminal& other);

/// A connection of two terminals as the connections of their members, by the rule of the terminals; nullopt when
/// neither end is one. Either table may be null. What does not fit goes to `problems`.
std::optional<std::vector<ConnectionDescription>> terminal_connections(const ConnectionDescription& written,
                                                                       const VariableTable* from,
                                                                       const VariableTable* to,
                                                                       std::vector<Problem>& problems);

}  // namespace entrain::assembly
