#include <nlohmann/json.hpp>

#include "entrain/inspection.hpp"
#include "report/json_parts.hpp"

namespace entrain {

std::string inspection_json(const SystemInspection& inspection) {
  auto subsystems = nlohmann::ordered_json::object();
  for (const auto& subsystem : inspection.subsystems) {
    subsystems[subsystem.name] = {{"source", subsystem.source},
                                  {"about", subsystem.about},
                                  {"variables", reporting::json_of(subsystem.variables)},
                                  {"capabilities", reporting::json_of(subsystem.capabilities)},
                                  {"warnings", reporting::json_of(subsystem.warnings)}};
  }
  auto methods = nlohmann::ordered_json::object();
  auto notes = nlohmann::ordered_json::object();
  for (const auto& verdict : inspection.methods) {
    methods[verdict.method] = reporting::json_of(verdict.obstacles);
    notes[verdict.method] = reporting::json_of(verdict.notes);
  }
  return reporting::json_text({{"subsystems", subsystems},
                               {"algebraic_loops", inspection.loops},
                               {"components", inspection.components},
                               {"sequence", inspection.sequence},
                               {"obstacles_by_method", methods},
                               {"notes_by_method", notes}});
}

std::string initial_json(const std::vector<InitialInput>& inputs) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& input : inputs) {
    list.push_back({{"input", input.name},
                    {"value", reporting::json_of(input.value)},
                    {"unit", input.unit},
                    {"from", input.from}});
  }
  return reporting::json_text({{"initial_inputs", list}});
}

}  // namespace entrain
