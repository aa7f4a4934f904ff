// Outputs as piecewise polynomials through their samples (docs/theory/waveform.md).
#include "methods/asynchronous/sampled_outputs.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace entrain::method {
namespace sampled_outputs_test {

double cubic(double t) {
  return 1.0 + 2.0 * t - 3.0 * t * t + 0.5 * t * t * t;
}

template <class Function>
SampledOutputs samples_of(const Function& function, const std::vector<double>& times) {
  SampledOutputs result;
  const double first = function(times[0]);
  result.start(times[0], {&first, 1});
  for (std::size_t k = 1; k < times.size(); ++k) {
    result.plan(times[k]);
    result.set(k, 0, function(times[k]));
  }
  return result;
}

const std::vector<double> kUneven{0.0, 0.1, 0.25, 0.3, 0.47, 0.6, 0.8};

TEST(SampledOutputs, reproduce_a_cubic_between_uneven_samples) {
  const auto outputs = samples_of(cubic, kUneven);
  for (double t = 0.0; t <= 0.8; t += 0.013) EXPECT_NEAR(outputs.at(0, t, 3), cubic(t), 1e-14);
}

TEST(SampledOutputs, give_a_cubic_over_steps_of_any_size) {
  const auto outputs = samples_of(cubic, kUneven);
  for (const auto& [from, size] : {std::pair{0.0, 0.8}, {0.05, 0.5}, {0.31, 0.04}}) {
    const auto p = outputs.over(0, from, size, 3);
    for (double s = 0.0; s <= size; s += size / 7) {
      EXPECT_NEAR(p[0] + s * (p[1] + s * (p[2] + s * p[3])), cubic(from + s), 1e-12);
    }
  }
}

TEST(SampledOutputs, keep_the_mean_over_a_step_of_many_samples) {
  const auto outputs = samples_of([](double t) { return std::sin(9.0 * t); }, kUneven);
  constexpr int kParts = 20000;
  double sum = 0.0;
  for (int k = 0; k < kParts; ++k) sum += outputs.at(0, 0.1 + 0.5 * (k + 0.5) / kParts, 3);
  const auto p = outputs.over(0, 0.1, 0.5, 3);
  EXPECT_NEAR(p[0] + 0.5 * (p[1] / 2 + 0.5 * (p[2] / 3 + 0.5 * p[3] / 4)), sum / kParts, 1e-8);
}

TEST(SampledOutputs, are_not_read_across_a_break) {
  auto outputs = samples_of([](double t) { return t < 0.25 ? 0.0 : 4.0 * (t - 0.25); }, kUneven);
  for (std::size_t k = 1; k <= 2; ++k) {
    const double value = outputs.value(k, 0);
    outputs.make_first(kUneven[k], {&value, 1});
  }
  EXPECT_GT(std::abs(outputs.at(0, 0.2, 3)), 1e-3);  // without a break the kink is felt before it
  outputs.break_here();
  EXPECT_NEAR(outputs.at(0, 0.2, 3), 0.0, 1e-14);
  EXPECT_NEAR(outputs.at(0, 0.28, 3), 0.12, 1e-14);
}

TEST(SampledOutputs, forget_what_no_step_needs_and_nothing_else) {
  auto outputs = samples_of(cubic, {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8});
  for (std::size_t k = 1; k <= 7; ++k) {
    const double value = outputs.value(k, 0);
    outputs.make_first(outputs.time(k), {&value, 1});
  }
  outputs.forget_before(0.5);
  EXPECT_LT(outputs.samples(), 9U);
  EXPECT_NEAR(outputs.at(0, 0.45, 3), cubic(0.45), 1e-14);
  EXPECT_EQ(outputs.last_known(), 0.7);
}

}  // namespace sampled_outputs_test
}  // namespace entrain::method
