#include <gtest/gtest.h>

#include "numerics/dual.hpp"

namespace entrain {
namespace dual_test {

/// Of every operation, with both kinds of operands.
template <class Number>
Number expression(const Number& x, const Number& y) {
  using std::sqrt;
  using std::tanh;
  return sqrt(x * x + 2.0) * tanh(y - 0.5 * x) / (3.0 + y) - x * y + 1.0 / (-x);
}

TEST(dual, carries_the_gradient_of_an_expression) {
  using Number = numerics::Dual<2>;
  const double x = 0.7;
  const double y = -1.3;
  const Number result = expression(Number::variable(x, 0), Number::variable(y, 1));
  EXPECT_EQ(result.value, expression(x, y));
  constexpr double kStep = 1e-6;  // central differences: 1e-12 of truncation, 1e-10 of rounding
  EXPECT_NEAR(result.slopes[0], (expression(x + kStep, y) - expression(x - kStep, y)) / (2.0 * kStep), 1e-9);
  EXPECT_NEAR(result.slopes[1], (expression(x, y + kStep) - expression(x, y - kStep)) / (2.0 * kStep), 1e-9);
}

TEST(dual, of_a_constant_has_no_slope) {
  const numerics::Dual<2> constant = 4.0;
  EXPECT_EQ((constant * constant).slopes, (std::array<double, 2>{}));
  EXPECT_EQ(numerics::value_of(constant), 4.0);
}

}  // namespace dual_test
}  // namespace entrain
