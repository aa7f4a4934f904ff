#include "report/json_parts.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <utility>

#include "base/values.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::reporting {
namespace {

using Json = nlohmann::ordered_json;

struct JsonValue {
  Json operator()(const Binary& binary) const { return value_text(binary); }
  template <class T>
  Json operator()(const T& plain) const {
    return plain;
  }
};

Json list_of(const std::vector<Variable>& variables) {
  Json list = Json::array();
  for (const auto& variable : variables) {
    Json entry{{"name", variable.name}, {"unit", variable.unit}, {"start", nullptr}};
    if (variable.start) entry["start"] = json_of(*variable.start);
    entry["description"] = variable.description;
    entry["type"] = base::type_name(variable);
    if (variable.items) {
      for (const auto& [name, value] : *variable.items) entry["values"][name] = value;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

Json pairs_of(const Feedthrough& feedthrough) {
  Json pairs = Json::array();
  for (std::size_t output = 0; output < feedthrough.outputs(); ++output) {
    for (std::size_t input = 0; input < feedthrough.inputs(); ++input) {
      if (feedthrough(output, input)) pairs.push_back({output, input});
    }
  }
  return pairs;
}

}  // namespace

Json json_of(const Capabilities& capabilities) {
  Json json{{"rollback", capabilities.rollback},
            {"input_degree", capabilities.input_degree},
            {"output_derivative_order", capabilities.output_derivative_order},
            {"states", capabilities.states},
            {"state_derivatives", capabilities.state_derivatives},
            {"linearization", capabilities.linearization},
            {"output_refresh", capabilities.output_refresh},
            {"equations", capabilities.equations},
            {"announces_events", capabilities.announces_events},
            {"reset", capabilities.reset}};
  if (capabilities.function) json["function"] = true;
  if (capabilities.once_per_process) json["once_per_process"] = true;
  if (capabilities.imposed_step) json["imposed_step"] = *capabilities.imposed_step;
  if (capabilities.step_offset > 0.0) json["step_offset"] = capabilities.step_offset;
  if (capabilities.min_step) json["min_step"] = *capabilities.min_step;
  if (capabilities.max_step) json["max_step"] = *capabilities.max_step;
  if (capabilities.initial_step) json["initial_step"] = *capabilities.initial_step;
  if (capabilities.internal_step) json["internal_step"] = *capabilities.internal_step;
  if (capabilities.substeps > 1) json["substeps"] = capabilities.substeps;
  json["feedthrough"] = pairs_of(capabilities.feedthrough);
  const CapabilityUse& tried = capabilities.tried;
  const std::array<std::pair<const char*, bool>, 5> all{{{"rollback", tried.rollback},
                                                         {"linearization", tried.linearization},
                                                         {"input_degree", tried.input_degree},
                                                         {"output_derivative_order", tried.output_derivatives},
                                                         {"reset", tried.reset}}};
  for (const auto& [name, is_known] : all) {
    if (!is_known) json["untried"].push_back(name);
  }
  return json;
}

Json json_of(const VariableTable& variables) {
  return {{"inputs", list_of(variables.inputs)},
          {"outputs", list_of(variables.outputs)},
          {"states", list_of(variables.states)},
          {"parameters", list_of(variables.parameters)},
          {"discrete_inputs", list_of(variables.discrete_inputs)},
          {"discrete_outputs", list_of(variables.discrete_outputs)},
          {"locals", list_of(variables.locals)}};
}

Json json_of(const OptionValue& value) {
  return std::visit([](const auto& plain) { return Json(plain); }, value);
}

nlohmann::ordered_json json_of(const Fact& fact) {
  auto values = nlohmann::ordered_json::object();
  auto units = nlohmann::ordered_json::object();
  for (const auto& [name, value, unit] : fact.values) {
    if (const auto* number = std::get_if<double>(&value)) {
      values[name] = *number;
    } else {
      values[name] = std::get<std::string>(value);
    }
    if (!unit.empty()) units[name] = unit;
  }
  nlohmann::ordered_json json{{"code", name_of(fact.code)},
                              {"kind", to_string(kind_of(fact.code))},
                              {"subjects", fact.subjects},
                              {"values", std::move(values)},
                              {"units", std::move(units)}};
  if (!fact.remedy.empty()) json["remedy"] = fact.remedy;
  if (!fact.where.file.empty()) {
    json["where"] = {{"file", fact.where.file}, {"line", fact.where.line}, {"column", fact.where.column}};
  }
  json["text"] = render(fact);
  return json;
}

nlohmann::ordered_json json_of(std::span<const Fact> facts) {
  auto list = nlohmann::ordered_json::array();
  for (const Fact& fact : facts) list.push_back(json_of(fact));
  return list;
}

nlohmann::ordered_json json_of(const Error& error) {
  auto json = json_of(error.fact());
  const auto& [subsystem, variable, time, remedy] = error.context();
  if (!subsystem.empty()) json["subsystem"] = subsystem;
  if (!variable.empty()) json["variable"] = variable;
  if (time) json["time"] = *time;
  json["text"] = error.what();
  return json;
}

Fact fact_from(const nlohmann::ordered_json& json) {
  const auto code = fact_code(json.value("code", ""));
  if (!code) {
    auto text = json.value("text", "");
    return json.value("kind", "") == to_string(FactKind::Warning) ? custom_warning(std::move(text))
                                                                  : custom_note(std::move(text));
  }
  Fact fact{*code, json.value("subjects", std::vector<std::string>())};
  const auto units = json.value("units", nlohmann::ordered_json::object());
  const auto values = json.value("values", nlohmann::ordered_json::object());
  for (const auto& [name, value] : values.items()) {
    if (value.is_string()) {
      fact.values.emplace_back(name, value.get<std::string>());
    } else {  // null is a number that was not finite
      fact.values.emplace_back(name, value.is_number() ? value.get<double>() : std::nan(""), units.value(name, ""));
    }
  }
  fact.remedy = json.value("remedy", "");
  if (const auto where = json.find("where"); where != json.end()) {
    fact.where = {where->value("file", ""), where->value("line", 0), where->value("column", 0)};
  }
  return fact;
}

void append(Json& object, const std::string& key, Json value) {
  object.get_ref<Json::object_t&>().push_back({key, std::move(value)});
}

Json json_of(const Value& value) {
  return std::visit(JsonValue{}, value);
}

std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace entrain::reporting
