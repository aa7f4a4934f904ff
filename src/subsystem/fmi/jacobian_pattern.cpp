#include "subsystem/fmi/jacobian_pattern.hpp"

#include <map>

namespace entrain::subsystem {

/// Dependencies of an array are those of all its elements.
numerics::SparsityPattern jacobian_pattern(const FmuDescription& description, const FmuPorts& ports) {
  struct Range {
    std::size_t first = 0;
    std::size_t end = 0;
  };
  std::vector<Range> states_of_line;  // the lines of the structure are in the order of the states
  std::map<std::size_t, std::size_t> line_of_variable;
  for (std::size_t i = 0; i < ports.state_origins.size(); ++i) {
    const PortOrigin& origin = ports.state_origins[i];
    if (origin.element == 0) {
      line_of_variable[origin.variable] = states_of_line.size();
      states_of_line.push_back({i, i});
    }
    states_of_line.back().end = i + 1;
  }
  numerics::SparsityPattern pattern;
  pattern.rows_of_column.resize(ports.state_origins.size());
  const auto add = [&](const Range& rows, const Range& columns) {
    for (std::size_t column = columns.first; column < columns.end; ++column) {
      for (std::size_t row = rows.first; row < rows.end; ++row) pattern.rows_of_column[column].push_back(row);
    }
  };
  for (std::size_t line = 0; line < states_of_line.size(); ++line) {
    const auto& dependencies = description.state_derivatives[line].dependencies;
    if (!dependencies) {
      add(states_of_line[line], {0, ports.state_origins.size()});
      continue;
    }
    for (const std::size_t variable : *dependencies) {
      const auto known = line_of_variable.find(variable);
      if (known != line_of_variable.end()) add(states_of_line[line], states_of_line[known->second]);
    }
  }
  return pattern;
}

}  // namespace entrain::subsystem
