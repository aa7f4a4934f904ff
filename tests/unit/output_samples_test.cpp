// The samples of runs that are compared.
#include "estimate/output_samples.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace entrain {
namespace output_samples_test {

/// A run of one subsystem with one output, y = t.
void pass(estimate::OutputSamples& samples, Duration step, int steps) {
  RunSummary summary;
  summary.stop = step * steps;
  summary.step = step;
  summary.subsystems.resize(1);
  const std::vector<Signal> signals{{.name = "a.y", .unit = "m", .description = ""}};
  samples.begin(signals, summary);
  const std::vector<unsigned char> communicated{1};
  for (int k = 0; k <= steps; ++k) {
    const std::vector<double> values{k * step};
    samples.communicated({.t = k * step, .values = values, .slopes = {}, .communicated = communicated}, summary);
  }
}

TEST(OutputSamples, beyond_the_limit_every_second_time_is_left_out_but_not_the_stop) {
  estimate::OutputSamples samples({.most_numbers = 90});
  pass(samples, 0.125, 1001);
  const auto& times = samples.groups()[0].times;
  EXPECT_LE(3 * times.size(), 93u);
  EXPECT_GE(times.size(), 15u);
  EXPECT_EQ(times.back(), 0.125 * 1001);
  for (std::size_t k = 0; k + 1 < times.size(); ++k) EXPECT_EQ(std::fmod(times[k], 0.125 * 32), 0.0) << times[k];
  EXPECT_EQ(samples.course(samples.outputs()[0]), times);
  EXPECT_EQ(samples.outputs()[0].range.high, 0.125 * 1001);
}

TEST(OutputSamples, companion_is_kept_where_both_communicate) {
  estimate::OutputSamples run(estimate::OutputSamples::Options{});
  pass(run, 0.125, 10);
  estimate::OutputSamples companion(&run);
  pass(companion, 0.25, 5);
  const auto course = companion.course(companion.outputs()[0]);
  ASSERT_EQ(course.size(), 11u);
  for (std::size_t k = 0; k < course.size(); ++k) {
    EXPECT_EQ(std::isnan(course[k]), k % 2 == 1) << k;
    if (k % 2 == 0) {
      EXPECT_EQ(course[k], 0.125 * static_cast<double>(k));
    }
  }
}

TEST(OutputSamples, switched_off_keeps_nothing) {
  estimate::OutputSamples samples({.off = true});
  pass(samples, 0.125, 10);
  EXPECT_TRUE(samples.outputs().empty());
}

TEST(OutputSamples, outputs_that_move_once_in_four_steps_show_a_step_inside) {
  estimate::OutputSamples::Rhythm rhythm;
  for (int k = 1; k <= 100; ++k) rhythm.take(k % 4 == 0);
  EXPECT_EQ(rhythm.inner_steps(), 4u);
}

TEST(OutputSamples, outputs_that_rest_for_a_while_show_none) {
  estimate::OutputSamples::Rhythm rests;
  for (int k = 1; k <= 100; ++k) rests.take(k > 80);
  EXPECT_EQ(rests.inner_steps(), 0u);
  estimate::OutputSamples::Rhythm moves;
  for (int k = 1; k <= 100; ++k) moves.take(true);
  EXPECT_EQ(moves.inner_steps(), 0u);
}

}  // namespace output_samples_test
}  // namespace entrain
