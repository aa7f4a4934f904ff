#include "record/shortest_decimal.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace entrain {
namespace shortest_decimal_test {

std::string text_of(double value) {
  std::array<char, recording::kNumberRoom> room{};
  return {room.data(), recording::write_number(room.data(), recording::shortest_decimal(value))};
}

/// What the standard library writes: the definition of the shortest text.
std::string expected(double value) {
  std::array<char, 64> room{};
  return {room.data(), std::to_chars(room.data(), room.data() + room.size(), value).ptr};
}

TEST(ShortestDecimal, is_the_text_of_the_standard_library_for_any_bits) {
  std::mt19937_64 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same numbers every time
  for (int i = 0; i < 300'000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(text_of(value), expected(value));
  }
}

TEST(ShortestDecimal, is_the_text_of_the_standard_library_for_numbers_as_in_a_run) {
  std::mt19937_64 random(8);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same numbers every time
  std::uniform_real_distribution<double> number(-10.0, 10.0);
  for (int decade = -12; decade <= 20; ++decade) {
    for (int digits = 0; digits <= 17; ++digits) {
      for (int i = 0; i < 60; ++i) {
        const double unit = std::pow(10.0, digits);
        const double value = std::round(number(random) * unit) / unit * std::pow(10.0, decade);
        ASSERT_EQ(text_of(value), expected(value)) << decade << ' ' << digits;
      }
    }
  }
  for (std::uint64_t k = 0; k < 20'000; ++k) {
    const double time = 1e-3 * static_cast<double>(k);
    ASSERT_EQ(text_of(time), expected(time));
    ASSERT_EQ(text_of(static_cast<double>(k)), expected(static_cast<double>(k)));
  }
}

TEST(ShortestDecimal, of_numbers_at_the_borders) {
  using Limits = std::numeric_limits<double>;
  for (const double value : {0.0,
                             -0.0,
                             1.0,
                             -1.0,
                             Limits::max(),
                             Limits::min(),
                             Limits::denorm_min(),
                             Limits::lowest(),
                             Limits::infinity(),
                             -Limits::infinity(),
                             9007199254740991.0,
                             9007199254740992.0,
                             9007199254740993.0,
                             1e22,
                             1e23,
                             1e5,
                             1e-5,
                             0.1,
                             1e-4,
                             123456.0,
                             100000.0,
                             1e15}) {
    EXPECT_EQ(text_of(value), expected(value));
  }
  EXPECT_EQ(text_of(Limits::quiet_NaN()), "NaN");
  EXPECT_EQ(text_of(-Limits::quiet_NaN()), "NaN");
}

}  // namespace shortest_decimal_test
}  // namespace entrain
