// Measures of a coupling against what they mean: orders, and searches by brute force.
#include "analysis/measures.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/ring_network.hpp"

namespace entrain {
namespace {

double consistency(const LinearNetwork& network, const CouplingChoice& choice) {
  const auto steps = subsystem_steps(network, choice.step, choice.degree);
  return relative_consistency(StepProgram(network, steps, choice), exact_coupling(network));
}

TEST(RelativeConsistency, is_of_the_order_of_the_inputs) {
  const LinearNetwork network = test::ring(3);
  const std::vector<std::size_t> sequence{1, 2, 0};
  for (int degree = 0; degree <= kMaxInputDegree; ++degree) {
    const auto order = [&](const auto& choice) {
      constexpr double kStep = 0.02;
      return std::log2(consistency(network, choice(2.0 * kStep)) / consistency(network, choice(kStep)));
    };
    EXPECT_NEAR(order([&](double step) { return parallel_choice(3, degree, step); }), degree + 1.0, 0.1);
    EXPECT_NEAR(order([&](double step) { return sequential_choice(sequence, degree, step); }), degree + 1.0, 0.1);
  }
}

TEST(RelativeConsistency, of_a_stiff_network_is_finite) {
  LinearNetwork network = test::ring(2);
  network.subsystems[1].matrices.A.values = {0.0, 1.0, -1e8, -2e4};  // 1000 of its time constants in a step
  const double value = consistency(network, parallel_choice(2, 2, 0.1));
  EXPECT_GT(value, 0.0);
  EXPECT_LT(value, 1.0);
}

}  // namespace
}  // namespace entrain
