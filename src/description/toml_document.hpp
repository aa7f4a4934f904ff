#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "entrain/system_description.hpp"

namespace entrain::description {

struct TomlEntry;

struct TomlTable {
  std::vector<TomlEntry> entries;  ///< in the order of the file
};

/// A date or a time: valid TOML that no system file has a use for.
struct TomlDate {};

struct TomlNode {
  std::variant<bool, std::int64_t, double, std::string, TomlDate, std::vector<TomlNode>, TomlTable> value;
  SourcePosition where;
};

struct TomlEntry {
  std::string key;
  SourcePosition where;  ///< of the key
  TomlNode node;
};

/// A TOML text as plain data, so that one file alone knows the parser. A text that is not TOML is one problem, with
/// its line, and nothing is returned. Tables below a depth that no system file has are cut off.
std::optional<TomlTable> parse_toml(std::string_view text, const std::string& file, std::vector<Problem>& problems);

/// The node as a bool, std::int64_t, double (an integer will do), std::string, a std::vector of the last two, or an
/// Isolation (a bool or a text that is not empty); nothing if it is something else.
template <class T>
std::optional<T> read_as(const TomlNode& node);
template <>
std::optional<bool> read_as(const TomlNode& node);
template <>
std::optional<std::int64_t> read_as(const TomlNode& node);
template <>
std::optional<double> read_as(const TomlNode& node);
template <>
std::optional<std::string> read_as(const TomlNode& node);
template <>
std::optional<std::vector<double>> read_as(const TomlNode& node);
template <>
std::optional<std::vector<std::string>> read_as(const TomlNode& node);
template <>
std::optional<Isolation> read_as(const TomlNode& node);
template <>
std::optional<Value> read_as(const TomlNode& node);

/// A number, boolean or string; nothing for anything else.
std::optional<Value> scalar(const TomlNode& node);
/// What an option can be: a scalar, a list of numbers, a list of strings, a table of numbers.
std::optional<OptionValue> option_value(const TomlNode& node);

/// "the string "0.1"", "the integer 3", "a list": for messages about wrong types.
std::string found(const TomlNode& node);

}  // namespace entrain::description
