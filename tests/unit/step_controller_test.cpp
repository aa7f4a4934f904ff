#include "methods/step_controller.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace entrain {
namespace step_controller_test {

method::StepController controller() {
  return {{.relative_tolerance = 1e-2, .absolute_tolerance = 1e-3}, {}};
}

TEST(ErrorNorm, by_magnitude_grows_without_need_where_an_output_crosses_zero) {
  const method::ErrorNorm norm{method::Normalisation::Magnitude};
  base::SignalRange range;
  range.begin(-10.0);
  norm.take(range, 10.0, 1.0);
  EXPECT_DOUBLE_EQ(norm.of(0.1, -10.0, range, controller()), 0.1 / 0.101);
  EXPECT_DOUBLE_EQ(norm.of(0.1, 0.0, range, controller()), 0.1 / 0.001);
}

TEST(ErrorNorm, by_amplitude_never_forgets_a_large_value) {
  const method::ErrorNorm norm{method::Normalisation::Amplitude};
  base::SignalRange range;
  range.begin(0.0);
  norm.take(range, 100.0, 1.0);
  for (int k = 0; k < 1000; ++k) norm.take(range, 0.0, 1.0);
  EXPECT_DOUBLE_EQ(norm.of(1.0, 0.0, range, controller()), 1.0 / 1.001);
}

// (36) for an output that rests at the middle of its range: the amplitude shrinks by the factor 1 - damping * step.
TEST(ErrorNorm, by_damped_amplitude_forgets_it_as_in_the_recursion) {
  const method::ErrorNorm norm{method::Normalisation::DampedAmplitude, 0.05};
  base::SignalRange range;
  range.begin(-1.0);
  norm.take(range, 1.0, 0.0);
  for (int k = 1; k <= 40; ++k) {
    norm.take(range, 0.0, 2.0);
    EXPECT_NEAR(range.span(), 2.0 * std::pow(1.0 - 0.05 * 2.0, k), 1e-14);
  }
}

TEST(ErrorNorm, bounds_meet_and_do_not_cross_in_a_step_longer_than_the_damping) {
  const method::ErrorNorm norm{method::Normalisation::DampedAmplitude, 0.5};
  base::SignalRange range;
  range.begin(-1.0);
  norm.take(range, 3.0, 0.0);
  norm.take(range, 1.0, 100.0);
  EXPECT_EQ(range.low, 1.0);
  EXPECT_EQ(range.high, 1.0);
}

TEST(ErrorNorm, of_an_exact_estimate_is_zero_even_without_a_tolerance) {
  const method::StepController exact({.relative_tolerance = 0.0, .absolute_tolerance = 0.0}, {});
  const method::ErrorNorm norm;
  EXPECT_EQ(norm.of(0.0, 1.0, {}, exact), 0.0);
  EXPECT_EQ(method::asymptotic_growth(norm.of(1.0, 1.0, {}, exact), 2), 0.0);
}

TEST(AsymptoticGrowth, aims_at_an_error_of_one_tolerance) {
  EXPECT_DOUBLE_EQ(method::asymptotic_growth(16.0, 1), 1.0 / 16.0);
  EXPECT_DOUBLE_EQ(method::asymptotic_growth(16.0, 2), 0.25);
  EXPECT_DOUBLE_EQ(method::asymptotic_growth(8.0, 3), 0.5);
  EXPECT_EQ(method::asymptotic_growth(0.0, 3), std::numeric_limits<double>::infinity());
  EXPECT_EQ(method::asymptotic_growth(std::numeric_limits<double>::quiet_NaN(), 3), 0.0);
}

TEST(SafeGrowth, keeps_a_reserve_and_is_bounded_without_an_error) {
  const method::StepSettings settings{.safety = 0.8, .most_growth = 1.5};
  EXPECT_DOUBLE_EQ(method::safe_growth(16.0, 4, settings), 0.4);
  EXPECT_EQ(method::safe_growth(0.0, 4, settings), 1.5);
}

TEST(PiGrowth, is_the_asymptotic_law_without_its_proportional_part) {
  const method::StepSettings settings{.safety = 1.0};
  EXPECT_DOUBLE_EQ(method::pi_growth(16.0, 123.0, {0.25, 0.0}, settings), 0.5);
  EXPECT_DOUBLE_EQ(method::pi_growth(16.0, 16.0, {0.25, 0.5}, settings), 0.5);
  EXPECT_LT(method::pi_growth(16.0, 1.0, {0.25, 0.5}, settings), 0.5);  // an error that grows counts more
}

TEST(StepController, stays_within_the_bounds_of_growth) {
  const method::StepController controller;
  EXPECT_DOUBLE_EQ(controller.next(2.0, 0.5), 1.0);
  EXPECT_DOUBLE_EQ(controller.next(2.0, 0.0), 0.2);
  EXPECT_DOUBLE_EQ(controller.next(2.0, 1e9), 2.1);
}

TEST(StepController, grows_back_at_once_after_a_step_that_was_cut_for_something_else) {
  const method::StepController controller;
  EXPECT_DOUBLE_EQ(controller.next(0.1, 1e9, 1.0), 1.0);
  EXPECT_DOUBLE_EQ(controller.next(0.1, 3.0, 1.0), 0.3);  // but not against the error
  EXPECT_DOUBLE_EQ(controller.next(1.0, 1e9, 0.5), 1.05);
}

TEST(StepLimits, zero_stands_for_the_default_and_the_smallest_step_wins) {
  EXPECT_EQ(method::StepSettings{}.limits(method::kExplicitLimits, 2.0).min, 2e-3);
  EXPECT_EQ(method::StepSettings{}.limits(method::kExplicitLimits, 2.0).max, 200.0);
  EXPECT_EQ((method::StepSettings{.min_step = 0.5, .max_step = 0.75}.limits(method::kHermiteLimits, 2.0).min), 0.5);
  EXPECT_EQ(method::StepSettings{}.limits(method::kAsynchronousLimits, 2.0).max, kNever);
  method::StepLimits limits{0.1, 1.0};
  Capabilities can;
  can.min_step = 0.2;
  can.max_step = 0.15;
  limits.narrow(can);
  EXPECT_EQ(limits.within(5.0), 0.2);
}

}  // namespace step_controller_test
}  // namespace entrain
