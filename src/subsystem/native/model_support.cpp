#include "subsystem/native/model_support.hpp"

#include <algorithm>
#include <utility>

#include "base/suggest.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::subsystem {

Variable real(std::string name, std::string unit, std::string description) {
  return {std::move(name), std::move(unit), std::move(description), ValueType::Real, std::nullopt};
}

Variable real(std::string name, std::string unit, std::string description, double start) {
  return {std::move(name), std::move(unit), std::move(description), ValueType::Real, Value(start)};
}

Variable text(std::string name, std::string description, std::string start) {
  return {std::move(name), "", std::move(description), ValueType::String, Value(std::move(start))};
}

double ParameterReader::positive(std::string_view name) const {
  const double given = number(name);
  if (given > 0.0) return given;
  throw Error(ErrorCode::InvalidSystem, {FactCode::ParameterNotPositive, {std::string(name)}, {{"value", given}}},
              {"", std::string(name), std::nullopt, ""});
}

const std::string& ParameterReader::choice(std::string_view name, const std::vector<std::string>& choices) const {
  const auto& given = std::get<std::string>(value(name));
  if (std::find(choices.begin(), choices.end(), given) != choices.end()) return given;
  throw Error(ErrorCode::InvalidSystem, {FactCode::ParameterWord, {std::string(name)}, {{"value", given}}},
              {"", std::string(name), std::nullopt, suggestion(given, choices)});
}

const Value& ParameterReader::value(std::string_view name) const {
  const auto& list = variables_.parameters;
  const auto found = std::find_if(list.begin(), list.end(), [&](const Variable& v) { return v.name == name; });
  return values_[static_cast<std::size_t>(found - list.begin())];
}

}  // namespace entrain::subsystem
