// missiles where inputs are held or lines inside the steps and the outputs bend with inputs and states: two masses on
// springs that harden, the first of which returns the force of the spring between them.
#include <gtest/gtest.h>

#include <cmath>

#include "entrain/recording.hpp"
#include "reproduce/measure.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace missiles_lowered_test {

SystemDescription cubic_pair(int input_degree) {
  auto description = test::system_from(R"(
    [run]
    stop = 2.0
    [subsystems.left]
    model = "cubic.force_side"
    start = { v1 = 3.0, c_k = 10.0, e_k = 10.0 }
    [subsystems.right]
    model = "cubic.motion_side"
    start = { v2 = -3.0, c2 = 20.0, e2 = 5.0 }
    [connections]
    "left.F" = "right.F"
    "right.x" = "left.x"
    "right.v" = "left.v"
  )");
  for (auto& subsystem : description.subsystems) subsystem.input_degree = {input_degree, {}};
  return description;
}

struct Course {
  std::vector<double> force;
  RunSummary summary;
};

Course course(const SystemDescription& description) {
  Simulation simulation(description);
  MemoryRecorder recorder({"left.F"});
  simulation.observe(recorder);
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  return {recorder.column("left.F"), summary};
}

struct Measured {
  double error;  // of the force, in per cent of its range
  std::uint64_t linearizations;
};

Measured measured(int input_degree, double step, const std::string& linearize) {
  const auto pair = cubic_pair(input_degree);
  const auto exact = course(test::changed(pair, {.method = "monolithic", .step = step}));
  const auto ours =
      course(test::changed(pair, {.method = "missiles", .step = step, .options = {"linearize=\"" + linearize + "\""}}));
  return {reproducing::percent_error(ours.force, exact.force), ours.summary.linearizations};
}

class MissilesLowered : public testing::TestWithParam<int> {};

// Held inputs have order 2. Lines have that of cubics: 3, because the force bends with the states.
TEST_P(MissilesLowered, keeps_order_and_error_when_linearized_only_when_needed) {
  const int degree = GetParam();
  const auto every = measured(degree, 2e-3, "every-step");
  const auto needed = measured(degree, 2e-3, "when-needed");
  EXPECT_LT(needed.error, 1.1 * every.error);
  EXPECT_LT(needed.linearizations, 6 * every.linearizations / 10);
  const double order = std::log2(measured(degree, 4e-3, "when-needed").error / needed.error);
  EXPECT_GT(order, degree == 0 ? 1.9 : 2.9);
}

INSTANTIATE_TEST_SUITE_P(Degrees, MissilesLowered, testing::Values(0, 1, 3));

}  // namespace missiles_lowered_test
}  // namespace entrain
