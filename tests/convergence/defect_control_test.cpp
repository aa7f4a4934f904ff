// Macro steps of the explicit methods chosen by the connection defect.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/grid.hpp"
#include "entrain/recording.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace defect_control_test {

struct Result {
  double error = 0.0;  // largest of left.x against the equations solved as one, relative to its range
  RunSummary summary;
  std::vector<Time> times;
};

constexpr Duration kFine = 1e-2;  // so fine that linear interpolation adds 1e-6 of the range

/// left.x of the equations solved as one, up to 120 s.
const std::vector<double>& reference() {
  static const std::vector<double> kColumn = [] {
    Simulation exact(test::changed(test::example("two_mass"), {"monolithic", kFine, 120.0}));
    MemoryRecorder recorder({"left.x"});
    exact.observe(recorder);
    exact.run();
    return recorder.column("left.x");
  }();
  return kColumn;
}

/// The heavy pair: it swings, and comes to rest long before the end.
Result run(const test::Change& change) {
  const auto description = test::changed(test::example("two_mass"), change);
  Simulation simulation(description);
  MemoryRecorder recorder({"left.x"});
  simulation.observe(recorder);
  Result result{0.0, simulation.run(), recorder.times};
  EXPECT_EQ(result.summary.termination, Termination::Completed) << result.summary.message;
  const auto& fine = reference();
  const auto [low, high] = std::minmax_element(fine.begin(), fine.end());
  const auto& ours = recorder.column("left.x");
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const double at = recorder.times[k] / kFine;
    const auto before = std::min(static_cast<std::size_t>(at), fine.size() - 2);
    const double share = at - static_cast<double>(before);
    const double there = (1.0 - share) * fine[before] + share * fine[before + 1];
    result.error = std::max(result.error, std::abs(ours[k] - there) / (*high - *low));
  }
  return result;
}

TEST(DefectControl, tighter_tolerance_means_more_steps_and_a_smaller_error) {
  for (const std::string method : {"jacobi", "gauss-seidel"}) {
    const auto rough = run({method, 0.1, 60.0, {"adaptive=true", "relative_tolerance=1e-2", "degree=1"}});
    const auto tight = run({method, 0.1, 60.0, {"adaptive=true", "relative_tolerance=1e-4", "degree=1"}});
    EXPECT_GT(tight.summary.macro_steps, 2 * rough.summary.macro_steps) << method;
    EXPECT_LT(tight.error, 0.3 * rough.error) << method;
  }
}

TEST(DefectControl, steps_grow_where_the_motion_calms_down) {
  const auto result = run({"gauss-seidel", 0.1, 90.0, {"adaptive=true", "relative_tolerance=1e-3", "degree=1"}});
  EXPECT_GT(result.summary.largest_step, 4.0 * result.summary.smallest_step);
  // A fixed step with as many macro steps is no better.
  const double same = 90.0 / static_cast<double>(result.summary.macro_steps);
  EXPECT_LT(result.error, run({"gauss-seidel", same, 90.0, {"degree=1"}}).error);
}

TEST(DefectControl, meets_the_stop_time_to_the_last_bit_and_announced_events) {
  const auto result = run({"jacobi", 0.1, 120.0, {"adaptive=true", "degree=1"}});
  EXPECT_EQ(result.times.back(), 120.0);
  EXPECT_TRUE(std::any_of(result.times.begin(), result.times.end(), [](Time t) { return base::same_time(t, 100.0); }));
}

TEST(DefectControl, keeps_to_the_limits_of_the_step) {
  const auto result =
      run({"jacobi", 0.1, 20.0, {"adaptive=true", "relative_tolerance=1e-9", "min_step=0.05", "max_step=0.2"}});
  EXPECT_GE(result.summary.smallest_step, 0.05 * (1 - 1e-9));
  EXPECT_LE(result.summary.largest_step, 0.2 * (1 + 1e-9));
  ASSERT_FALSE(result.summary.warnings.empty());
  EXPECT_EQ(result.summary.warnings[0].code, FactCode::InputsBeyondTolerance);
}

TEST(DefectControl, refuses_imposed_steps_with_a_remedy) {
  auto description = test::changed(test::example("two_mass"), {"jacobi", 0.1, 20.0, {"adaptive=true"}});
  description.subsystems[0].step = {0.1, {}};
  EXPECT_TRUE(test::has_fact(test::problem_facts(description), FactCode::NeedsFreeStep, "left"));
}

TEST(DefectControl, checkpoint_replays_to_the_same_bits) {
  Simulation simulation(test::changed(test::example("two_mass"), {"jacobi", 0.1, 20.0, {"adaptive=true", "degree=2"}}));
  simulation.run_until(5.0);
  const auto checkpoint = simulation.checkpoint();
  simulation.run();
  const double first = simulation.value("left.x");
  simulation.restore(*checkpoint);
  simulation.run();
  EXPECT_EQ(simulation.value("left.x"), first);
}

}  // namespace defect_control_test
}  // namespace entrain
