#include "facade/inspection.hpp"

#include "facade/prepare.hpp"
#include "masters/registry.hpp"

namespace entrain {

SystemInspection inspect(const SystemDescription& description) {
  std::vector<Problem> problems;
  const Prepared prepared = prepare(description, 1, {}, problems);
  if (!prepared.system) throw Error(std::move(problems));
  const CoupledSystem& system = *prepared.system;
  const Graph& graph = system.graph();

  SystemInspection result;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const SubsystemId id{s};
    result.subsystems.push_back(
        {graph.name(id), prepared.summary.subsystems[s].source, system.variables(id), system.capabilities(id)});
  }
  for (const auto& loop : graph.loops()) {
    auto& names = result.loops.emplace_back();
    for (const OutputId output : loop.outputs) names.push_back(graph.name(output));
    for (const InputId input : loop.inputs) names.push_back(graph.name(input));
  }
  for (const auto& component : graph.components()) {
    auto& names = result.components.emplace_back();
    for (const SubsystemId s : component) names.push_back(graph.name(s));
  }
  for (const SubsystemId s : graph.calling_sequence()) result.sequence.push_back(graph.name(s));
  return result;
}

std::vector<MethodInfo> method_infos() {
  std::vector<MethodInfo> infos;
  for (const auto& entry : methods()) {
    infos.push_back({std::string(entry.name), std::string(entry.summary), describe_options(*entry.make())});
  }
  return infos;
}

}  // namespace entrain
