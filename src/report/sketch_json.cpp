#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/units.hpp"
#include "description/run_keys.hpp"
#include "entrain/sketch.hpp"
#include "report/json_parts.hpp"

namespace entrain {
namespace {

using Json = nlohmann::ordered_json;

/// What the units of ports mean, so that an editor offers only what fits: the dimension, and value in SI = factor *
/// value + offset.
void add_unit_meanings(Json& list, const std::vector<Variable>& variables) {
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const auto meaning = base::unit_meaning(variables[i]);
    if (!meaning) continue;
    list[i]["si"] = {{"dimension", fmt::format("{}", fmt::join(meaning->exponents, " "))},
                     {"factor", meaning->factor},
                     {"offset", base::is_difference(*meaning) ? Json() : Json(meaning->offset)}};
  }
}

void add_tunable(Json& list, const std::vector<Variable>& variables) {
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (!variables[i].tunable) list[i]["tunable"] = false;
  }
}

Json variables_json(const VariableTable& variables) {
  Json json = reporting::json_of(variables);
  add_unit_meanings(json["inputs"], variables.inputs);
  add_unit_meanings(json["outputs"], variables.outputs);
  add_tunable(json["parameters"], variables.parameters);
  return json;
}

Json start_json(const SubsystemDescription& subsystem) {
  Json start = Json::object();
  for (const auto& [name, written] : subsystem.start) {
    start[name] = {{"value", reporting::json_of(written.value)}, {"line", written.where.line}};
  }
  return start;
}

Json subsystem_json(const SubsystemDescription& subsystem, const std::optional<SubsystemInspection>& inspection) {
  const std::string kind = !subsystem.fmu.empty()     ? "fmu"
                           : !subsystem.model.empty() ? "model"
                           : !subsystem.csv.empty()   ? "csv"
                                                      : "outside";
  Json json{{"name", subsystem.name},
            {"kind", kind},
            {"source", subsystem.fmu + subsystem.model + subsystem.csv},
            {"line", subsystem.where.line},
            {"start", start_json(subsystem)}};
  if (!inspection) return json;
  json["about"] = inspection->about;
  json["otherwise"] = inspection->otherwise;
  json["variables"] = variables_json(inspection->variables);
  json["capabilities"] = reporting::json_of(inspection->capabilities);
  json["warnings"] = reporting::json_of(inspection->warnings);
  return json;
}

Json connection_json(const ConnectionDescription& connection) {
  Json json{{"output", connection.output}, {"input", connection.input}, {"line", connection.where.line}};
  if (connection.factor != 1.0) json["factor"] = connection.factor;
  if (connection.offset != 0.0) json["offset"] = connection.offset;
  if (!connection.convert_units) json["convert_units"] = false;
  return json;
}

Json problem_json(const Problem& problem) {
  return {{"severity", problem.severity == Problem::Severity::Error ? "error" : "warning"},
          {"code", name_of(problem.fact.code)},
          {"subjects", problem.fact.subjects},
          {"text", problem.message},
          {"remedy", problem.remedy},
          {"file", problem.where.file},
          {"line", problem.where.line},
          {"column", problem.where.column}};
}

struct RunValue {
  template <class T>
  Json operator()(const Written<T>& written) const {
    Json json{{"line", written.where.line}};
    if constexpr (std::is_enum_v<T>) {
      json["value"] = to_word(written.value);
    } else {
      json["value"] = written.value;
    }
    if (written.where.line == 0 && !written.where.file.empty()) json["from"] = written.where.file;
    return json;
  }
  template <class T>
  Json operator()(const std::optional<Written<T>>& written) const {
    return written ? (*this)(*written) : Json();
  }
};

Json run_json(const SystemDescription& system) {
  Json run = Json::object();
  description::for_each_run_key([&](const auto& key) { run[std::string(key.name)] = RunValue()(system.*key.field); });
  Json recorded;
  if (system.record.variables) {
    recorded = Json::array();
    for (const auto& name : *system.record.variables) recorded.push_back(name.value);
  }
  run["recorded"] = std::move(recorded);
  Json schedule = Json::object();
  for (const auto& one : system.schedule) {
    for (const auto& entry : one.entries)
      schedule[one.variable].push_back({entry.time, reporting::json_of(entry.value)});
  }
  run["schedule"] = std::move(schedule);
  return run;
}

}  // namespace

std::string sketch_json(const SystemSketch& sketch) {
  Json subsystems = Json::array();
  for (std::size_t s = 0; s < sketch.description.subsystems.size(); ++s) {
    subsystems.push_back(subsystem_json(sketch.description.subsystems[s],
                                        s < sketch.subsystems.size() ? sketch.subsystems[s] : std::nullopt));
  }
  Json connections = Json::array();
  for (const auto& connection : sketch.description.connections) connections.push_back(connection_json(connection));
  Json problems = Json::array();
  for (const auto& problem : sketch.problems) problems.push_back(problem_json(problem));
  Json methods = Json::array();
  for (const auto& fitness : sketch.methods) {
    methods.push_back({{"name", fitness.method},
                       {"obstacles", reporting::json_of(fitness.obstacles)},
                       {"notes", reporting::json_of(fitness.notes)}});
  }
  return reporting::json_text({{"name", sketch.description.name},
                               {"understood", sketch.is_toml},
                               {"run", run_json(sketch.description)},
                               {"subsystems", std::move(subsystems)},
                               {"connections", std::move(connections)},
                               {"loops", sketch.loops},
                               {"sequence", sketch.sequence},
                               {"methods", std::move(methods)},
                               {"problems", std::move(problems)}});
}

}  // namespace entrain
