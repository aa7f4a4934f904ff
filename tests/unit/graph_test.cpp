#include "entrain/graph.hpp"

#include <gtest/gtest.h>

#include "coupling/strong_components.hpp"

namespace entrain {
namespace graph_test {

Graph::Node node(const std::string& name, bool feedthrough) {
  return {name, {"u"}, {"y"}, Feedthrough(1, 1, feedthrough)};
}

Connection connect(std::size_t from, std::size_t to) {
  return {OutputId{from}, InputId{to}};
}

TEST(StrongComponents, come_in_topological_order) {
  // 0 -> 1 <-> 2 -> 3
  const auto components = coupling::strong_components({{1}, {2}, {1, 3}, {}});
  ASSERT_EQ(components.size(), 3U);
  EXPECT_EQ(components[0], (std::vector<std::size_t>{0}));
  EXPECT_EQ(components[1], (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(components[2], (std::vector<std::size_t>{3}));
}

TEST(StrongComponents, of_a_very_long_ring_do_not_end_the_stack) {
  const std::size_t n = 1'000'000;
  coupling::Adjacency ring(n);
  for (std::size_t i = 0; i < n; ++i) ring[i].push_back((i + 1) % n);
  EXPECT_EQ(coupling::strong_components(ring).size(), 1U);
}

TEST(Graph, a_cycle_with_feedthrough_everywhere_is_an_algebraic_loop) {
  const Graph graph({node("a", true), node("b", true)}, {connect(0, 1), connect(1, 0)});
  ASSERT_EQ(graph.loops().size(), 1U);
  EXPECT_EQ(graph.loops()[0].inputs.size(), 2U);
  EXPECT_EQ(graph.loops()[0].subsystems.size(), 2U);
}

TEST(Graph, a_state_in_the_cycle_breaks_the_loop) {
  const Graph graph({node("a", true), node("b", false)}, {connect(0, 1), connect(1, 0)});
  EXPECT_TRUE(graph.loops().empty());
  EXPECT_EQ(graph.components().size(), 1U);  // they still influence each other
}

TEST(Graph, an_output_fed_back_to_its_own_input_is_a_loop) {
  const Graph graph({node("a", true)}, {connect(0, 0)});
  EXPECT_EQ(graph.loops().size(), 1U);
}

TEST(Graph, signals_are_evaluated_after_what_they_need) {
  // c.y -> b.u, b.y -> a.u, all with feedthrough: c.u, c.y, b.u, b.y, a.u, a.y
  const Graph graph({node("a", true), node("b", true), node("c", true)}, {connect(2, 1), connect(1, 0)});
  std::vector<std::string> order;
  for (const auto& block : graph.evaluation_order()) {
    order.push_back(block.input ? graph.name(*block.input) : graph.name(*block.output));
  }
  EXPECT_EQ(order, (std::vector<std::string>{"c.u", "c.y", "b.u", "b.y", "a.u", "a.y"}));
}

TEST(Graph, the_calling_sequence_puts_sources_first) {
  const Graph graph({node("a", false), node("b", false), node("c", false)}, {connect(2, 1), connect(1, 0)});
  std::vector<std::string> names;
  for (const SubsystemId s : graph.calling_sequence()) names.push_back(graph.name(s));
  EXPECT_EQ(names, (std::vector<std::string>{"c", "b", "a"}));
}

TEST(Graph, inside_a_cycle_the_subsystem_that_waits_for_fewest_inputs_is_called_next) {
  // two inputs of a, one of b, in a cycle: b first
  Graph::Node a{"a", {"u1", "u2"}, {"y"}, Feedthrough(1, 2, false)};
  Graph::Node b{"b", {"u"}, {"y1", "y2"}, Feedthrough(2, 1, false)};
  const Graph graph({a, b}, {{OutputId{0}, InputId{2}}, {OutputId{1}, InputId{0}}, {OutputId{2}, InputId{1}}});
  EXPECT_EQ(graph.name(graph.calling_sequence().front()), "b");
}

}  // namespace graph_test
}  // namespace entrain
