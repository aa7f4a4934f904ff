#include "base/grid.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/systems.hpp"

namespace entrain {
namespace grid_test {

TEST(Grid, times_come_from_a_counter_and_end_exactly_on_the_stop_time) {
  const base::Grid grid(0.0, 1.0, 0.1);
  EXPECT_EQ(grid.steps(), 10U);
  EXPECT_EQ(grid.time(3), 3 * 0.1);
  EXPECT_EQ(grid.time(10), 1.0);
  EXPECT_EQ(grid.size(9), 0.1);  // the nominal step to the last bit, although 1.0 - 0.9 rounds differently
}

TEST(Grid, a_million_steps_do_not_drift) {
  const base::Grid grid(0.0, 1e4, 0.01);
  EXPECT_EQ(grid.steps(), 1'000'000U);
  EXPECT_EQ(grid.time(999'999), 999'999 * 0.01);
  EXPECT_EQ(grid.time(1'000'000), 1e4);
}

TEST(Grid, a_stop_time_between_grid_points_shortens_the_last_step) {
  const base::Grid grid(1.0, 2.05, 0.1);
  EXPECT_EQ(grid.steps(), 11U);
  EXPECT_EQ(grid.time(11), 2.05);
  EXPECT_NEAR(grid.size(10), 0.05, 1e-15);
}

TEST(Grid, a_remainder_of_rounding_size_is_no_step) {
  const base::Grid grid(0.0, 0.3, 0.1);  // 0.3 / 0.1 = 2.9999999999999996
  EXPECT_EQ(grid.steps(), 3U);
  EXPECT_EQ(grid.time(3), 0.3);
}

TEST(Grid, far_from_zero_the_last_step_still_ends_on_the_stop_time) {
  auto description = test::changed(test::example("lotka_volterra"), {.step = 1e-3, .stop = 1e9 + 0.01});
  description.start = {1e9, {}};
  Simulation simulation(description);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  EXPECT_EQ(simulation.summary().reached, 1e9 + 0.01);
  EXPECT_EQ(simulation.summary().macro_steps, 10U);
}

TEST(Grid, same_time_knows_rounding_from_difference) {
  EXPECT_TRUE(base::same_time(0.1 + 0.2, 0.3));
  EXPECT_FALSE(base::same_time(100.0, 100.0 + 1e-11));
  EXPECT_TRUE(base::reached(250 * 0.4, 100.0));
  EXPECT_FALSE(base::reached(99.999999, 100.0));
  EXPECT_TRUE(base::same_time(0.0, 0.0));
  EXPECT_FALSE(base::reached(1e300, std::numeric_limits<double>::infinity()));
}

}  // namespace grid_test
}  // namespace entrain
