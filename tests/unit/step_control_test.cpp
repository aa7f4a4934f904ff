#include "methods/step_control.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace entrain {
namespace step_control_test {

StepControlSettings settings_with(Normalisation normalisation) {
  StepControlSettings settings;
  settings.normalisation = normalisation;
  settings.relative_tolerance = 1e-2;
  settings.absolute_tolerance = 1e-3;
  return settings;
}

TEST(NormalisedError, by_magnitude_grows_without_need_where_an_output_crosses_zero) {
  const auto settings = settings_with(Normalisation::Magnitude);
  OutputRange range;
  range.begin(-10.0);
  range.take(10.0, 1.0, settings);
  EXPECT_DOUBLE_EQ(normalised_error(0.1, -10.0, range, settings), 0.1 / 0.101);
  EXPECT_DOUBLE_EQ(normalised_error(0.1, 0.0, range, settings), 0.1 / 0.001);
}

TEST(NormalisedError, by_amplitude_never_forgets_a_large_value) {
  const auto settings = settings_with(Normalisation::Amplitude);
  OutputRange range;
  range.begin(0.0);
  range.take(100.0, 1.0, settings);
  for (int k = 0; k < 1000; ++k) range.take(0.0, 1.0, settings);
  EXPECT_DOUBLE_EQ(normalised_error(1.0, 0.0, range, settings), 1.0 / 1.001);
}

// (36) for an output that rests at the middle of its range: the amplitude shrinks by the factor 1 - damping * step.
TEST(NormalisedError, by_damped_amplitude_forgets_it_as_the_recursion_says) {
  auto settings = settings_with(Normalisation::DampedAmplitude);
  settings.damping = 0.05;
  OutputRange range;
  range.begin(-1.0);
  range.take(1.0, 0.0, settings);
  for (int k = 1; k <= 40; ++k) {
    range.take(0.0, 2.0, settings);
    EXPECT_NEAR(range.high() - range.low(), 2.0 * std::pow(1.0 - 0.05 * 2.0, k), 1e-14);
  }
}

TEST(NormalisedError, bounds_meet_and_do_not_cross_in_a_step_longer_than_the_damping) {
  auto settings = settings_with(Normalisation::DampedAmplitude);
  settings.damping = 0.5;
  OutputRange range;
  range.begin(-1.0);
  range.take(3.0, 0.0, settings);
  range.take(1.0, 100.0, settings);
  EXPECT_EQ(range.low(), 1.0);
  EXPECT_EQ(range.high(), 1.0);
}

TEST(NormalisedError, of_an_exact_estimate_is_zero_even_without_a_tolerance) {
  StepControlSettings settings;
  settings.relative_tolerance = settings.absolute_tolerance = 0.0;
  EXPECT_EQ(normalised_error(0.0, 1.0, {}, settings), 0.0);
  EXPECT_EQ(dilatation(normalised_error(1.0, 1.0, {}, settings), 1), 0.0);
}

TEST(Dilatation, aims_at_an_error_of_one_tolerance) {
  EXPECT_DOUBLE_EQ(dilatation(16.0, 0), 1.0 / 16.0);
  EXPECT_DOUBLE_EQ(dilatation(16.0, 1), 0.25);
  EXPECT_DOUBLE_EQ(dilatation(8.0, 2), 0.5);
  EXPECT_EQ(dilatation(0.0, 2), std::numeric_limits<double>::infinity());
  EXPECT_EQ(dilatation(std::numeric_limits<double>::quiet_NaN(), 2), 0.0);
}

TEST(ProposedStep, stays_within_the_bounds_of_growth) {
  const StepControlSettings settings;
  EXPECT_DOUBLE_EQ(proposed_step(2.0, 0.5, 0.0, settings), 1.0);
  EXPECT_DOUBLE_EQ(proposed_step(2.0, 0.0, 0.0, settings), 0.2);
  EXPECT_DOUBLE_EQ(proposed_step(2.0, 1e9, 0.0, settings), 2.1);
}

TEST(ProposedStep, grows_back_at_once_after_a_step_that_the_scheduler_cut) {
  const StepControlSettings settings;
  EXPECT_DOUBLE_EQ(proposed_step(0.1, 1e9, 1.0, settings), 1.0);
  EXPECT_DOUBLE_EQ(proposed_step(0.1, 3.0, 1.0, settings), 0.3);  // but not against the error
  EXPECT_DOUBLE_EQ(proposed_step(1.0, 1e9, 0.5, settings), 1.05);
}

}  // namespace step_control_test
}  // namespace entrain
