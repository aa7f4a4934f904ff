// What steps do not resolve of a signal, estimated from its samples alone.
#include "record/step_resolution.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace entrain {
namespace step_resolution_test {

/// Of a signal sampled at the given times, on 95 % of the steps.
double missed_of(const std::function<double(double)>& signal, const std::vector<Time>& times) {
  const std::vector<Signal> signals{{"a.y", "", "", Causality::Output, 0}};
  RunSummary summary;
  summary.connections.push_back({"a.y -> b.u", "a.y", "b.u", 0.0, 1.0});
  recording::StepResolution resolution;
  resolution.begin(signals, summary);
  for (const Time t : times) {
    const double value[] = {signal(t)};
    resolution.communicated({t, value, {}, {}, {}, {}});
  }
  return resolution.missed(0, 0.95);
}

std::vector<Time> even(double step, int count) {
  std::vector<Time> times;
  for (int k = 0; k < count; ++k) times.push_back(step * k);
  return times;
}

double quartic(double t) {
  return t * t * t * t;
}

// Exact to the octave: quantiles are counted by octaves.
TEST(StepResolution, of_a_quartic_is_what_its_hermite_cubic_misses) {
  constexpr double kStep = 0.1;
  const double midpoint_error = std::pow(kStep, 4) * 24.0 / 384.0;
  const double missed = missed_of(quartic, even(kStep, 30));
  EXPECT_GE(missed, midpoint_error / 2);
  EXPECT_LE(missed, midpoint_error * 2);
}

TEST(StepResolution, of_steps_that_differ_is_that_of_the_longer_ones) {
  std::vector<Time> times{0.0};
  for (int k = 0; k < 60; ++k) times.push_back(times.back() + (k % 2 == 0 ? 0.05 : 0.1));
  const double midpoint_error = std::pow(0.1, 4) * 24.0 / 384.0;
  const double missed = missed_of(quartic, times);
  EXPECT_GE(missed, midpoint_error / 2);
  EXPECT_LE(missed, midpoint_error * 2);
}

TEST(StepResolution, of_a_cubic_is_rounding_and_falls_with_the_fourth_power_of_the_step) {
  EXPECT_LT(missed_of([](double t) { return 1.0 - 2.0 * t + t * t * t; }, even(0.1, 30)), 1e-13);
  const auto sine = [](double t) { return std::sin(t); };
  EXPECT_NEAR(std::log2(missed_of(sine, even(0.2, 200)) / missed_of(sine, even(0.1, 400))), 4.0, 0.2);
}

TEST(StepResolution, of_less_than_five_samples_is_unknown) {
  EXPECT_TRUE(std::isnan(missed_of(quartic, even(0.1, 4))));
  EXPECT_FALSE(std::isnan(missed_of(quartic, even(0.1, 5))));
}

}  // namespace step_resolution_test
}  // namespace entrain
