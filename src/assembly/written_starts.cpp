#include "assembly/written_starts.hpp"

#include <fmt/format.h>

#include <optional>

#include "base/suggest.hpp"
#include "base/units.hpp"
#include "base/values.hpp"
#include "description/toml_text.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::assembly {
namespace {

/// The value in the unit of its variable; nullopt for what the subsystem does not know, which parameter sets may
/// hold, and for a unit that measures something else, which is a problem.
std::optional<Value> in_own_unit(const VariableTable& variables, const SubsystemDescription& description,
                                 const std::string& name, const OptionalStart& start, std::vector<Problem>& problems) {
  const auto place = variables.find_startable(name);
  if (!place) {
    problems.push_back(problem_of(Fact{FactCode::StartIgnored, {description.name, name}}, "", start.where));
    return std::nullopt;
  }
  const Variable& variable = variables.at(*place);
  if (start.unit.empty() || variable.unit.empty() || start.unit == variable.unit) return start.value;
  const auto source = base::unit_meaning(start.unit);
  const auto target = base::unit_meaning(variable);
  const auto conversion = source && target ? base::unit_conversion(*source, *target) : std::nullopt;
  const auto number = base::converted(start.value, ValueType::Real);
  if (conversion && number && variable.type == ValueType::Real)
    return conversion->factor * std::get<double>(*number) + conversion->offset;
  problems.push_back(problem_of(
      {FactCode::StartUnit,
       {fmt::format("{}.{}", description.name, name)},
       {{"unit", variable.unit}, {"written", start.unit}}},
      source && target ? "the units measure different things" : "one of the units is not known: convert by hand",
      start.where));
  return std::nullopt;
}

}  // namespace

WrittenStarts starts_of(const SubsystemDescription& description, const VariableTable& variables,
                        std::vector<Problem>& problems) {
  const auto own_name = [&](const std::string& name) {
    const auto place = variables.find_startable(name);
    return place ? variables.at(*place).name : name;
  };
  WrittenStarts starts;
  std::map<std::string, std::string> written_as;
  for (const auto& [name, written] : description.start) {
    const auto [earlier, is_new] = written_as.insert({own_name(name), name});
    starts.insert({earlier->first, written});
    if (is_new) continue;
    problems.push_back(problem_of(
        {FactCode::StartTwice,
         {fmt::format("{}.{}", description.name, earlier->second), fmt::format("{}.{}", description.name, name)}},
        "leave one of them out", written.where));
  }
  for (const auto& [name, start] : description.optional_start) {
    if (starts.contains(own_name(name))) continue;
    if (auto value = in_own_unit(variables, description, name, start, problems))
      starts.insert({own_name(name), {std::move(*value), start.where}});
  }
  return starts;
}

Problem wrong_value(const std::string& name, const Variable& variable, const Value& written,
                    const SourcePosition& where) {
  const std::string text = value_text(written);
  if (variable.items && std::holds_alternative<std::string>(written)) {
    std::vector<std::string> names;
    names.reserve(variable.items->size());
    for (const auto& [item, value] : *variable.items) names.push_back(item);
    return problem_of({FactCode::UnknownItem, {name}, {{"value", text}}}, suggestion(text, names), where);
  }
  std::string remedy;
  if (variable.type == ValueType::String) {
    const std::string quoted = description::toml_text(std::string_view(text));
    const bool is_typed = where.file.starts_with("--set");
    remedy = "write it in quotes: " + (is_typed ? fmt::format("--set '{}={}'", name, quoted) : quoted);
  }
  return problem_of({FactCode::WrongValueType,
                     {name},
                     {{"expected", base::kind_of(variable.type)}, {"found", base::kind_of(written)}}},
                    std::move(remedy), where);
}

}  // namespace entrain::assembly
