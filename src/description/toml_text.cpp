#include "description/toml_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/values.hpp"

namespace entrain::description {
namespace {

std::string text_of(bool value) {
  return value ? "true" : "false";
}
std::string text_of(std::int64_t value) {
  return std::to_string(value);
}
std::string text_of(double value) {
  return toml_text(value);
}
std::string text_of(const std::string& value) {
  return toml_text(std::string_view(value));
}

/// TOML has no integers beyond 63 bits; a text of digits is read back (base/values.hpp).
std::string text_of(std::uint64_t value) {
  const auto text = std::to_string(value);
  return std::in_range<std::int64_t>(value) ? text : toml_text(std::string_view(text));
}
std::string text_of(const Binary& value) {
  return toml_text(std::string_view(value_text(value)));
}

template <class T>
std::string text_of(const std::vector<T>& list) {
  std::vector<std::string> texts;
  texts.reserve(list.size());
  for (const auto& element : list) texts.push_back(text_of(element));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string text_of(const std::map<std::string, double>& numbers) {
  if (numbers.empty()) return "{}";
  std::vector<std::string> texts;
  texts.reserve(numbers.size());
  for (const auto& [key, value] : numbers) texts.push_back(fmt::format("{} = {}", toml_key(key), toml_text(value)));
  return fmt::format("{{ {} }}", fmt::join(texts, ", "));
}

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/// Names the kind of a value before its text; long strings are cut, messages are lines.
struct Found {
  std::string operator()(bool value) const { return fmt::format("the boolean {}", value); }
  std::string operator()(std::int64_t value) const { return fmt::format("the integer {}", value); }
  std::string operator()(double value) const { return fmt::format("the number {}", toml_text(value)); }
  std::string operator()(const std::string& value) const {
    constexpr std::size_t kShown = 40;
    if (value.size() <= kShown) return fmt::format("the string {}", toml_text(std::string_view(value)));
    return fmt::format("a string of {} characters", value.size());
  }
  template <class T>
  std::string operator()(const std::vector<T>&) const {
    return "a list";
  }
  std::string operator()(const std::map<std::string, double>&) const { return "a table"; }
};

}  // namespace

std::string toml_text(double value) {
  if (std::isnan(value)) return "nan";
  std::string text = fmt::format("{}", value);
  const bool reads_as_integer = text.find_first_of(".en") == std::string::npos;  // "inf" is a double too
  return reads_as_integer ? text + ".0" : text;
}

std::string toml_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (code < 0x20 || code == 0x7f) {
      result += fmt::format("\\u{:04X}", static_cast<unsigned>(code));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string toml_text(const OptionValue& value) {
  return std::visit([](const auto& v) { return text_of(v); }, value);
}

std::string toml_text(const Value& value) {
  return std::visit([](const auto& v) { return text_of(v); }, value);
}

std::string toml_key(std::string_view key) {
  const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), is_bare);
  return bare ? std::string(key) : toml_text(key);
}

std::string found(const OptionValue& value) {
  return std::visit(Found{}, value);
}

}  // namespace entrain::description
