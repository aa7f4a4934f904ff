// Outputs of one run at the communication times of another.
#include "verify/output_courses.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace entrain {
namespace output_courses_test {

using Function = std::function<double(Time)>;

/// A run of one subsystem with one output, sampled at these times.
void record(verifying::OutputCourses& courses, const std::vector<Time>& times, const Function& y) {
  RunSummary summary;
  summary.subsystems.resize(1);
  std::vector<Signal> signals(3);
  signals[0].name = "a.u";
  signals[0].causality = Causality::Input;
  signals[1].name = "a.y";
  signals[2].name = "a.count";
  signals[2].discrete = 0;
  courses.begin(signals, summary);
  const std::vector<unsigned char> communicated{1};
  for (const Time t : times) {
    const std::vector<double> values{0.0, y(t), std::nan("")};
    courses.communicated({t, values, {}, communicated}, summary);
  }
  courses.end(summary);
}

std::vector<double> seen(const std::vector<Time>& wanted, const std::vector<Time>& times, const Function& y) {
  verifying::OutputCourses first;
  record(first, wanted, y);
  verifying::OutputCourses other(&first);
  record(other, times, y);
  EXPECT_EQ(other.outputs.size(), 1U) << "inputs and discrete outputs are none of its business";
  return other.outputs[0].values;
}

TEST(OutputCourses, common_times_are_taken_to_the_last_bit) {
  const auto wave = [](Time t) { return std::sin(t); };
  const std::vector<Time> wanted{0.0, 0.3, 0.6, 0.9};
  const auto values = seen(wanted, {0.0, 0.1, 0.3, 0.45, 0.6, 0.7, 0.9}, wave);
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(values[i], wave(wanted[i]));
}

TEST(OutputCourses, cubic_is_met_between_the_times_of_the_run) {
  const auto cubic = [](Time t) { return 1.0 - t + 2.0 * t * t - 3.0 * t * t * t; };
  const std::vector<Time> wanted{0.35, 0.4, 0.55, 0.65};
  const auto values = seen(wanted, {0.0, 0.2, 0.3, 0.5, 0.6, 0.8, 1.0}, cubic);
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(values[i], cubic(wanted[i]), 1e-15) << wanted[i];
}

TEST(OutputCourses, steps_a_hundred_times_shorter_do_not_make_it_swing) {
  // A jump of 1 between two times that are near each other: a cubic through both would reach 25.
  const auto jump = [](Time t) { return t > 1.0 ? 1.0 : 0.0; };
  for (const double value : seen({0.5}, {0.0, 1.0, 1.01, 1.02, 2.0}, jump)) EXPECT_NEAR(value, 0.0, 1.0);
  for (const double value : seen({1.5}, {0.0, 0.99, 1.0, 2.0, 3.0}, jump)) EXPECT_NEAR(value, 0.5, 1.0);
}

TEST(OutputCourses, nothing_is_known_before_the_first_time_and_after_the_last) {
  const auto values = seen({0.0, 1.5, 4.0}, {1.0, 2.0, 3.0}, [](Time t) { return t; });
  ASSERT_EQ(values.size(), 2U);
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_DOUBLE_EQ(values[1], 1.5);
}

}  // namespace output_courses_test
}  // namespace entrain
