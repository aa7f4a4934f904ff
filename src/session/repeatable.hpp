#pragma once

#include <string_view>

#include "entrain/system_description.hpp"

namespace entrain::session {

/// For what makes several runs. Throws Error{InvalidSystem} where a subsystem lies outside the computer.
void require_repeatable(const SystemDescription& description, std::string_view what);

}  // namespace entrain::session
