#include "subsystem/fmi/jacobian_pattern.hpp"

#include <map>

namespace entrain {

SparsityPattern jacobian_pattern(const FmuDescription& description, const FmuPorts& ports) {
  std::map<std::size_t, std::size_t> state_of_variable;
  for (std::size_t i = 0; i < ports.state_variables.size(); ++i) state_of_variable[ports.state_variables[i]] = i;
  SparsityPattern pattern;
  pattern.rows_of_column.resize(ports.states.size());
  for (std::size_t row = 0; row < ports.states.size(); ++row) {
    const auto& dependencies = description.state_derivatives[row].dependencies;
    if (!dependencies) {
      for (auto& rows : pattern.rows_of_column) rows.push_back(row);
      continue;
    }
    for (const std::size_t variable : *dependencies) {
      const auto state = state_of_variable.find(variable);
      if (state != state_of_variable.end()) pattern.rows_of_column[state->second].push_back(row);
    }
  }
  return pattern;
}

}  // namespace entrain
