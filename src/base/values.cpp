#include "base/values.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace entrain {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

std::string hexadecimal(const Binary& binary) {
  std::string text;
  text.reserve(2 * binary.bytes.size());
  for (const std::uint8_t byte : binary.bytes) text += {kDigits[byte >> 4U], kDigits[byte & 15U]};
  return text;
}

std::optional<Value> bytes_of(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  Binary binary;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    std::uint8_t byte = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    if (error != std::errc() || end != text.data() + i + 2) return std::nullopt;
    binary.bytes.push_back(byte);
  }
  return binary;
}

template <class Integer>
std::optional<Value> number_in(std::string_view text) {
  Integer number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Value> unsigned_of(const Value& written) {
  if (const auto* integer = std::get_if<std::int64_t>(&written); integer != nullptr && *integer >= 0) {
    return static_cast<std::uint64_t>(*integer);
  }
  const auto* text = std::get_if<std::string>(&written);
  return text == nullptr ? std::nullopt : number_in<std::uint64_t>(*text);
}

struct TextOf {
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(const Binary& binary) const { return hexadecimal(binary); }
  template <class T>
  std::string operator()(const T& plain) const {
    return fmt::format("{}", plain);
  }
};

struct Number {
  double operator()(const std::string&) const { return std::numeric_limits<double>::quiet_NaN(); }
  double operator()(const Binary&) const { return std::numeric_limits<double>::quiet_NaN(); }
  template <class T>
  double operator()(const T& plain) const {
    return static_cast<double>(plain);
  }
};

}  // namespace

std::string short_number(double value) {
  return fmt::format("{:.6g}", value);
}

std::string value_text(const Value& value) {
  return std::visit(TextOf{}, value);
}

}  // namespace entrain

namespace entrain::base {

double number_of(const Value& value) {
  return std::visit(Number{}, value);
}

std::optional<Value> converted(const Value& written, ValueType type) {
  if (written.index() == static_cast<std::size_t>(type)) return written;
  const auto* text = std::get_if<std::string>(&written);
  if (type == ValueType::Unsigned) return unsigned_of(written);
  if (type == ValueType::Binary && text != nullptr) return bytes_of(*text);
  const auto* integer = std::get_if<std::int64_t>(&written);
  if (type == ValueType::Real && integer != nullptr) return static_cast<double>(*integer);
  return std::nullopt;
}

std::optional<Value> converted(const Value& written, const Variable& variable) {
  const auto* text = std::get_if<std::string>(&written);
  if (text == nullptr || variable.declared_type != "Enumeration") return converted(written, variable.type);
  if (variable.items) {
    for (const auto& [name, value] : *variable.items) {
      if (name == *text) return value;
    }
  }
  return number_in<std::int64_t>(*text);
}

std::string_view kind_of(const Value& written) {
  return kind_of(static_cast<ValueType>(written.index()));
}

std::string_view kind_of(ValueType type) {
  constexpr std::array<std::string_view, 6> kKinds{
      "a number", "an integer", "a boolean", "a string", "an integer that is not negative", "hexadecimal digits"};
  return kKinds[static_cast<std::size_t>(type)];
}

std::string_view type_name(const Variable& variable) {
  constexpr std::array<std::string_view, 6> kNames{"Real", "Integer", "Boolean", "String", "UInt64", "Binary"};
  if (!variable.declared_type.empty()) return variable.declared_type;
  return kNames[static_cast<std::size_t>(variable.type)];
}

}  // namespace entrain::base
