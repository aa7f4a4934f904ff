#pragma once

#include <string>
#include <string_view>

#include "entrain/system_description.hpp"

namespace entrain::description {

/// The shortest text that reads back to the same double, and to a double: "1.0", "1e-06", "nan".
std::string toml_text(double value);
/// With quotes and escapes.
std::string toml_text(std::string_view text);
std::string toml_text(const OptionValue& value);
std::string toml_text(const Value& value);
/// Bare when TOML allows it, else quoted.
std::string toml_key(std::string_view key);

/// "the string "0.1"", "the integer 3", "a list": for messages about wrong types.
std::string found(const OptionValue& value);

}  // namespace entrain::description
