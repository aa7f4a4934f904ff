// What repeated runs leave behind: replays to the same bits, horizons that end early, options that cannot be learned
// with.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "entrain/learning.hpp"
#include "entrain/recording.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace learning_replay_test {

using test::example;
using test::has_fact;

LearnOptions runs(int iterations, ProgressiveLearning progressive = ProgressiveLearning::Never) {
  LearnOptions options;
  options.inputs = LearnInputs::Held;
  options.iterations = iterations;
  options.progressive = progressive;
  return options;
}

/// The 2-norm of the error of a learned connection, late by one step, as the learning sees it.
double replayed_norm(const SystemDescription& description, const Learned& learned, const std::string& output,
                     const std::string& input) {
  Simulation simulation(with_learned(description, learned), {.learned = &learned});
  MemoryRecorder record({output, input});
  simulation.observe(record);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  double squares = 0.0;
  for (std::size_t k = 1; k < record.times.size(); ++k) {
    const double error = record.column(output)[k] - record.column(input)[k];
    squares += error * error;
  }
  return std::sqrt(squares);
}

TEST(LearnedReplay, of_an_algebraic_loop_is_the_best_run_to_the_last_bit) {
  // The start is solved anew in every run; what the last macro step of the run before was corrected by must not be in
  // it.
  const auto description = test::system_from(R"([run]
stop = 2.0
step = 0.01
[subsystems.motor]
model = "drivetrain.motor"
start = { torque_request = 50.0, load = 20.0, T = 300.0, w = 200.0, torque = 50.0 }
[subsystems.battery]
model = "drivetrain.battery"
start = { I_aux = 0.0 }
[connections]
"motor.I" = "battery.I"
"battery.V" = "motor.V"
)");
  const auto result = learn(description, runs(30));
  EXPECT_EQ(result.end, LearnEnd::Converged);
  const auto& best = result.iterations.at(static_cast<std::size_t>(result.best));
  ASSERT_EQ(best.connections.size(), 2U);
  EXPECT_EQ(replayed_norm(description, result.learned, "motor.I", "battery.I"), best.connections[0].norm);
  EXPECT_EQ(replayed_norm(description, result.learned, "battery.V", "motor.V"), best.connections[1].norm);
}

TEST(Learning, takes_macro_steps_of_one_size_whatever_the_file_contains) {
  auto description = test::changed(example("learning"), {.stop = 0.1, .options = {"adaptive=true"}});
  const auto result = learn(description, runs(3));
  EXPECT_TRUE(has_fact(result.notes, FactCode::OptionNotLearned, "adaptive"));
  EXPECT_EQ(result.learned.steps, 100U);
  EXPECT_EQ(result.learned.options.at("adaptive"), OptionValue(false));
  Learned learned = result.learned;
  learned.options["adaptive"] = true;
  EXPECT_THROW(with_learned(description, learned), Error);
}

TEST(Learning, with_refreshed_outputs_learns_with_late_ones_and_a_note) {
  const auto refreshed = test::changed(example("learning"), {.stop = 0.5, .options = {"feedthrough=refresh"}});
  const auto result = learn(refreshed, runs(4));
  EXPECT_TRUE(has_fact(result.notes, FactCode::RefreshNotLearned));
  const auto late = learn(test::changed(example("learning"), {.stop = 0.5}), runs(4));
  EXPECT_EQ(result.learned.corrections, late.learned.corrections);
  EXPECT_GT(result.iterations[0].error, 1e-3) << "there is something to learn";
}

TEST(ProgressiveHorizon, that_does_not_get_to_the_stop_time_is_replayed_as_far_as_it_got) {
  const auto description = test::changed(example("learning"), {.stop = 4.0});
  const auto result = learn(description, runs(2, ProgressiveLearning::Always));
  EXPECT_EQ(result.end, LearnEnd::Iterations);
  EXPECT_EQ(result.stop, 4.0);
  EXPECT_DOUBLE_EQ(result.learned_to, 0.2) << "a twentieth";
  EXPECT_EQ(result.learned.steps, 200U);
  EXPECT_EQ(result.learned.corrections.size(), 200U);
  auto shorter = description;
  shorter.stop = {result.learned_to, {}};
  EXPECT_EQ(replayed_norm(shorter, result.learned, "force_side.F", "motion_side.F"),
            result.iterations.at(1).connections.at(0).norm);
  try {
    Simulation simulation(with_learned(description, result.learned), {.learned = &result.learned});
    FAIL() << "a longer run was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(test::outline(error), "learned-too-short (run_steps = 4000, steps = 200)");
  }
}

TEST(ProgressiveHorizon, that_is_interrupted_keeps_the_longest_one_that_was_learned_to_its_end) {
  std::atomic<bool> interrupt{false};
  auto options = runs(30, ProgressiveLearning::Always);
  options.interrupt = &interrupt;
  const auto half_learned = [&](const LearnIteration& iteration) { interrupt = iteration.horizon > 0.5; };
  const auto result = learn(test::changed(example("learning"), {.stop = 4.0}), options, {{}, half_learned});
  EXPECT_EQ(result.end, LearnEnd::Interrupted);
  EXPECT_DOUBLE_EQ(result.learned_to, 0.4) << "0.6 s were tried once";
  EXPECT_EQ(result.learned.steps, 400U);
  EXPECT_LE(result.learned.error, options.tolerance);
}

TEST(ProgressiveHorizon, below_the_macro_step_grows_by_the_macro_step) {
  auto options = runs(3, ProgressiveLearning::Always);
  options.horizon = 1e-9;
  options.tolerance = 1e-3;
  const auto result = learn(test::changed(example("learning"), {.stop = 0.01}), options);
  EXPECT_EQ(test::number_of(result.notes, FactCode::ProgressiveHorizon, "growth"), 0.001);
  EXPECT_LE(result.iterations.size(), 30U);
}

TEST(Learning, that_is_interrupted_in_its_first_run_has_learned_nothing) {
  const std::atomic<bool> interrupt{true};
  auto options = runs(5);
  options.interrupt = &interrupt;
  const auto result = learn(test::changed(example("learning"), {.stop = 0.1}), options);
  EXPECT_EQ(result.end, LearnEnd::Interrupted);
  EXPECT_EQ(result.learned_to, 0.0);
  EXPECT_EQ(result.learned.steps, 0U);
  EXPECT_TRUE(result.learned.corrections.empty());
}

/// Of steps in these ratios to the macro step; how far the error is from zero in the last of so many runs.
double left_after(double force_ratio, double motion_ratio, int iterations) {
  auto description = test::changed(example("learning"), {.stop = 3.0});
  if (force_ratio > 1.0) description.subsystems[0].step = {force_ratio * 1e-3, {}};
  if (motion_ratio > 1.0) description.subsystems[1].step = {motion_ratio * 1e-3, {}};
  auto options = runs(iterations, ProgressiveLearning::Auto);
  options.tolerance = 1e-8;
  const auto result = learn(description, options);
  EXPECT_EQ(result.end, LearnEnd::Converged) << to_string(result.end);
  EXPECT_EQ(result.learned_to, 3.0);
  return result.learned.error;
}

TEST(LearningOfSteps, three_and_five_times_as_long_converges) {
  EXPECT_LE(left_after(3.0, 1.0, 60), 1e-8);
  EXPECT_LE(left_after(5.0, 1.0, 60), 1e-8);
  EXPECT_LE(left_after(1.0, 3.0, 60), 1e-8);
  EXPECT_LE(left_after(1.0, 5.0, 60), 1e-8);
  EXPECT_LE(left_after(3.0, 5.0, 60), 1e-8) << "neither is a multiple of the other";
}

}  // namespace learning_replay_test
}  // namespace entrain
