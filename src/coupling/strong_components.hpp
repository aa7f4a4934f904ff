#pragma once

#include <cstddef>
#include <vector>

namespace entrain::coupling {

/// Successors of every node of a directed graph.
using Adjacency = std::vector<std::vector<std::size_t>>;

/// Strongly connected components (Tarjan), in topological order: sources first. Nodes inside a component ascend.
/// Not recursive, so that long chains do not end the stack.
std::vector<std::vector<std::size_t>> strong_components(const Adjacency& successors);

}  // namespace entrain::coupling
