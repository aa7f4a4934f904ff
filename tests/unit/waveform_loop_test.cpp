#include "learn/waveform_loop.hpp"

#include <gtest/gtest.h>

#include "numerics/learning_gain.hpp"

namespace entrain {
namespace waveform_loop_test {

Matrix matrix(std::size_t rows, std::size_t cols, std::vector<double> values) {
  Matrix result(rows, cols);
  result.values = std::move(values);
  return result;
}

/// The damped pair of the paper: the force side answers the motion of the other mass with a force.
Graph pair() {
  Graph::Node force{"force", {"x", "v"}, {"F"}, Feedthrough(1, 2)};
  Graph::Node motion{"motion", {"F"}, {"x", "v"}, Feedthrough(2, 1)};
  return Graph({force, motion}, {{OutputId{0}, InputId{2}}, {OutputId{1}, InputId{0}}, {OutputId{2}, InputId{1}}});
}

numerics::LearningGain gain_of(int degree) {
  const Graph graph = pair();
  std::vector<Linearization> subsystems(2);
  subsystems[0] = {matrix(2, 2, {0, 1, -110, -0.2}), matrix(2, 2, {0, 0, 100, 0.1}), matrix(1, 2, {100, 0.1}),
                   matrix(1, 2, {-100, -0.1})};
  subsystems[1] = {matrix(2, 2, {0, 1, -1000, -0.1}), matrix(2, 1, {0, 1}), matrix(2, 2, {1, 0, 0, 1}),
                   matrix(2, 1, {0, 0})};
  std::vector<learning::LearnedWire> wires;
  for (const auto& connection : graph.connections()) wires.push_back({connection});
  const std::vector<int> degrees(3, degree);
  const std::vector<double> scales(3, 1.0);
  return numerics::learning_gain(learning::waveform_loop(graph, subsystems, 1e-3, wires, degrees, scales), {});
}

// By an implementation in numpy that solves for the inputs at each point of the unit circle and takes the largest
// singular value: no matrix of a step from one macro step to the next is formed there.
TEST(WaveformLoop, gamma_of_the_damped_pair_is_that_of_another_implementation) {
  EXPECT_NEAR(gain_of(1).largest, 282.29806, 1e-4 * 282.3);
  EXPECT_NEAR(gain_of(3).largest, 2457.0551, 1e-4 * 2457.1);
  EXPECT_NEAR(gain_of(3).angle / 1e-3, 33.32, 0.01);
}

}  // namespace waveform_loop_test
}  // namespace entrain
