#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "entrain/export.hpp"

namespace entrain {

// Changes of the text of a system file, as a person would make them: only what is named changes; comments, order and
// layout of everything else stay byte by byte. All throw Error{InvalidSystem} when the text is not TOML.

/// A path of keys: {"subsystems", "left", "start", "x"}.
using KeyPath = std::vector<std::string>;

/// The value at the path, written as TOML, becomes `value`. What is missing on the way to it is made.
ENTRAIN_API std::string with_value(std::string_view text, const KeyPath& path, std::string_view value);
/// Without the key or table at the path; the same text where there is none.
ENTRAIN_API std::string without_value(std::string_view text, const KeyPath& path);

/// With one more input of the output; both are "subsystem.variable".
ENTRAIN_API std::string with_connection(std::string_view text, std::string_view output, std::string_view input);
ENTRAIN_API std::string without_connection(std::string_view text, std::string_view output, std::string_view input);

/// Without the subsystem and everything that names one of its variables.
ENTRAIN_API std::string without_subsystem(std::string_view text, const std::string& name);
/// Everything that names the subsystem names it by its new name.
ENTRAIN_API std::string with_subsystem_renamed(std::string_view text, const std::string& from, const std::string& to);

/// A text as TOML writes it, with quotes and escapes.
ENTRAIN_API std::string quoted_text(std::string_view text);

}  // namespace entrain
