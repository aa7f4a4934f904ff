// The larger a network, the fewer couplings a search judges, and it reports what it leaves out.
#include <gtest/gtest.h>

#include "advise/search_configs.hpp"
#include "support/facts.hpp"
#include "support/ring_network.hpp"

namespace entrain {
namespace search_budget_test {

/// A ring whose subsystems show their position many times: large vectors, and matrices that are quickly judged.
LinearNetwork ring_with_displays(std::size_t subsystems, std::size_t outputs) {
  LinearNetwork network = test::ring(subsystems);
  network.outputs.clear();
  for (std::size_t s = 0; s < subsystems; ++s) {
    auto& subsystem = network.subsystems[s];
    subsystem.matrices.C = Matrix(outputs, 2);
    subsystem.matrices.D = Matrix(outputs, 1);
    for (std::size_t y = 0; y < outputs; ++y) subsystem.matrices.C(y, 0) = 1.0;
    subsystem.inputs[0].source *= outputs;
    network.outputs.insert(network.outputs.end(), outputs, subsystem.name + ".x");
  }
  return network;
}

Front search(const LinearNetwork& network, const AdviceSettings& settings = {}) {
  analysis::RunPath path;
  path.points.push_back({0.0, network, {}});
  path.stop = 10.0;
  std::vector<std::size_t> sequence;
  for (std::size_t s = 0; s < network.subsystems.size(); ++s) sequence.push_back(s);
  return advising::search_configs({method::built_in_methods(), path, sequence, 0.1}, settings, kMaxInputDegree, 1.0);
}

TEST(SearchBudget, small_network_is_searched_whole) {
  const Front front = search(ring_with_displays(4, 1));
  EXPECT_EQ(front.judged, 2U * 4U * 40U + 60U * 61U);  // plain methods and degrees on 40 steps, 60 generations of 60
  EXPECT_FALSE(front.left_out);
  EXPECT_FALSE(front.points.empty());
}

TEST(SearchBudget, fewer_couplings_of_a_larger_network_are_judged) {
  std::size_t before = 4000;
  for (const std::size_t outputs : {30U, 50U, 80U}) {
    const Front front = search(ring_with_displays(4, outputs));
    EXPECT_LT(front.judged, before) << outputs;
    EXPECT_FALSE(front.points.empty()) << outputs;
    before = front.judged;
    ASSERT_TRUE(front.left_out) << outputs;
    EXPECT_TRUE(front.left_out->number("generations_of") == 60.0 || outputs > 30) << *front.left_out;
  }
  EXPECT_LT(before, 200U);
}

TEST(SearchBudget, grid_gets_coarser) {
  AdviceSettings settings;
  settings.gains = {"o0.u"};
  const Front front = search(ring_with_displays(3, 80), settings);
  ASSERT_TRUE(front.how && front.left_out);
  EXPECT_EQ(front.how->code, FactCode::SearchedByGrid);
  EXPECT_EQ(front.judged, (6U * 5U + 1U) * 4U * 5U);  // six sequences with five gains, or in parallel; degrees, steps
  EXPECT_EQ(front.left_out->number("gains"), 5.0);
  EXPECT_EQ(front.left_out->number("gains_of"), 20.0);
}

TEST(SearchBudget, degrees_whose_matrices_are_too_large_are_left_out) {
  const Front front = search(ring_with_displays(4, 95));
  ASSERT_TRUE(front.left_out);
  EXPECT_EQ(front.left_out->number("degrees_above"), 2.0);
  for (const auto& point : front.points) EXPECT_LE(point.config.degree, 2);
}

TEST(SearchBudget, what_is_too_large_for_held_inputs_is_not_searched) {
  const Front front = search(ring_with_displays(4, 120));
  EXPECT_EQ(front.judged, 0U);
  EXPECT_TRUE(front.points.empty());
  ASSERT_TRUE(front.left_out);
  EXPECT_TRUE(front.left_out->number("everything"));
}

}  // namespace search_budget_test
}  // namespace entrain
