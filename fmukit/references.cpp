#include "fmukit/references.hpp"

#include <algorithm>

namespace entrain::fmukit {
namespace {

Reference block_size(const Model& model) {
  const VariableTable& variables = model.variables();
  const std::size_t longest = std::max({variables.inputs.size(), variables.outputs.size(), variables.states.size(),
                                        variables.parameters.size(), model.event_indicator_count()});
  Reference size = 100;
  while (size < longest) size *= 10;
  return size;
}

std::optional<std::size_t> index_of(const std::vector<Variable>& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const Variable& v) { return v.name == name; });
  if (found == list.end()) return std::nullopt;
  return static_cast<std::size_t>(found - list.begin());
}

}  // namespace

References::References(const Model& model, const FmuOptions& options) {
  const VariableTable& variables = model.variables();
  for (const auto& output : variables.outputs) state_of_output_.push_back(index_of(variables.states, output.name));
  for (const auto& state : variables.states) output_of_state_.push_back(index_of(variables.outputs, state.name));
  const Reference size = block_size(model);
  // In the order of use inside a step: the first blocks are found first.
  blocks_ = {{{Group::Input, 1 * size, variables.inputs.size()},
              {Group::Output, 2 * size, variables.outputs.size()},
              {Group::State, 3 * size, variables.states.size()},
              {Group::Derivative, 4 * size, options.states ? variables.states.size() : 0},
              {Group::Parameter, 5 * size, variables.parameters.size()},
              {Group::Counter, 9 * size, options.strict ? kCounterNames.size() : 0},
              {Group::Time, 1, 1},
              {Group::Indicator, 6 * size, options.states ? model.event_indicator_count() : 0}}};
}

Reference References::of(Group group, std::size_t index) const {
  return blocks_[static_cast<std::size_t>(group)].first + static_cast<Reference>(index);
}

Reference References::of_state(std::size_t state) const {
  const auto output = output_of_state_[state];
  return output ? of(Group::Output, *output) : of(Group::State, state);
}

}  // namespace entrain::fmukit
