#include "facade/inspection.hpp"

#include "facade/prepare.hpp"
#include "masters/registry.hpp"

namespace entrain {

namespace {

/// With its default options, for the times of this run.
std::vector<SystemInspection::Verdict> verdicts(const CoupledSystem& system, const RunSettings& settings) {
  std::vector<const Capabilities*> capabilities;
  for (std::size_t s = 0; s < system.size(); ++s) capabilities.push_back(&system.capabilities(SubsystemId{s}));
  std::vector<SystemInspection::Verdict> result;
  for (const auto& entry : methods()) {
    auto& verdict = result.emplace_back();
    verdict.method = entry.name;
    for (auto& unmet : unmet_requirements(*entry.make(), system.graph(), capabilities, settings)) {
      verdict.obstacles.push_back(std::move(unmet.message));
    }
  }
  return result;
}

}  // namespace

SystemInspection inspect(const SystemDescription& written) {
  SystemDescription description = written;
  if (!description.stop) description.stop = {description.start.value + 1.0, {}};  // what is shown needs no run
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
  result.methods = verdicts(system, prepared.settings);
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
