#include "report/system_schema.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "description/run_keys.hpp"
#include "description/scenario_keys.hpp"
#include "description/subsystem_keys.hpp"
#include "report/json_parts.hpp"

namespace entrain::reporting {
namespace {

using Json = nlohmann::ordered_json;

/// A table that has these keys and no others.
Json table_of(Json properties, const std::string& description) {
  return {{"type", "object"},
          {"description", description},
          {"additionalProperties", false},
          {"properties", std::move(properties)}};
}

/// A table with names of the user.
Json named(Json value, const std::string& description) {
  return {{"type", "object"}, {"description", description}, {"additionalProperties", std::move(value)}};
}

Json list_of(Json items, const std::string& description) {
  return {{"type", "array"}, {"items", std::move(items)}, {"description", description}};
}

Json text(const std::string& description) {
  return {{"type", "string"}, {"description", description}};
}

Json scalar() {
  return {{"type", Json::array({"number", "boolean", "string"})}};
}

template <class T>
Json value_type() {
  if constexpr (Choice<T>) {
    auto words = Json::array();
    for (const auto word : words_of<T>()) words.push_back(word);
    return {{"enum", words}};
  } else if constexpr (std::is_same_v<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return {{"type", "integer"}};
  } else if constexpr (std::is_same_v<T, double>) {
    return {{"type", "number"}};
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    return {{"type", "array"}, {"items", {{"type", "number"}}}};
  } else if constexpr (std::is_same_v<T, Isolation>) {
    return {{"type", Json::array({"boolean", "string"})}};
  } else {
    static_assert(std::is_same_v<T, std::string>);
    return {{"type", "string"}};
  }
}

template <class T>
struct TypeOf;
template <class T>
struct TypeOf<Written<T>> {
  using type = T;
};
template <class T>
struct TypeOf<std::optional<Written<T>>> {
  using type = T;
};

void add_limits(Json& schema, const description::KeyLimits& limits) {
  if (std::isfinite(limits.min)) schema[limits.above_min ? "exclusiveMinimum" : "minimum"] = limits.min;
  if (std::isfinite(limits.max)) schema["maximum"] = limits.max;
}

Json run_schema(const std::vector<MethodInfo>& methods) {
  auto names = Json::array({default_method()});
  for (const auto& method : methods) names.push_back(method.traits.name);
  Json properties;
  description::for_each_run_key([&](const auto& key) {
    Json schema = value_type<typename TypeOf<std::remove_cvref_t<decltype(SystemDescription{}.*key.field)>>::type>();
    if (key.name == "method") schema["examples"] = names;
    add_limits(schema, key.limits);
    schema["description"] = key.help;
    properties[std::string(key.name)] = std::move(schema);
  });
  properties["tolerances"] = named({{"type", "number"}, {"exclusiveMinimum", 0}, {"maximum", 1}},
                                   "tolerances of single outputs: \"gearbox.torque\" = 0.001");
  properties["exclude"] = list_of({{"type", "string"}, {"examples", names}}, "methods that auto and advise leave out");
  properties["open"] = list_of({{"type", "string"}},
                               "inputs of FMUs that are meant to keep the start value of the FMU; patterns with *");
  return table_of(std::move(properties), "when, how and with which tolerance");
}

Json option_type(const std::string& type) {
  if (type == "number" || type == "integer" || type == "boolean") return {{"type", type}};
  if (type == "list of names") return {{"type", "array"}, {"items", {{"type", "string"}}}};
  if (type == "list of numbers") return {{"type", "array"}, {"items", {{"type", "number"}}}};
  if (type == "table of numbers") return {{"type", "object"}, {"additionalProperties", {{"type", "number"}}}};
  auto words = Json::array();
  for (std::size_t begin = 0; begin <= type.size();) {
    const auto end = std::min(type.find(" | ", begin), type.size());
    words.push_back(type.substr(begin, end - begin));
    begin = end + 3;
  }
  return {{"enum", words}};
}

Json methods_schema(const std::vector<MethodInfo>& methods) {
  Json properties = Json::object();
  for (const auto& method : methods) {
    Json options = Json::object();
    for (const auto& option : method.options) {
      Json schema = option_type(option.type);
      schema["description"] = fmt::format("{}; default {}", option.help, option.default_value);
      options[option.name] = std::move(schema);
    }
    properties[method.traits.name] = table_of(std::move(options), method.traits.summary);
  }
  // Programs that embed the engine add methods of their own.
  return {{"type", "object"}, {"description", "options of methods"}, {"properties", std::move(properties)}};
}

/// A part outside, by datagrams or by shared memory.
Json outside_schema(Json own, const std::string& description) {
  const Json positive{{"type", "number"}, {"exclusiveMinimum", 0}};
  const Json ports{{"type", "array"}, {"items", {{"type", "string"}}}};
  Json properties = std::move(own);
  properties["inputs"] = ports;
  properties["outputs"] = ports;
  for (const char* name : {"step", "timeout"}) properties[name] = positive;
  properties["wait"] = {{"type", "number"}, {"minimum", 0}};
  properties["missing"] = value_type<MissingOutputs>();
  return table_of(std::move(properties), description);
}

Json subsystem_schema() {
  Json properties;
  auto sources = Json::array();
  for (const auto& source : description::kSubsystemSources) {
    properties[std::string(source.name)] = text(std::string(source.help));
    sources.push_back({{"required", Json::array({source.name})}});
  }
  description::for_each_subsystem_key([&](const auto& key) {
    using Field = std::remove_cvref_t<decltype(SubsystemDescription{}.*key.field)>;
    Json schema = value_type<typename TypeOf<Field>::type>();
    add_limits(schema, key.limits);
    schema["description"] = fmt::format("{}{}{}", key.unit, key.unit.empty() ? "" : "; ", key.help);
    properties[std::string(key.name)] = std::move(schema);
  });
  properties["start"] = named(scalar(), "parameters, states and inputs by name");
  const Json with_unit{{"type", "object"},
                       {"required", Json::array({"value"})},
                       {"additionalProperties", false},
                       {"properties", {{"value", scalar()}, {"unit", {{"type", "string"}}}}}};
  properties["optional_start"] =
      named({{"anyOf", Json::array({scalar(), with_unit})}}, "as start, but ignored where there is no such variable");
  properties["udp"] =
      outside_schema({{"local", text("address and port, or a port on loopback")}, {"remote", text("of the rig")}},
                     "a part outside, by datagrams");
  properties["shm"] =
      outside_schema({{"name", text("of the shared memory")}}, "a part outside, in a process on this machine");
  Json schema = table_of(std::move(properties), "an FMU, a built-in model, a table over time or a part outside");
  // What a part outside is made of stands in for it, and may be left out.
  schema["anyOf"] = Json::array({{{"oneOf", std::move(sources)}}, {{"required", {"udp"}}}, {{"required", {"shm"}}}});
  return schema;
}

Json pairs(Json first, const std::string& description) {
  Json pair{{"type", "array"}, {"minItems", 2}, {"maxItems", 2}, {"prefixItems", Json::array({std::move(first)})}};
  pair["items"] = scalar();
  return list_of(std::move(pair), description);
}

Json connections_schema() {
  const Json scaled{{"type", "object"},
                    {"required", Json::array({"to"})},
                    {"additionalProperties", false},
                    {"properties",
                     {{"to", text("the input")},
                      {"factor", {{"type", "number"}}},
                      {"offset", {{"type", "number"}}},
                      {"units", {{"type", "boolean"}, {"description", "convert units first"}}},
                      {"table", pairs(scalar(), "[value of the output, value of the input]")}}}};
  const Json input{{"anyOf", Json::array({{{"type", "string"}}, scaled})}};
  return named({{"anyOf", Json::array({input, list_of(input, "several inputs")})}},
               "\"subsystem.output\" = \"subsystem.input\", or a list of inputs");
}

Json sweep_schema() {
  Json properties{
      {"sampling", {{"enum", Json::array({"grid", "latin-hypercube", "random", "sobol"})}}},
      {"list", text("a CSV file with a column for each variation and a case in each row")},
      {"cases", {{"type", "integer"}, {"minimum", 1}, {"description", "how many; without: all combinations"}}},
      {"seed", {{"type", "integer"}, {"description", "decides all values"}}},
      {"quantities", list_of({{"type", "string"}}, "\"motor.w\", \"peak = max(motor.w) - last(motor.w)\"")}};
  properties["vary"] =
      named({{"type", "string"}}, "\"0.4..0.6/5\", \"1, 2, 4\", \"uniform(0.4, 0.6)\", \"normal(0.5, 0.1)\"");
  return table_of(std::move(properties), "many runs of the system (entrain sweep)");
}

Json scenario_schema() {
  Json properties;
  auto actions = Json::array();
  for (const auto& [action, word] : ChoiceNames<ScenarioAction>::all) {
    properties[std::string(word)] = text("an input, an output, \"a.y -> b.u\" or a tunable parameter");
    actions.push_back({{"required", Json::array({word})}});
  }
  description::for_each_scenario_key([&](const auto& key) {
    using Field = std::remove_cvref_t<decltype(ScenarioDescription{}.*key.field)>;
    using Type = typename TypeOf<Field>::type;
    Json schema;
    if constexpr (std::is_same_v<Type, Value>) {
      schema = scalar();
    } else {
      schema = value_type<Type>();
    }
    add_limits(schema, key.limits);
    schema["description"] = key.help;
    properties[std::string(key.name)] = std::move(schema);
  });
  Json entry = table_of(std::move(properties), "what happens, to what and when (docs/scenarios.md)");
  entry["oneOf"] = std::move(actions);
  entry["anyOf"] = Json::array({{{"required", {"at"}}}, {{"required", {"when"}}}});
  return list_of(std::move(entry), "what happens during the run");
}

Json record_schema() {
  return table_of(
      {{"variables", list_of({{"type", "string"}}, "patterns with *; without: all outputs")},
       {"format", {{"enum", kRecordFormats}, {"description", "of the results; default csv"}}},
       {"interval", {{"type", "number"}, {"exclusiveMinimum", 0}, {"description", "s between rows, interpolated"}}}},
      "what is kept of the run");
}

}  // namespace

std::string system_schema_json(const std::vector<MethodInfo>& methods) {
  Json bond = list_of({{"type", "string"}}, "two to four variables whose product is a power");
  bond["minItems"] = 2;
  bond["maxItems"] = 4;
  Json constraint = list_of({{"type", "string"}}, "two outputs that are equal, and the inputs that the force acts on");
  constraint["minItems"] = constraint["maxItems"] = 4;
  return json_text(
      {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
       {"title", "Entrain system file"},
       {"type", "object"},
       {"additionalProperties", false},
       {"properties",
        {{"run", run_schema(methods)},
         {"method", methods_schema(methods)},
         {"subsystems", named(subsystem_schema(), "the parts, by name")},
         {"connections", connections_schema()},
         {"bonds", named(std::move(bond), "power bonds, whose residual energy is measured")},
         {"constraints", named(std::move(constraint), "rigid connections, whose force is found at every macro step")},
         {"schedule", named(pairs({{"type", "number"}}, "[time in s, value]"), "values that change while it runs")},
         {"scenario", scenario_schema()},
         {"placement", named({{"type", "integer"}, {"minimum", 0}}, "ranks of subsystems, by their names")},
         {"sweep", sweep_schema()},
         {"record", record_schema()}}}});
}

}  // namespace entrain::reporting
