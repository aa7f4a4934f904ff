#include "base/signal_range.hpp"

#include <gtest/gtest.h>

#include <array>

namespace entrain {
namespace signal_range_test {

TEST(SignalRange, spans_its_values_and_ignores_what_is_no_number) {
  const auto range = base::SignalRange::of(std::array{2.0, -3.0, std::nan(""), 1.0});
  EXPECT_EQ(range.low, -3.0);
  EXPECT_EQ(range.high, 2.0);
  EXPECT_EQ(range.span(), 5.0);
  EXPECT_EQ(range.magnitude(), 3.0);
}

TEST(SignalRange, size_of_a_signal_at_rest_is_a_share_of_its_magnitude) {
  base::SignalRange range;
  range.begin(-100.0);
  EXPECT_EQ(range.span(), 0.0);
  EXPECT_EQ(range.size(base::size_floor::kResting), 1e-6 * 100.0);
  EXPECT_EQ(range.span_or_magnitude(), 100.0);
  range.take(-99.0);
  EXPECT_EQ(range.size(base::size_floor::kResting), 1.0);
  EXPECT_EQ(range.span_or_magnitude(), 1.0);
}

TEST(SignalRange, narrows_from_both_sides) {
  base::SignalRange range{-1.0, 3.0};
  range.narrow(0.25);
  EXPECT_EQ(range.low, 0.0);
  EXPECT_EQ(range.high, 2.0);
}

TEST(SignalRange, size_that_cannot_be_divided_by_is_one) {
  EXPECT_EQ(base::divisible_size(0.0), 1.0);
  EXPECT_EQ(base::divisible_size(1e-101), 1.0);
  EXPECT_EQ(base::divisible_size(1e-99), 1e-99);
}

TEST(UnitSizes, floor_is_a_share_of_the_largest_of_the_unit) {
  base::UnitSizes sizes;
  sizes.take("N", 10.0);
  sizes.take("N", 2000.0);
  sizes.take("", 1e9);
  EXPECT_EQ(sizes.least("N"), base::size_floor::kOfUnit * 2000.0);
  EXPECT_EQ(sizes.least("m"), 0.0);
  EXPECT_EQ(sizes.least(""), 0.0);
}

}  // namespace signal_range_test
}  // namespace entrain
