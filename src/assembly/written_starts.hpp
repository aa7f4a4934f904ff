#pragma once

#include <map>
#include <string>
#include <vector>

#include "entrain/system_description.hpp"

namespace entrain::assembly {

/// Start values of a subsystem by the own names of its variables, in their units.
using WrittenStarts = std::map<std::string, Written<Value>>;

/// What the user wrote, and what parameter sets contain for the rest.
WrittenStarts starts_of(const SubsystemDescription& description, const VariableTable& variables,
                        std::vector<Problem>& problems);

/// Why `written` is no value of the variable, which the user knows as `name`.
Problem wrong_value(const std::string& name, const Variable& variable, const Value& written,
                    const SourcePosition& where);

}  // namespace entrain::assembly
