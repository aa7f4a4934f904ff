#include "numerics/mean_square_fit.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace entrain {
namespace mean_square_fit_test {

TEST(MeanSquareFit, of_a_cubic_in_pieces_is_the_cubic) {
  const std::array cubic{1.0, -2.0, 3.0, -0.5};  // by powers of the argument
  numerics::MeanSquareFit fit;
  fit.begin(2.0);
  for (const auto& [from, to] : {std::pair{-1.0, 0.3}, std::pair{0.3, 1.9}, std::pair{1.9, 5.0}}) {
    fit.add(from, to, cubic, 0.0);
  }
  const auto best = fit.best(3);
  for (std::size_t p = 0; p < 4; ++p) EXPECT_NEAR(best[p], cubic[p], 1e-13);
}

TEST(MeanSquareFit, of_a_parabola_by_a_line_has_its_mean_and_first_moment) {
  numerics::MeanSquareFit fit;
  fit.begin(1.0);
  fit.add(0.0, 1.0, std::array{0.0, 0.0, 1.0}, 0.0);
  const auto line = fit.best(1);  // of s^2 on [0, 1]: s - 1/6
  EXPECT_NEAR(line[0], -1.0 / 6.0, 1e-15);
  EXPECT_NEAR(line[1], 1.0, 1e-15);
  EXPECT_EQ(line[2], 0.0);
}

TEST(MeanSquareFit, of_many_swings_is_bounded_by_them) {
  constexpr int kSamples = 200;
  constexpr double kLength = 1.0;
  numerics::MeanSquareFit fit;
  fit.begin(kLength);
  const auto curve = [](int k) { return std::sin(31.0 * k * kLength / kSamples); };
  for (int k = 0; k < kSamples; ++k) {
    const double from = k * kLength / kSamples;
    fit.add(from, from + kLength / kSamples, std::array{curve(k), (curve(k + 1) - curve(k)) * kSamples / kLength},
            from);
  }
  EXPECT_NEAR(fit.best(0)[0], (1.0 - std::cos(31.0)) / 31.0, 1e-3);
  const auto cubic = fit.best(3);
  for (double s = 0.0; s <= kLength; s += 0.01) {
    EXPECT_LT(std::abs(cubic[0] + s * (cubic[1] + s * (cubic[2] + s * cubic[3]))), 1.0) << s;
  }
}

}  // namespace mean_square_fit_test
}  // namespace entrain
