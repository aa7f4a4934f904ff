// Learning with a part outside: the motion side of the oscillator over UDP.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "entrain/fact_codes.hpp"
#include "entrain/learning.hpp"
#include "entrain/simulation.hpp"
#include "support/bench.hpp"
#include "support/facts.hpp"
#include "support/ode_model.hpp"
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
  EXPECT_FALSE(result.iterations.at(1).gamma) << "of runs with the same corrections";
  EXPECT_TRUE(result.iterations.at(2).gamma);
  EXPECT_EQ(result.cutoff, 0.0) << "there is no noise to filter";
  EXPECT_EQ(result.forgetting, 0.0);
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
  options.iterations = 3;  // and one more that the repeatability is measured by
  const auto paced = learn(description, options);
  ASSERT_TRUE(paced.repeatability);
  EXPECT_EQ(*paced.repeatability, 0.0);
  EXPECT_GT(clock.now(), 0);
  for (const auto& iteration : paced.iterations) EXPECT_EQ(iteration.missed_deadlines, 0U);
  // Runs 0 and 1 of the paced ones have no corrections.
  ASSERT_EQ(paced.iterations.size(), 4U);
  EXPECT_EQ(paced.iterations.at(0).error, free.iterations.at(0).error);
  for (const std::size_t run : {1U, 2U, 3U}) {
    EXPECT_EQ(paced.iterations.at(run).error, free.iterations.at(run - 1).error) << run;
  }
}

/// A paced loop of two parts of first order whose first output is disturbed: a bench with known faults.
class DisturbedBench {
 public:
  LearnResult learn(LearnOptions options, WallClock& clock) {
    options.inputs = LearnInputs::Linear;
    options.real_time = RealTimeOptions{.clock = &clock};
    LearnProgress progress;
    progress.iterated = [this](const LearnIteration& iteration) {
      ++run_;
      if (ended) ended(iteration.number);
    };
    const auto description = test::system_from(R"(
[run]
stop = 1.0
step = 0.01
method = "jacobi"
[subsystems.plant]
model = "plant"
[subsystems.part]
model = "part"
[connections]
"plant.y" = "part.u"
"part.y" = "plant.u"
)");
    return entrain::learn(description, options, progress, [this](std::string_view name) { return model(name); });
  }

  double noise = 0.0;  ///< amplitude, other in every run and not seen at the start
  double shift = 0.0;
  std::function<void(int number)> ended;

 private:
  std::unique_ptr<Model> model(std::string_view name) {
    if (name == "part") {
      return std::make_unique<test::OdeModel>(test::OdeModel::Equation{[](double x, double u) { return 6.0 * (u - x); },
                                                                       [](double x, double) { return -8.0 * x; }, 0.0});
    }
    return std::make_unique<test::OdeModel>(
        test::OdeModel::Equation{[](double, double u) { return u; },
                                 [this](double x, double) {
                                   const double phase = 1e5 * (x - 1.0);
                                   return x + shift + noise * std::sin(phase) * std::cos(phase + 2.1 * run_);
                                 },
                                 1.0});
  }

  int run_ = 0;
};

/// How much the corrections change from step to step and back: the sum of the squares of their second differences.
double roughness(const Learned& learned) {
  const std::size_t numbers = learned.inputs.size() * learned.orders;
  double sum = 0.0;
  for (std::size_t k = 3 * numbers; k < learned.corrections.size(); ++k) {
    const auto& c = learned.corrections;
    sum += std::pow(c[k] - 2.0 * c[k - numbers] + c[k - 2 * numbers], 2);
  }
  return sum;
}

TEST(BenchLearning, noise_is_filtered_as_it_was_measured_and_not_learned) {
  test::StillClock clock;
  DisturbedBench bench;
  bench.noise = 5e-3;
  LearnOptions options = few_runs(6);
  const auto filtered = bench.learn(options, clock);
  ASSERT_TRUE(filtered.repeatability);
  EXPECT_GT(*filtered.repeatability, 0.0);
  EXPECT_GT(filtered.cutoff, 0.0);
  EXPECT_LT(filtered.cutoff, 0.5 / 0.01) << "below the highest frequency there is";
  EXPECT_TRUE(test::has_fact(filtered.notes, FactCode::NoiseFiltered));
  EXPECT_GT(filtered.forgetting, 0.0);
  EXPECT_LE(filtered.forgetting, 0.1);
  DisturbedBench again;
  again.noise = bench.noise;
  options.cutoff = 0.0;
  options.forgetting = 0.0;
  const auto raw = again.learn(options, clock);
  EXPECT_EQ(raw.cutoff, 0.0);
  EXPECT_LT(roughness(filtered.learned), 0.5 * roughness(raw.learned)) << "noise changes from step to step";
}

TEST(BenchLearning, forgetting_leaves_its_share_of_the_correction) {
  // f c = e at the fixed point, and c + e is what the run without correction missed: f / (1 + f) of that is left.
  for (const double f : {0.05, 0.1}) {
    test::StillClock clock;
    DisturbedBench bench;
    LearnOptions options = few_runs(40);
    options.forgetting = f;
    const auto result = bench.learn(options, clock);
    const double left = result.iterations.back().error / result.iterations.front().error;
    // The correction changes the outputs a little, by the loop gain over one step.
    EXPECT_NEAR(left, f / (1.0 + f), 0.1 * f) << f;
  }
}

TEST(BenchLearning, run_from_another_start_is_not_learned_from) {
  test::StillClock clock;
  DisturbedBench calm;
  const auto expected = calm.learn(few_runs(4), clock);
  DisturbedBench bench;
  bench.ended = [&](int number) { bench.shift = number == 1 ? 0.1 : 0.0; };
  const auto result = bench.learn(few_runs(4), clock);
  EXPECT_NE(result.iterations.at(2).not_used.find("started"), std::string::npos) << result.iterations.at(2).not_used;
  EXPECT_EQ(result.iterations.at(3).error, expected.iterations.at(2).error) << "with the same corrections";
  EXPECT_EQ(result.learned.corrections, expected.learned.corrections);
}

/// Wall time that passes while a run computes, while `stalls`.
class StallingClock final : public WallClock {
 public:
  std::int64_t now() noexcept override { return now_ += stalls ? 20'000'000 : 0; }
  void sleep_until(std::int64_t instant) noexcept override { now_ = std::max(now_, instant); }
  bool stalls = false;

 private:
  std::int64_t now_ = 0;
};

TEST(BenchLearning, run_with_missed_deadlines_is_recorded_and_not_learned_from) {
  test::StillClock still;
  DisturbedBench calm;
  const auto expected = calm.learn(few_runs(4), still);
  StallingClock clock;
  DisturbedBench bench;
  // The first run without change, and the second with corrections.
  bench.ended = [&](int number) { clock.stalls = number == 2; };
  clock.stalls = true;
  const auto result = bench.learn(few_runs(4), clock);
  for (const std::size_t run : {0U, 3U}) {
    EXPECT_GT(result.iterations.at(run).missed_deadlines, 90U) << run;
    EXPECT_NE(result.iterations.at(run).not_used.find("deadlines"), std::string::npos) << run;
  }
  EXPECT_EQ(result.iterations.at(1).not_used, "");
  EXPECT_EQ(result.learned.corrections, expected.learned.corrections);
  ASSERT_TRUE(result.repeatability);
  EXPECT_EQ(*result.repeatability, 0.0);
}

TEST(BenchLearning, corrections_fade_out_when_the_rig_is_another) {
  const auto description = test::system_from(test::bench_text(test::udp_link(test::kPatient)));
  RigOptions rig_options;
  rig_options.runs = 0;
  LearnResult result;
  const auto replayed = [&](const SystemDescription& played) {
    test::RigInThread rig(played, rig_options);
    RunOptions options;
    options.learned = &result.learned;
    return Simulation(with_learned(description, result.learned), options).run();
  };
  {
    test::RigInThread rig(description, rig_options);
    result = learn(description, few_runs(4));
  }
  ASSERT_TRUE(result.learned.guard);
  auto guarded = result.learned.guard->outputs;
  std::sort(guarded.begin(), guarded.end());
  EXPECT_EQ(guarded, (std::vector<std::string>{"left.F", "right.v", "right.x"}));
  EXPECT_FALSE(test::has_fact(replayed(description).warnings, FactCode::CorrectionFaded));
  auto heavier = description;
  heavier.subsystems.at(1).start["m2"] = {3.0, {}};
  const auto summary = replayed(heavier);
  EXPECT_EQ(summary.termination, Termination::Completed);
  // Other from the second macro step on, and twenty steps until nothing is left.
  EXPECT_NEAR(test::number_of(summary.warnings, FactCode::CorrectionFaded, "time"), 0.2, 0.02);
}

}  // namespace bench_learning_test
}  // namespace entrain
