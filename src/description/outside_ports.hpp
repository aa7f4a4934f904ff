#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "entrain/system_description.hpp"

namespace entrain::description {

/// "F [N]", "count": a variable with its unit. Nothing, and `why`, for a text that is none.
std::optional<Variable> port_of(std::string_view text, std::string& why);

/// Why this is no name for shared memory; empty = it is one.
std::string shared_name_fault(std::string_view name);

}  // namespace entrain::description
