#include "coupling/strong_components.hpp"

#include <algorithm>
#include <limits>

namespace entrain::coupling {
namespace {

constexpr std::size_t kUnseen = std::numeric_limits<std::size_t>::max();

struct Tarjan {
  explicit Tarjan(const Adjacency& adjacency)
      : successors(adjacency),
        index(adjacency.size(), kUnseen),
        low(adjacency.size(), 0),
        on_stack(adjacency.size(), 0) {}

  void enter(std::size_t node) {
    index[node] = low[node] = counter++;
    stack.push_back(node);
    on_stack[node] = 1;
    path.push_back({node, 0});
  }

  void visit_from(std::size_t root) {
    enter(root);
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next < successors[node].size()) {
        const std::size_t successor = successors[node][next++];
        if (index[successor] == kUnseen) {
          enter(successor);
        } else if (on_stack[successor] != 0) {
          low[node] = std::min(low[node], index[successor]);
        }
        continue;
      }
      const std::size_t finished = node;
      path.pop_back();
      if (!path.empty()) low[path.back().node] = std::min(low[path.back().node], low[finished]);
      if (low[finished] == index[finished]) close_component(finished);
    }
  }

  void close_component(std::size_t root) {
    std::vector<std::size_t> component;
    std::size_t node = 0;
    do {
      node = stack.back();
      stack.pop_back();
      on_stack[node] = 0;
      component.push_back(node);
    } while (node != root);
    std::sort(component.begin(), component.end());
    components.push_back(std::move(component));
  }

  struct Visit {
    std::size_t node;
    std::size_t next;  // successor to look at next
  };
  const Adjacency& successors;
  std::vector<std::size_t> index;
  std::vector<std::size_t> low;
  std::vector<char> on_stack;
  std::vector<std::size_t> stack;
  std::vector<Visit> path;
  std::size_t counter = 0;
  std::vector<std::vector<std::size_t>> components;
};

}  // namespace

std::vector<std::vector<std::size_t>> strong_components(const Adjacency& successors) {
  Tarjan tarjan(successors);
  for (std::size_t node = 0; node < successors.size(); ++node) {
    if (tarjan.index[node] == kUnseen) tarjan.visit_from(node);
  }
  std::reverse(tarjan.components.begin(), tarjan.components.end());  // Tarjan finds sinks first
  return std::move(tarjan.components);
}

}  // namespace entrain::coupling
