// Learning with a part outside: the motion side of the oscillator over UDP.
#include <gtest/gtest.h>

#include "entrain/fact_codes.hpp"
#include "entrain/learning.hpp"
#include "support/bench.hpp"
#include "support/facts.hpp"
#include "support/still_clock.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace bench_learning_test {

LearnOptions few_runs(int iterations) {
  LearnOptions options;
  options.iterations = iterations;
  options.tolerance = 1e-10;
  return options;
}

TEST(BenchLearning, rig_without_disturbance_is_learned_as_its_model_is) {
  const auto description = test::system_from(test::bench_text(test::udp_link(test::kPatient)));
  RigOptions rig_options;
  rig_options.runs = 0;
  test::RigInThread rig(description, rig_options);
  const auto result = learn(description, few_runs(8));
  EXPECT_EQ(result.plan.inputs, LearnInputs::Hermite);
  EXPECT_TRUE(test::has_fact(result.notes, FactCode::MeansLearned)) << "a datagram carries constants";
  ASSERT_TRUE(result.repeatability);
  EXPECT_EQ(*result.repeatability, 0.0) << "a rig that computes repeats to the last bit";
  EXPECT_FALSE(result.judged) << "there is no truth on a bench";
  EXPECT_FALSE(result.iterations.at(2).gamma) << "of runs with the same corrections";
  EXPECT_TRUE(result.iterations.at(3).gamma);
  EXPECT_LT(result.learned.error, 1e-3 * result.iterations.front().error);
}

TEST(BenchLearning, lost_answers_are_learned_from_as_far_as_runs_repeat) {
  const auto description = test::system_from(test::bench_text(test::udp_link("timeout = 30.0, wait = 0.2")));
  RigOptions rig_options;
  rig_options.runs = 0;
  rig_options.loss = 0.01;
  rig_options.seed = 4;  // both of the first runs lose answers
  rig_options.jitter = 1e-3;
  test::RigInThread rig(description, rig_options);
  const auto result = learn(description, few_runs(8));
  const auto counted = rig.stop();
  ASSERT_TRUE(result.repeatability);
  EXPECT_GT(*result.repeatability, 0.0);
  EXPECT_GT(counted.withheld, 0U);
  std::uint64_t held = 0;
  for (const auto& iteration : result.iterations) held += iteration.held_steps;
  EXPECT_GE(held, counted.withheld) << "every lost answer leaves a step without new outputs";
  if (held > counted.withheld) {  // a busy machine answered late, as often as it likes
    EXPECT_LE(result.learned.error, result.iterations.front().error);
    return;
  }
  EXPECT_EQ(result.end, LearnEnd::Converged) << "what is left is noise";
  EXPECT_LE(result.learned.error, 2.0 * *result.repeatability);
  EXPECT_LT(result.learned.error, 0.1 * result.iterations.front().error);
}

TEST(BenchLearning, run_with_many_steps_without_answers_is_not_learned_from) {
  const auto description = test::system_from(test::bench_text(test::udp_link("timeout = 30.0, wait = 0.01")));
  RigOptions rig_options;
  rig_options.runs = 0;
  rig_options.loss = 0.3;
  test::RigInThread rig(description, rig_options);
  const auto result = learn(description, few_runs(4));
  EXPECT_TRUE(test::has_fact(result.notes, FactCode::IterationNotUsed));
  EXPECT_TRUE(result.learned_nothing());
}

TEST(BenchLearning, paced_runs_learn_the_same_corrections) {
  auto description = test::system_from(test::bench_text("step = 0.01"));
  LearnOptions options = few_runs(4);
  options.inputs = LearnInputs::Linear;
  const auto free = learn(description, options);
  test::StillClock clock;
  options.real_time = RealTimeOptions{.clock = &clock};
  options.iterations = 3;  // and one that measures the repeatability
  const auto paced = learn(description, options);
  ASSERT_TRUE(paced.repeatability);
  EXPECT_EQ(*paced.repeatability, 0.0);
  EXPECT_GT(clock.now(), 0);
  for (const auto& iteration : paced.iterations) EXPECT_EQ(iteration.missed_deadlines, 0U);
  // Runs 0 and 1 of the paced ones have no corrections.
  EXPECT_EQ(paced.iterations.at(2).error, free.iterations.at(0).error);
  EXPECT_EQ(paced.iterations.at(3).error, free.iterations.at(1).error);
}

}  // namespace bench_learning_test
}  // namespace entrain
