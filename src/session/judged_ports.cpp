#include "session/judged_ports.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/system.hpp"
#include "record/selection.hpp"

namespace entrain::session {
namespace {

using Names = std::vector<std::string>;

/// The nodes of the assembly belong to the graph by now.
Names ports_of(const SystemDescription& description, const assembly::Assembly& assembly,
               std::vector<Variable> VariableTable::*real, std::vector<Variable> VariableTable::*discrete) {
  Names names;
  for (std::size_t s = 0; s < assembly.subsystems.size(); ++s) {
    const auto& variables = assembly.subsystems[s]->variables();
    for (const auto list : {real, discrete}) {
      for (const auto& variable : variables.*list) {
        names.push_back(fmt::format("{}.{}", description.subsystems[s].name, variable.name));
      }
    }
  }
  return names;
}

bool is_among(const Names& names, const std::string& pattern) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return recording::matches(pattern, name); });
}

}  // namespace

void check_judged_ports(const SystemDescription& description, const assembly::Assembly& assembly,
                        std::vector<Problem>& problems) {
  const auto require = [&](const Names& known, FactCode code, const std::string& name, const SourcePosition& where) {
    if (!is_among(known, name)) problems.push_back(problem_of(Fact{code, {name}}, suggestion(name, known), where));
  };
  Names open = assembly.open_inputs;
  if (description.open) {
    const auto inputs = ports_of(description, assembly, &VariableTable::inputs, &VariableTable::discrete_inputs);
    for (const auto& [pattern, where] : *description.open) {
      require(inputs, FactCode::NoSuchInput, pattern, where);
      std::erase_if(open, [&, &meant = pattern](const std::string& input) { return recording::matches(meant, input); });
    }
  }
  if (!description.tolerances.empty()) {
    const auto outputs = ports_of(description, assembly, &VariableTable::outputs, &VariableTable::discrete_outputs);
    for (const auto& [output, written] : description.tolerances)
      require(outputs, FactCode::NoSuchOutput, output, written.where);
  }
  if (has_errors(problems)) return;  // first things first: what is open may follow from them
  const SourcePosition file{description.file.string(), 0, 0};
  if (description.connections.empty() && description.constraints.empty() && description.subsystems.size() > 1)
    problems.push_back(problem_of(Fact{FactCode::NothingConnected}, "", file));
  if (open.empty()) return;
  Fact fact{FactCode::InputsOpen, {}, {{"connected", assembly.connected_inputs}, {"open", open.size()}}};
  fact.subjects = std::move(open);
  problems.push_back(
      problem_of(std::move(fact), "connect them, give them a value in start, or list them in [run] open", file));
}

}  // namespace entrain::session
