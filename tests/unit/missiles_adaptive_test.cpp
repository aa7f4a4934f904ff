// Adaptive missiles where its estimates are poor. How accurate it is stands in tests/convergence.
#include <gtest/gtest.h>

#include <string>

#include "entrain/recording.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace missiles_adaptive_test {

using test::changed;
using test::example;

std::uint64_t steps_of_pair_without_derivatives(const std::string& restart) {
  auto pair = changed(example("mechanical"),
                      {.method = "missiles",
                       .step = 1e-3,
                       .stop = 2.0,
                       .options = {"adaptive=true", "relative_tolerance=1e-4", "restart=\"" + restart + "\""}});
  for (auto& subsystem : pair.subsystems) subsystem.state_derivatives = {false, {}};
  Simulation simulation(pair);
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  return summary.macro_steps;
}

TEST(MissilesAdaptive, steps_alike_from_real_and_from_smooth_starts_without_derivatives) {
  const auto real = steps_of_pair_without_derivatives("real");
  const auto smooth = steps_of_pair_without_derivatives("c1");
  EXPECT_LT(smooth, 2 * real);
  EXPECT_LT(real, 2 * smooth);
}

TEST(MissilesAdaptive, keeps_max_step_from_the_first_step_on_however_small) {
  for (const double longest : {0.02, 1e-5}) {
    Simulation simulation(changed(example("lotka_volterra"), {.method = "missiles",
                                                              .step = 0.1,
                                                              .stop = 0.1,
                                                              .options = {"adaptive=true", "relative_tolerance=1e-2",
                                                                          "max_step=" + std::to_string(longest)}}));
    const auto& summary = simulation.run();
    EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
    EXPECT_LE(summary.largest_step, longest * (1 + 1e-9));
  }
}

// The force of the spring belongs to the position with which the step before ended, the next one begins with another:
// the difference is no error of the inputs, and no smaller step would help.
TEST(MissilesAdaptive, does_not_collapse_where_outputs_follow_inputs_and_estimates_have_gaps) {
  for (const bool held : {true, false}) {
    auto pair = changed(
        example("mechanical"),
        {.method = "missiles", .step = 1e-3, .stop = 2.0, .options = {"adaptive=true", "relative_tolerance=1e-4"}});
    if (held) {
      for (auto& subsystem : pair.subsystems) subsystem.input_degree = {0, {}};
    } else {
      pair.subsystems[0].linearization = {false, {}};
    }
    Simulation simulation(pair);
    const auto& summary = simulation.run();
    EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
    EXPECT_TRUE(summary.warnings.empty());
    EXPECT_LT(summary.rejected_steps, 10U);
    EXPECT_LT(summary.macro_steps, 4000U);
  }
}

/// Two equal oscillators that start at 1 m and `second` m: alike, the spring between them carries nothing, although it
/// is the difference of forces of 1e4 N.
std::uint64_t steps_of_equal_oscillators(double second) {
  auto pair = changed(example("mechanical"), {.method = "missiles", .options = {"adaptive=true"}});
  pair.subsystems[1].start["c3"] = {160000.0, {}};
  pair.subsystems[1].start["d3"] = {160.0, {}};
  pair.subsystems[1].start["x2"] = {second, {}};
  Simulation simulation(pair);
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  return summary.macro_steps;
}

TEST(MissilesAdaptive, does_not_make_small_steps_for_a_force_that_is_nothing_but_cancellation) {
  const auto moving = steps_of_equal_oscillators(2.0);
  EXPECT_LE(steps_of_equal_oscillators(1.0), moving);
  EXPECT_LE(steps_of_equal_oscillators(1.0000001), moving);
}

// Over 0.1 s and 1 s the estimates of this prey, 1e6 times as fast as usual, overflow.
TEST(MissilesAdaptive, cuts_a_first_step_over_which_the_estimates_overflow) {
  for (const double step : {1.0, 0.1}) {
    auto pair =
        changed(example("lotka_volterra"),
                {.method = "missiles", .step = step, .stop = step, .options = {"adaptive=true", "min_step=1e-9"}});
    pair.subsystems[0].start["alpha"] = {1e6, {}};
    pair.subsystems[0].start["beta"] = {1e6, {}};
    pair.subsystems[1].start["P"] = {0.999, {}};
    Simulation simulation(pair);
    simulation.run_until(1e-5);
    const auto& summary = simulation.summary();
    EXPECT_EQ(summary.termination, Termination::Running) << summary.message;
    EXPECT_GT(summary.macro_steps, 0U);
    EXPECT_NEAR(simulation.value("predator.P"), 0.999, 1e-3);
  }
}

}  // namespace missiles_adaptive_test
}  // namespace entrain
