#include "entrain/graph.hpp"

#include <algorithm>
#include <set>

#include "coupling/strong_components.hpp"

namespace entrain {

Graph::Graph(std::vector<Node> nodes, std::vector<Connection> connections)
    : nodes_(std::move(nodes)), connections_(std::move(connections)), first_input_{0}, first_output_{0} {
  for (std::size_t s = 0; s < nodes_.size(); ++s) {
    first_input_.push_back(first_input_.back() + nodes_[s].inputs.size());
    first_output_.push_back(first_output_.back() + nodes_[s].outputs.size());
    input_owner_.resize(first_input_.back(), SubsystemId{s});
    output_owner_.resize(first_output_.back(), SubsystemId{s});
  }
  source_.resize(inputs());
  for (std::size_t c = 0; c < connections_.size(); ++c) source_[connections_[c].input] = c;
  find_evaluation_order();
}

std::string Graph::name(InputId input) const {
  const SubsystemId s = owner(input);
  return nodes_[s].name + "." + nodes_[s].inputs[input - first_input_[s]];
}

std::string Graph::name(OutputId output) const {
  const SubsystemId s = owner(output);
  return nodes_[s].name + "." + nodes_[s].outputs[output - first_output_[s]];
}

bool Graph::feedthrough(OutputId output, InputId input) const {
  const SubsystemId s = owner(output);
  return nodes_[s].feedthrough(output - first_output_[s], input - first_input_[s]);
}

const Connection* Graph::source(InputId input) const {
  const auto& index = source_[input];
  return index ? &connections_[*index] : nullptr;
}

void Graph::find_evaluation_order() {
  // Nodes of the signal graph: inputs, then outputs. Edges: connections, and feedthrough from input to output.
  const std::size_t n = inputs();
  coupling::Adjacency successors(n + outputs());
  for (const auto& connection : connections_) successors[n + connection.output].push_back(connection.input);
  for (std::size_t s = 0; s < nodes_.size(); ++s) {
    for (const InputId input : inputs_of(SubsystemId{s})) {
      for (const OutputId output : outputs_of(SubsystemId{s})) {
        if (feedthrough(output, input)) successors[input].push_back(n + output);
      }
    }
  }
  for (const auto& component : coupling::strong_components(successors)) {
    Block block;
    if (component.size() > 1) {
      AlgebraicLoop loop;
      std::set<std::size_t> members;
      for (const std::size_t signal : component) {
        if (signal < n) {
          loop.inputs.emplace_back(signal);
          members.insert(owner(InputId{signal}));
        } else {
          loop.outputs.emplace_back(signal - n);
        }
      }
      for (const std::size_t s : members) loop.subsystems.emplace_back(s);
      block.loop = loops_.size();
      loops_.push_back(std::move(loop));
    } else if (component.front() < n) {
      block.input = InputId{component.front()};
    } else {
      block.output = OutputId{component.front() - n};
    }
    evaluation_order_.push_back(block);
  }
}

std::vector<std::vector<std::size_t>> Graph::subsystem_successors() const {
  coupling::Adjacency successors(subsystems());
  for (const auto& connection : connections_) {
    successors[owner(connection.output)].push_back(owner(connection.input));
  }
  return successors;
}

std::vector<std::vector<SubsystemId>> Graph::components() const {
  std::vector<std::vector<SubsystemId>> result;
  for (const auto& component : coupling::strong_components(subsystem_successors())) {
    if (component.size() > 1) result.emplace_back(component.begin(), component.end());
  }
  return result;
}

std::vector<SubsystemId> Graph::calling_sequence() const {
  std::vector<SubsystemId> sequence;
  std::vector<std::size_t> waiting(subsystems(), 0);  // inputs whose source has not been called yet
  for (const auto& connection : connections_) ++waiting[owner(connection.input)];
  const auto successors = subsystem_successors();
  for (const auto& component : coupling::strong_components(successors)) {
    // Ordered by (inputs waited for, place in the file); each call frees the inputs it feeds.
    std::set<std::pair<std::size_t, std::size_t>> candidates;
    for (const std::size_t s : component) candidates.emplace(waiting[s], s);
    while (!candidates.empty()) {
      const std::size_t called = candidates.begin()->second;
      candidates.erase(candidates.begin());
      sequence.emplace_back(called);
      for (const std::size_t successor : successors[called]) {
        const bool pending = candidates.erase({waiting[successor], successor}) > 0;
        --waiting[successor];
        if (pending) candidates.emplace(waiting[successor], successor);
      }
    }
  }
  return sequence;
}

}  // namespace entrain
