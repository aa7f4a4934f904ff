#include "run/recordable.hpp"

#include <algorithm>
#include <iterator>

namespace entrain::running {
namespace {

bool is_output(const VariableTable& variables, const std::string& name) {
  return std::any_of(variables.outputs.begin(), variables.outputs.end(),
                     [&](const Variable& output) { return output.name == name; });
}

}  // namespace

Recordable recordable(std::span<Subsystem* const> subsystems, std::vector<Signal> own_signals) {
  Recordable result;
  const auto add = [&](std::size_t s, const Variable& variable, Causality causality) {
    const std::string prefix = std::string(subsystems[s]->name()) + ".";
    result.signals.push_back({prefix + variable.name, variable.unit, variable.description, causality, s});
    for (const auto& name : variable.other_names) result.signals.back().other_names.push_back(prefix + name);
  };
  for (std::size_t s = 0; s < subsystems.size(); ++s) {
    for (const auto& output : subsystems[s]->variables().outputs) add(s, output, Causality::Output);
  }
  for (std::size_t s = 0; s < subsystems.size(); ++s) {
    for (const auto& input : subsystems[s]->variables().inputs) add(s, input, Causality::Input);
  }
  std::size_t place = 0;
  for (std::size_t s = 0; s < subsystems.size(); ++s) {
    const auto& variables = subsystems[s]->variables();
    for (const auto& state : variables.states) {
      if (subsystems[s]->capabilities().states && !is_output(variables, state.name)) {
        add(s, state, Causality::State);
        result.states.push_back(place);
      }
      ++place;
    }
  }
  const auto add_discrete = [&](std::size_t s, const Variable& variable, Causality causality) {
    add(s, variable, causality);
    result.signals.back().type = variable.type;
    result.signals.back().discrete = result.discrete++;
  };
  for (std::size_t s = 0; s < subsystems.size(); ++s) {
    for (const auto& output : subsystems[s]->variables().discrete_outputs) add_discrete(s, output, Causality::Output);
  }
  for (std::size_t s = 0; s < subsystems.size(); ++s) {
    for (const auto& input : subsystems[s]->variables().discrete_inputs) add_discrete(s, input, Causality::Input);
  }
  const auto add_inner = [&](std::size_t s, Causality causality, const std::vector<Variable>& variables) {
    for (std::size_t i = 0; i < variables.size(); ++i) {
      result.inner.push_back({s, {causality, i}, result.signals.size()});
      add(s, variables[i], causality == Causality::State ? Causality::Local : causality);
      result.signals.back().type = variables[i].type;
      if (variables[i].type != ValueType::Real)
        result.signals.back().discrete = result.discrete + result.inner_discrete++;
    }
  };
  for (std::size_t s = 0; s < subsystems.size(); ++s) {
    if (subsystems[s]->facets().inner == nullptr) continue;
    const auto& variables = subsystems[s]->variables();
    if (!subsystems[s]->capabilities().states) add_inner(s, Causality::State, variables.states);
    add_inner(s, Causality::Local, variables.locals);
    add_inner(s, Causality::Parameter, variables.parameters);
  }
  result.own_signals = own_signals.size();
  std::move(own_signals.begin(), own_signals.end(), std::back_inserter(result.signals));
  return result;
}

}  // namespace entrain::running
