#include "worker/event_dependencies.hpp"

#include <array>

namespace entrain::worker {
namespace {

using Port = EventMode::Port;
using Counts = std::array<std::size_t, 3>;  // by Port

Counts outputs_of(const VariableTable& of) {
  return {of.outputs.size(), of.discrete_outputs.size(), of.clocks.size()};
}

Counts inputs_of(const VariableTable& of) {
  return {of.inputs.size(), of.discrete_inputs.size(), of.clocks.size()};
}

std::size_t sum_of(const Counts& counts) {
  return counts[0] + counts[1] + counts[2];
}

std::size_t place(const Counts& counts, const std::pair<Port, std::size_t>& port) {
  std::size_t before = port.second;
  for (std::size_t kind = 0; kind < static_cast<std::size_t>(port.first); ++kind) before += counts[kind];
  return before;
}

template <class Function>
void for_each_port(const Counts& counts, Function&& use) {
  for (const Port kind : {Port::Real, Port::Discrete, Port::Clock}) {
    for (std::size_t i = 0; i < counts[static_cast<std::size_t>(kind)]; ++i) use(kind, i);
  }
}

}  // namespace

EventDependencies::EventDependencies(const VariableTable& variables, const EventMode& mode) {
  for_each_port(outputs_of(variables), [&](Port output_kind, std::size_t output) {
    for_each_port(inputs_of(variables), [&](Port input_kind, std::size_t input) {
      depends_.push_back(mode.depends(output_kind, output, input_kind, input) ? 1 : 0);
    });
  });
}

bool EventDependencies::fits(const VariableTable& variables) const {
  return depends_.size() == sum_of(outputs_of(variables)) * sum_of(inputs_of(variables));
}

bool EventDependencies::depends(const VariableTable& variables, std::pair<Port, std::size_t> output,
                                std::pair<Port, std::size_t> input) const {
  const Counts inputs = inputs_of(variables);
  return depends_[place(outputs_of(variables), output) * sum_of(inputs) + place(inputs, input)] != 0;
}

}  // namespace entrain::worker
