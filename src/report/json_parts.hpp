#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "entrain/capabilities.hpp"
#include "entrain/system_description.hpp"

namespace entrain {

/// Parts that the JSON outputs share. Numbers that are not finite become null.
nlohmann::ordered_json json_of(const Capabilities& capabilities);
nlohmann::ordered_json json_of(const VariableTable& variables);
nlohmann::ordered_json json_of(const OptionValue& value);

/// Indented text with a line end. Text that is not UTF-8 is mended, never an error.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace entrain
