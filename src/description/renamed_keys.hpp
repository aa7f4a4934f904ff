#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/system_description.hpp"

namespace entrain::description {

/// The message for a key that had this name in an earlier version; nothing if it never had it, or if `known` does not
/// hold the names of today. `owner`: "method.NAME" or "subsystems.NAME". The remedy is the line to write instead.
std::optional<Problem> renamed_key(std::string_view owner, std::string_view name, const OptionValue& value,
                                   const std::vector<std::string>& known);

}  // namespace entrain::description
