#include "subsystem/fmi/fmi_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/values.hpp"
#include "base/xml.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::subsystem {
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
// xs:boolean has the first four; Python tools write the others.
constexpr std::array<std::pair<std::string_view, bool>, 6> kBooleans{
    {{"true", true}, {"false", false}, {"1", true}, {"0", false}, {"True", true}, {"False", false}}};

std::optional<Value> boolean_in(std::string_view text) {
  const auto words = words_in(text);  // blanks around it are allowed
  const auto value = words.size() == 1 ? named(kBooleans, words.front()) : std::nullopt;
  return value ? std::optional<Value>(*value) : std::nullopt;
}

bool fits(double number, FmuType type) {
  return type != FmuType::Float32 || fits_float32(number);
}
bool fits(std::uint64_t, FmuType) {
  return true;
}
bool fits(std::int64_t number, FmuType type) {
  switch (type) {
    case FmuType::Int8: return std::in_range<std::int8_t>(number);
    case FmuType::UInt8: return std::in_range<std::uint8_t>(number);
    case FmuType::Int16: return std::in_range<std::int16_t>(number);
    case FmuType::UInt16: return std::in_range<std::uint16_t>(number);
    case FmuType::Int32: return std::in_range<std::int32_t>(number);
    case FmuType::UInt32: return std::in_range<std::uint32_t>(number);
    default: return true;
  }
}

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

void refuse_float32(double number, ErrorContext context) {
  context.remedy = "Keep it in the range of that type";
  throw Error(ErrorCode::InvalidSystem, {FactCode::ValueDoesNotFit, {}, {{"value", number}, {"type", "Float32"}}},
              std::move(context));
}

const Value* start_of(const FmuVariable& array, std::size_t element) {
  const auto& start = array.array_start;
  if (start.size() == 1) return &start.front();
  return element < start.size() ? &start[element] : nullptr;
}

std::optional<Value> value_in(std::string_view text, FmuType type) {
  const auto in_variant = [&](const auto& number) {
    return number && fits(*number, type) ? std::optional<Value>(*number) : std::nullopt;
  };
  switch (value_type(type).value_or(ValueType::String)) {
    case ValueType::Real: return in_variant(base::xml_number<double>(text));
    case ValueType::Integer: return in_variant(base::xml_number<std::int64_t>(text));
    case ValueType::Unsigned: return in_variant(base::xml_number<std::uint64_t>(text));
    case ValueType::Boolean: return boolean_in(text);
    case ValueType::Binary: return base::converted(std::string(text), ValueType::Binary);
    case ValueType::String: break;
  }
  return std::string(text);
}

}  // namespace entrain::subsystem
