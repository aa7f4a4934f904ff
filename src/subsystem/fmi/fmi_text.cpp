#include "subsystem/fmi/fmi_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/values.hpp"
#include "base/xml.hpp"

namespace entrain {
namespace {
constexpr std::string_view kBlanks = " \t\n\r";

constexpr std::array<std::string_view, 15> kTypeNames{"Float32", "Float64", "Int8",        "UInt8",  "Int16",
                                                      "UInt16",  "Int32",   "UInt32",      "Int64",  "UInt64",
                                                      "Boolean", "String",  "Enumeration", "Binary", "Clock"};

template <class Enum, std::size_t N>
std::optional<Enum> named(const std::array<std::pair<std::string_view, Enum>, N>& names, std::string_view name) {
  for (const auto& [text, value] : names) {
    if (text == name) return value;
  }
  return std::nullopt;
}

constexpr std::array<std::pair<std::string_view, FmuCausality>, 7> kCausalities{
    {{"parameter", FmuCausality::Parameter},
     {"calculatedParameter", FmuCausality::CalculatedParameter},
     {"structuralParameter", FmuCausality::StructuralParameter},
     {"input", FmuCausality::Input},
     {"output", FmuCausality::Output},
     {"local", FmuCausality::Local},
     {"independent", FmuCausality::Independent}}};
constexpr std::array<std::pair<std::string_view, FmuVariability>, 5> kVariabilities{
    {{"constant", FmuVariability::Constant},
     {"fixed", FmuVariability::Fixed},
     {"tunable", FmuVariability::Tunable},
     {"discrete", FmuVariability::Discrete},
     {"continuous", FmuVariability::Continuous}}};
constexpr std::array<std::pair<std::string_view, FmuInitial>, 3> kInitials{
    {{"exact", FmuInitial::Exact}, {"approx", FmuInitial::Approximate}, {"calculated", FmuInitial::Calculated}}};

}  // namespace

std::string_view to_string(FmuType type) {
  return kTypeNames[static_cast<std::size_t>(type)];
}

std::optional<FmuType> type_named(std::string_view name) {
  const auto found = std::find(kTypeNames.begin(), kTypeNames.end(), name);
  if (found == kTypeNames.end()) return std::nullopt;
  return static_cast<FmuType>(found - kTypeNames.begin());
}

std::optional<FmuCausality> causality_named(std::string_view name) {
  return named(kCausalities, name);
}

std::optional<FmuVariability> variability_named(std::string_view name) {
  return named(kVariabilities, name);
}

std::optional<FmuInitial> initial_named(std::string_view name) {
  return named(kInitials, name);
}

std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = text.find_first_not_of(kBlanks); begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::optional<ValueType> value_type(FmuType type) {
  switch (type) {
    case FmuType::Float32:
    case FmuType::Float64: return ValueType::Real;
    case FmuType::Boolean: return ValueType::Boolean;
    case FmuType::String: return ValueType::String;
    case FmuType::UInt64: return ValueType::Unsigned;
    case FmuType::Binary: return ValueType::Binary;
    case FmuType::Clock: return std::nullopt;
    default: return ValueType::Integer;
  }
}

std::optional<Value> value_in(std::string_view text, FmuType type) {
  const auto in_variant = [](const auto& number) { return number ? std::optional<Value>(*number) : std::nullopt; };
  switch (value_type(type).value_or(ValueType::String)) {
    case ValueType::Real: return in_variant(xml_number<double>(text));
    case ValueType::Integer: return in_variant(xml_number<std::int64_t>(text));
    case ValueType::Unsigned: return in_variant(xml_number<std::uint64_t>(text));
    case ValueType::Boolean: return text.starts_with('t') || text.starts_with('T') || text.starts_with('1');
    case ValueType::Binary: return converted(std::string(text), ValueType::Binary);
    case ValueType::String: break;
  }
  return std::string(text);
}

}  // namespace entrain
