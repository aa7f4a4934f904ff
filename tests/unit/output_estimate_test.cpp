#include "methods/asynchronous/output_estimate.hpp"
#include "base/bytes.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace entrain {
namespace output_estimate_test {

double at(const method::OutputEstimate& estimate, Time t) {
  double sum = 0.0;
  for (std::size_t p = estimate.polynomial().size(); p-- > 0;) {
    sum = sum * (t - estimate.time()) + estimate.polynomial()[p];
  }
  return sum;
}

method::OutputEstimate after(const std::vector<std::pair<double, double>>& samples,
                             const method::OutputEstimate::Settings& settings) {
  method::OutputEstimate estimate;
  estimate.begin(samples[0].first, samples[0].second);
  for (std::size_t i = 1; i < samples.size(); ++i) (void)estimate.take(samples[i].first, samples[i].second, settings);
  return estimate;
}

TEST(OutputEstimate, holds_the_value_until_there_is_a_past_to_judge_by) {
  const method::OutputEstimate::Settings settings{2, false};
  const auto one = after({{0.0, 3.0}}, settings);
  EXPECT_EQ(one.order(), 0);
  EXPECT_EQ(at(one, 5.0), 3.0);
  // With one sample before, order 0 is the only one that can be judged.
  EXPECT_EQ(after({{0.0, 3.0}, {1.0, 4.0}}, settings).order(), 0);
  EXPECT_EQ(after({{0.0, 3.0}, {1.0, 4.0}, {2.0, 5.0}}, settings).order(), 1);
}

TEST(OutputEstimate, chooses_the_order_that_would_have_predicted_the_latest_sample) {
  const auto chosen = [](auto&& function, int max_order) {
    method::OutputEstimate estimate;
    estimate.begin(0.0, function(0.0));
    for (const double t : {0.5, 0.9, 1.6, 2.0, 2.7, 3.0}) (void)estimate.take(t, function(t), {max_order, false});
    return estimate.order();
  };
  EXPECT_EQ(chosen([](double) { return 7.0; }, 3), 0);  // all orders are right: the lowest
  EXPECT_EQ(chosen([](double t) { return 2 * t - 1; }, 3), 1);
  EXPECT_EQ(chosen([](double t) { return t * t; }, 3), 2);
  EXPECT_EQ(chosen([](double t) { return t * t * t; }, 3), 3);
  EXPECT_EQ(chosen([](double t) { return t * t * t; }, 2), 2);
  EXPECT_EQ(chosen([](double t) { return t < 2.9 ? t * t : -5.0; }, 2), 0);  // a jump: nothing helps
}

TEST(OutputEstimate, passes_through_the_samples_its_order_needs_or_fits_one_more) {
  const std::vector<std::pair<double, double>> samples{{0.0, 0.0}, {1.0, 1.0}, {2.0, 2.1}};
  const auto through = after(samples, {2, false});
  ASSERT_EQ(through.order(), 1);
  EXPECT_NEAR(at(through, 3.0), 2.1 + 1.1, 1e-15);
  const auto fitted = after(samples, {2, true});
  ASSERT_EQ(fitted.order(), 1);
  EXPECT_EQ(at(fitted, 2.0), 2.1);                                   // the latest sample is kept exactly
  EXPECT_NEAR(at(fitted, 3.0), 2.1 + (1.1 + 2 * 2.1) / 5.0, 1e-14);  // sum(s z) / sum(s^2) over the older two
}

TEST(OutputEstimate, returns_the_error_of_its_prediction_and_the_order) {
  method::OutputEstimate estimate;
  estimate.begin(0.0, 0.0);
  (void)estimate.take(1.0, 1.0, {2, false});
  const auto second = estimate.take(2.0, 2.0, {2, false});  // predicted: held 1
  EXPECT_EQ(second.error, 1.0);
  EXPECT_EQ(second.order, 0);
  EXPECT_EQ(second.highest, 1);
  const auto third = estimate.take(3.0, 3.5, {2, false});  // predicted: the line through (1, 1) and (2, 2)
  EXPECT_EQ(third.error, 0.5);
  EXPECT_EQ(third.order, 1);
  EXPECT_EQ(third.highest, 2);
}

TEST(OutputEstimate, forgets_what_lies_before_a_new_beginning) {
  auto estimate = after({{0.0, 0.0}, {1.0, 1.0}, {2.0, 4.0}, {3.0, 9.0}}, {2, false});
  ASSERT_EQ(estimate.order(), 2);
  estimate.begin(4.0, -100.0);
  EXPECT_EQ(estimate.times().size(), 1U);
  EXPECT_EQ(at(estimate, 9.0), -100.0);
  (void)estimate.take(5.0, -99.0, {2, false});
  EXPECT_EQ(estimate.order(), 0);
  EXPECT_EQ(estimate.times().size(), 2U);
}

TEST(OutputEstimate, keeps_as_many_samples_as_the_highest_least_squares_needs) {
  method::OutputEstimate estimate;
  estimate.begin(0.0, 0.0);
  for (int k = 1; k <= 9; ++k) (void)estimate.take(k, std::pow(k, 3), {3, true});
  EXPECT_EQ(estimate.times().size(), method::OutputEstimate::kSamples);
  EXPECT_EQ(estimate.order(), 3);
  EXPECT_NEAR(at(estimate, 10.0), 1000.0, 1e-9);  // a cubic is fitted exactly
}

TEST(OutputEstimate, goes_on_from_its_bytes_with_the_same_bits) {
  auto estimate = after({{0.0, 0.1}, {0.3, 0.7}, {0.4, 1.3}, {0.9, 1.1}}, {2, true});
  method::OutputEstimate copy;
  base::from_bytes(base::to_bytes(estimate), copy);
  const auto expected = estimate.take(1.0, 1.7, {2, true});
  const auto found = copy.take(1.0, 1.7, {2, true});
  EXPECT_EQ(found.error, expected.error);
  EXPECT_EQ(at(copy, 1.3), at(estimate, 1.3));
}

}  // namespace output_estimate_test
}  // namespace entrain
