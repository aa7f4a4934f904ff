// linearize = "when-needed": what asks for a new linearization.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/systems.hpp"

namespace entrain {
namespace missiles_linearize_test {

/// Of two masses on springs that harden, when lengths are measured in a unit that makes all numbers `times` as large.
std::uint64_t linearizations(double times) {
  const auto description = test::system_from(fmt::format(R"(
    [run]
    stop = 2.0
    step = 0.01
    method = "missiles"
    [subsystems.left]
    model = "cubic.force_side"
    start = {{ v1 = {0}, c_k = 10.0, e_k = {1}, e1 = {2} }}
    [subsystems.right]
    model = "cubic.motion_side"
    start = {{ v2 = {0}, c2 = 20.0, e2 = {2} }}
    [connections]
    "left.F" = "right.F"
    "right.x" = "left.x"
    "right.v" = "left.v"
  )",
                                                         0.5 * times, 10.0 / (times * times), 5.0 / (times * times)));
  Simulation simulation(description);
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  return summary.linearizations;
}

TEST(WhenNeeded, does_not_depend_on_the_units_of_the_signals) {
  const auto plain = linearizations(1.0);
  EXPECT_GT(plain, 10U);
  EXPECT_LT(plain, 390U);  // twice 200, and the pieces of the first step
  // To 1 %: the integrators inside the subsystems have absolute tolerances.
  for (const double times : {0x1p-20, 0x1p20}) {
    EXPECT_NEAR(static_cast<double>(linearizations(times)), static_cast<double>(plain),
                0.01 * static_cast<double>(plain))
        << times;
  }
}

}  // namespace missiles_linearize_test
}  // namespace entrain
