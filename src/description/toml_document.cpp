#include "description/toml_document.hpp"

#include <toml++/toml.h>

#include <algorithm>

#include "description/toml_text.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::description {
namespace {

/// Deeper than any system file, far from the end of the stack.
constexpr int kMaxDepth = 16;
/// toml++ limits the nesting of values to 256 but not the parts of a key, and destroys its tables recursively: a key
/// with 100 000 dots would end the process.
constexpr int kMaxKeyParts = 64;

/// The line of the first key with more than kMaxKeyParts parts; 0 if none.
int line_of_endless_key(std::string_view text) {
  int line = 1;
  int dots = 0;
  char quote = 0;
  bool comment = false;
  for (const char c : text) {
    if (c == '\n') {
      ++line;
      dots = 0;
      quote = 0;
      comment = false;
    } else if (comment) {
      continue;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      comment = true;
    } else if (c == '=' || c == ',') {
      dots = 0;
    } else if (c == '.' && ++dots >= kMaxKeyParts) {
      return line;
    }
  }
  return 0;
}

/// The line of the first byte that is not UTF-8; 0 if all are. (toml++ decodes ahead and reports a line too early.)
int line_of_broken_utf8(std::string_view text) {
  int line = 1;
  int missing = 0;  // continuation bytes that must follow
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool continues = (byte & 0xC0U) == 0x80U;
    if (continues != (missing > 0)) return line;
    if (continues) {
      --missing;
    } else if (byte >= 0x80U) {
      missing = (byte & 0xE0U) == 0xC0U ? 1 : (byte & 0xF0U) == 0xE0U ? 2 : (byte & 0xF8U) == 0xF0U ? 3 : 0;
      if (missing == 0) return line;
    }
    if (c == '\n') ++line;
  }
  return missing > 0 ? line : 0;
}

SourcePosition position(const toml::source_region& source, const std::string& file) {
  return {file, static_cast<int>(source.begin.line), static_cast<int>(source.begin.column)};
}

bool before(const TomlEntry& a, const TomlEntry& b) {
  return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
}

TomlNode converted(const toml::node& node, const std::string& file, int depth);

TomlTable converted(const toml::table& table, const std::string& file, int depth) {
  TomlTable result;
  if (depth > kMaxDepth) return result;
  for (const auto& [key, node] : table)
    result.entries.push_back({std::string(key.str()), position(key.source(), file), converted(node, file, depth + 1)});
  std::stable_sort(result.entries.begin(), result.entries.end(), before);  // toml++ sorts by name
  return result;
}

std::vector<TomlNode> converted(const toml::array& array, const std::string& file, int depth) {
  std::vector<TomlNode> result;
  if (depth > kMaxDepth) return result;
  for (const auto& node : array) result.push_back(converted(node, file, depth + 1));
  return result;
}

TomlNode converted(const toml::node& node, const std::string& file, int depth) {
  TomlNode result{TomlDate{}, position(node.source(), file)};
  if (const auto* boolean = node.as_boolean()) result.value = boolean->get();
  if (const auto* integer = node.as_integer()) result.value = integer->get();
  if (const auto* number = node.as_floating_point()) result.value = number->get();
  if (const auto* string = node.as_string()) result.value = string->get();
  if (const auto* array = node.as_array()) result.value = converted(*array, file, depth);
  if (const auto* table = node.as_table()) result.value = converted(*table, file, depth);
  return result;
}

template <class T>
std::optional<T> exactly(const TomlNode& node) {
  const auto* value = std::get_if<T>(&node.value);
  return value == nullptr ? std::nullopt : std::optional<T>(*value);
}

template <class T>
std::optional<std::vector<T>> list_of(const TomlNode& node) {
  const auto* list = std::get_if<std::vector<TomlNode>>(&node.value);
  if (list == nullptr) return std::nullopt;
  std::vector<T> values;
  for (const auto& element : *list) {
    auto value = read_as<T>(element);
    if (!value) return std::nullopt;
    values.push_back(std::move(*value));
  }
  return values;
}

template <class T>
std::optional<T> any_scalar(const TomlNode& node) {
  if (auto boolean = exactly<bool>(node)) return boolean;
  if (auto integer = exactly<std::int64_t>(node)) return integer;
  if (auto number = exactly<double>(node)) return number;
  if (auto string = exactly<std::string>(node)) return string;
  return std::nullopt;
}

}  // namespace

std::optional<TomlTable> parse_toml(std::string_view text, const std::string& file, std::vector<Problem>& problems) {
  if (const int line = line_of_broken_utf8(text); line > 0) {
    problems.push_back(problem_of(Fact{FactCode::NotUtf8}, "save the file as UTF-8", {file, line, 0}));
    return std::nullopt;
  }
  if (const int line = line_of_endless_key(text); line > 0) {
    problems.push_back(problem_of(Fact{FactCode::KeyTooLong, {}, {{"parts", kMaxKeyParts}}}, "", {file, line, 0}));
    return std::nullopt;
  }
  try {
    return converted(toml::parse(text), file, 0);
  } catch (const toml::parse_error& error) {
    const auto reason = error.description();
    if (reason.find("redefine existing") != std::string_view::npos && reason.find("table") == std::string_view::npos) {
      // The message of toml++ garbles the name; its position is right.
      problems.push_back(
          problem_of(Fact{FactCode::KeyTwice},
                     "keep one; an output that feeds several inputs has a list: \"a.y\" = [\"b.u\", \"c.u\"]",
                     position(error.source(), file)));
      return std::nullopt;
    }
    problems.push_back(
        problem_of(Fact{FactCode::NotToml, {}, {{"why", error.description()}}}, "", position(error.source(), file)));
    return std::nullopt;
  }
}

template <>
std::optional<bool> read_as(const TomlNode& node) {
  return exactly<bool>(node);
}

template <>
std::optional<std::int64_t> read_as(const TomlNode& node) {
  return exactly<std::int64_t>(node);
}

template <>
std::optional<double> read_as(const TomlNode& node) {
  if (const auto integer = exactly<std::int64_t>(node)) return static_cast<double>(*integer);
  return exactly<double>(node);
}

template <>
std::optional<std::string> read_as(const TomlNode& node) {
  return exactly<std::string>(node);
}

template <>
std::optional<std::vector<double>> read_as(const TomlNode& node) {
  return list_of<double>(node);
}

template <>
std::optional<std::vector<std::string>> read_as(const TomlNode& node) {
  return list_of<std::string>(node);
}

template <>
std::optional<Value> read_as(const TomlNode& node) {
  return scalar(node);
}

template <>
std::optional<Isolation> read_as(const TomlNode& node) {
  if (const auto whether = exactly<bool>(node)) return *whether;
  if (auto name = exactly<std::string>(node); name && !name->empty()) return std::move(*name);
  return std::nullopt;
}

std::optional<Value> scalar(const TomlNode& node) {
  return any_scalar<Value>(node);
}

std::optional<OptionValue> option_value(const TomlNode& node) {
  if (auto value = any_scalar<OptionValue>(node)) return value;
  // Strings first: an empty list is one of names, the only lists that options have so far.
  if (auto names = list_of<std::string>(node)) return names;
  if (auto numbers = list_of<double>(node)) return numbers;
  const auto* table = std::get_if<TomlTable>(&node.value);
  if (table == nullptr) return std::nullopt;
  std::map<std::string, double> numbers;
  for (const auto& entry : table->entries) {
    const auto value = read_as<double>(entry.node);
    if (!value) return std::nullopt;
    numbers[entry.key] = *value;
  }
  return numbers;
}

std::string found(const TomlNode& node) {
  if (const auto value = any_scalar<OptionValue>(node)) return found(*value);
  if (std::holds_alternative<TomlDate>(node.value)) return "a date or time";
  return std::holds_alternative<TomlTable>(node.value) ? "a table" : "a list";
}

}  // namespace entrain::description
