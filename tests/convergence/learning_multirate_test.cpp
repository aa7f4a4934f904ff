// Learning with steps of several sizes: one side of the pair of Thielemans et al. steps several times as long as the
// other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "entrain/learning.hpp"
#include "entrain/recording.hpp"
#include "models/chain_system.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace learning_multirate_test {

SystemDescription pair_with_slow(const std::string& slow, int ratio) {
  auto description = test::example("learning");
  description.stop = {3.0, {}};  // a whole number of steps of 2, 3 and 5 ms
  for (auto& subsystem : description.subsystems) {
    if (subsystem.name == slow) subsystem.step = {1e-3 * ratio, {}};
  }
  return description;
}

LearnResult learned(const std::string& slow, int ratio, int iterations) {
  LearnOptions options;
  options.inputs = LearnInputs::Held;
  options.iterations = iterations;
  options.tolerance = 0.0;
  options.progressive = ProgressiveLearning::Never;
  return learn(pair_with_slow(slow, ratio), options);
}

/// Of all learned connections in the last run, in their units.
double largest_error(const LearnResult& result) {
  double largest = 0.0;
  for (const auto& connection : result.iterations.back().connections) largest = std::max(largest, connection.max_error);
  return largest;
}

TEST(MultirateLearning, slow_force_is_tracked_to_1e_minus_2_N_at_ratios_2_3_and_5) {
  EXPECT_LT(largest_error(learned("force_side", 2, 6)), 1e-2);
  EXPECT_LT(largest_error(learned("force_side", 3, 7)), 1e-2);
  EXPECT_LT(largest_error(learned("force_side", 5, 10)), 1e-2);
}

TEST(MultirateLearning, slow_motion_is_tracked_to_1e_minus_2_N_at_ratios_2_3_and_5) {
  EXPECT_LT(largest_error(learned("motion_side", 2, 10)), 1e-2);
  EXPECT_LT(largest_error(learned("motion_side", 3, 14)), 1e-2);
  EXPECT_LT(largest_error(learned("motion_side", 5, 25)), 1e-2);
}

TEST(MultirateLearning, estimate_knows_how_the_uncorrected_run_grows) {
  LearnPlan plan;
  LearnOptions options;
  options.inputs = LearnInputs::Held;
  options.iterations = 1;
  auto description = pair_with_slow("force_side", 5);
  learn(description, options, {[&](const LearnPlan& known) { plan = known; }, {}});
  ASSERT_TRUE(plan.gamma.has_value() && plan.radius.has_value());
  EXPECT_GT(*plan.gamma, 1.0);
  // The slowest decaying mode is alone after 10 s; then the largest deflection of a second grows by radius^1000.
  description.stop = {20.0, {}};
  apply_option(description, "feedthrough=delay");
  Simulation simulation(description);
  MemoryRecorder record({"motion_side.x"});
  simulation.observe(record);
  ASSERT_EQ(simulation.run().termination, Termination::Completed);
  const auto& x = record.column("motion_side.x");
  const auto largest = [&](std::size_t from) {
    double size = 0.0;
    for (std::size_t k = from; k < from + 1000; ++k) size = std::max(size, std::abs(x.at(k)));
    return size;
  };
  EXPECT_NEAR(std::log(largest(19'000) / largest(10'000)) / 9000.0, std::log(*plan.radius),
              0.01 * std::log(*plan.radius));
}

TEST(LearningEstimate, of_twelve_masses_is_given_and_of_hundreds_refused_with_the_numbers) {
  const auto planned = [](std::size_t masses) {
    LearnPlan plan;
    LearnOptions options;
    options.inputs = LearnInputs::Held;
    options.iterations = 1;
    auto chain = models::chain_system(masses, false);
    chain.stop = {0.02, {}};
    learn(chain, options, {[&](const LearnPlan& known) { plan = known; }, {}});
    return plan;
  };
  EXPECT_TRUE(planned(12).gamma.has_value());
  const auto large = planned(60);
  EXPECT_FALSE(large.gamma.has_value());
  ASSERT_FALSE(large.notes.empty());
  EXPECT_EQ(test::number_of(large.notes, FactCode::TooLargeToEstimate, "corrections"), 59.0);
  EXPECT_EQ(test::number_of(large.notes, FactCode::TooLargeToEstimate, "cycle"), 1.0);
}

TEST(MultirateLearning, replay_of_ratio_5_is_the_best_run_to_the_last_bit) {
  const auto description = pair_with_slow("force_side", 5);
  const auto result = learned("force_side", 5, 4);
  ASSERT_EQ(result.after.size(), 1U);
  EXPECT_EQ(result.after[0].connection, "force_side.F -> motion_side.F");
  Simulation simulation(with_learned(description, result.learned),
                        {.threads = 1, .interrupt = nullptr, .learned = &result.learned});
  MemoryRecorder record({"motion_side.F"});
  simulation.observe(record);
  ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  // An input stands in the row at the end of the step it was held in.
  const auto& replayed = record.column("motion_side.F");
  EXPECT_EQ(std::vector<double>(replayed.begin() + 1, replayed.end()), result.after[0].received);
}

}  // namespace learning_multirate_test
}  // namespace entrain
