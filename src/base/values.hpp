#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "entrain/text.hpp"
#include "entrain/variable.hpp"

namespace entrain::base {

/// The nearest number: 0 or 1 of a boolean, NaN of a text or of bytes.
double number_of(const Value& value);

/// What the user wrote, in the type of a variable: an integer is a number too, a number beyond 63 bits is written as a
/// text of digits, bytes as hexadecimal digits. nullopt when it does not fit.
std::optional<Value> converted(const Value& written, ValueType type);

/// The same for a variable: a value of an enumeration may be written by its name, or as a text of digits.
std::optional<Value> converted(const Value& written, const Variable& variable);

/// "a number", "an integer": of what was written, and what a variable takes.
std::string_view kind_of(const Value& written);
std::string_view kind_of(ValueType type);

/// "Float64", "Boolean": the type as the subsystem calls it.
std::string_view type_name(const Variable& variable);

}  // namespace entrain::base
