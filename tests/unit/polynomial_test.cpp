#include "numerics/polynomial.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "numerics/cubic_hermite.hpp"

namespace entrain {
namespace polynomial_test {

double at(const std::array<double, 4>& c, double s) {
  return c[0] + s * (c[1] + s * (c[2] + s * c[3]));
}

TEST(Polynomial, shifted_origin_gives_the_same_values) {
  const std::array<double, 4> p{1.5, -2.0, 0.25, 3.0};
  auto q = p;
  numerics::shift_origin({q.data(), 1, 3}, 0.7);
  for (const double s : {-1.0, 0.0, 0.3, 2.0}) EXPECT_NEAR(at(q, s), at(p, s + 0.7), 1e-13);
}

TEST(Polynomial, projection_to_degree_1_is_the_formula_of_the_reference) {
  // a + b s + c s^2 on [0, h] -> (a - c h^2 / 6) + (b + c h) s
  std::array<double, 4> q{2.0, -1.0, 5.0, 0.0};
  const double h = 0.4;
  numerics::project({q.data(), 1, 2}, 1, h);
  EXPECT_DOUBLE_EQ(q[0], 2.0 - 5.0 * h * h / 6.0);
  EXPECT_DOUBLE_EQ(q[1], -1.0 + 5.0 * h);
}

TEST(Polynomial, projection_to_degree_0_is_the_mean) {
  std::array<double, 4> q{2.0, -1.0, 5.0, 7.0};
  const double h = 0.4;
  numerics::project({q.data(), 1, 3}, 0, h);
  EXPECT_NEAR(q[0], 2.0 - h / 2 + 5.0 * h * h / 3 + 7.0 * h * h * h / 4, 1e-15);
}

TEST(Polynomial, projection_leaves_an_error_orthogonal_to_what_is_kept) {
  const std::array<double, 4> p{0.3, 1.0, -2.0, 4.0};
  const double h = 0.9;
  auto q = p;
  numerics::project({q.data(), 1, 3}, 2, h);
  q[3] = 0.0;
  // Gauss-Legendre with 4 nodes integrates (p - q) s^k, k <= 2, exactly (degree 5 < 8).
  const std::array<double, 4> nodes{-0.8611363115940526, -0.3399810435848563, 0.3399810435848563, 0.8611363115940526};
  const std::array<double, 4> weights{0.3478548451374538, 0.6521451548625461, 0.6521451548625461, 0.3478548451374538};
  for (int k = 0; k <= 2; ++k) {
    double moment = 0.0;
    for (std::size_t i = 0; i < 4; ++i) {
      const double s = 0.5 * h * (nodes[i] + 1.0);
      moment += weights[i] * (at(p, s) - at(q, s)) * std::pow(s, k);
    }
    EXPECT_NEAR(moment, 0.0, 1e-14) << "moment " << k;
  }
}

TEST(Polynomial, several_signals_are_stored_order_by_order) {
  std::array<double, 4> q{1.0, 10.0, 2.0, 20.0};  // signal 0: 1 + 2 s, signal 1: 10 + 20 s
  numerics::shift_origin({q.data(), 2, 1}, 0.5);
  EXPECT_DOUBLE_EQ(q[0], 2.0);
  EXPECT_DOUBLE_EQ(q[1], 20.0);
}

TEST(Polynomial, interpolation_goes_through_its_points) {
  // Check value of the reference: points (1,2), (0.7,1), (0.2,3) give 7.33333333333 at 1.5.
  const std::array<double, 3> nodes{1.0, 0.7, 0.2};
  const std::array<double, 3> values{2.0, 1.0, 3.0};
  std::array<double, 4> c{};
  numerics::interpolate(nodes, values, {c.data(), 3});
  EXPECT_NEAR(at(c, 1.5), 7.33333333333, 1e-11);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(at(c, nodes[i]), values[i], 1e-14);
}

TEST(Polynomial, interpolation_of_four_points_of_a_cubic_finds_the_cubic) {
  const std::array<double, 4> p{1.0, -0.5, 0.25, 2.0};
  const std::array<double, 4> nodes{0.0, -1.0, -2.0, -3.0};
  std::array<double, 4> values{};
  for (std::size_t i = 0; i < 4; ++i) values[i] = at(p, nodes[i]);
  std::array<double, 4> c{};
  numerics::interpolate(nodes, values, c);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(c[i], p[i], 1e-12);
}

TEST(Polynomial, fit_keeps_the_first_point_and_comes_nearest_to_the_others) {
  // Check value of the reference: the line for (1,2), (0.7,1), (0.2,3) gives 1.65753424658 at 1.5.
  const std::array<double, 3> nodes{1.0, 0.7, 0.2};
  const std::array<double, 3> values{2.0, 1.0, 3.0};
  std::array<double, 4> c{};
  numerics::fit_through_first(nodes, values, 1, c);
  EXPECT_EQ(c[0], 2.0);
  EXPECT_NEAR(c[0] + 0.5 * c[1], 1.65753424658, 1e-11);
}

TEST(Polynomial, fit_finds_a_polynomial_of_its_degree_at_any_scale_of_time) {
  const std::array<double, 4> p{1.0, -0.5, 0.25, 2.0};
  for (const double scale : {1e-6, 1.0, 1e4}) {
    for (const int degree : {1, 2, 3}) {
      std::array<double, 5> nodes{};
      std::array<double, 5> values{};
      const auto points = static_cast<std::size_t>(degree) + 2;
      for (std::size_t r = 0; r < points; ++r) {
        const double s = -static_cast<double>(r) - 0.3 * static_cast<double>(r * r);
        nodes[r] = 7.0 + scale * s;
        for (int k = degree; k >= 0; --k) values[r] = values[r] * s + p[static_cast<std::size_t>(k)];
      }
      std::array<double, 4> c{};
      numerics::fit_through_first({nodes.data(), points}, {values.data(), points}, degree, c);
      double power = 1.0;
      // Nodes near 7 carry a rounding of 1e-15: 1e-9 of a distance of 1e-6.
      for (int k = 0; k <= degree; ++k, power *= scale) {
        EXPECT_NEAR(c[static_cast<std::size_t>(k)] * power, p[static_cast<std::size_t>(k)], 1e-7) << scale << ' ' << k;
      }
    }
  }
}

TEST(CubicHermite, has_the_values_and_slopes_of_its_ends) {
  const auto c = numerics::CubicHermite{{1.0, -2.0}, {3.0, 0.5}, 0.4}.coefficients();
  EXPECT_EQ(c[0], 1.0);
  EXPECT_EQ(c[1], -2.0);
  EXPECT_NEAR(at(c, 0.4), 3.0, 1e-14);
  EXPECT_NEAR(c[1] + 0.4 * (2 * c[2] + 0.4 * 3 * c[3]), 0.5, 1e-13);
}

TEST(CubicHermite, value_middle_and_continuation_are_those_of_its_coefficients) {
  const numerics::CubicHermite cubic{{1.0, -2.0}, {3.0, 0.5}, 0.4};
  const auto c = cubic.coefficients();
  const auto slope_at = [&](double s) { return c[1] + s * (2 * c[2] + s * 3 * c[3]); };
  EXPECT_NEAR(cubic.at(0.25), at(c, 0.1), 1e-14);
  EXPECT_NEAR(at(cubic.coefficients_by_mean_slope(), 0.1), at(c, 0.1), 1e-14);
  EXPECT_NEAR(cubic.middle(), at(c, 0.2), 1e-14);
  EXPECT_NEAR(cubic.continued(0.3).value, at(c, 0.7), 1e-13);
  EXPECT_NEAR(cubic.continued(0.3).slope, slope_at(0.7), 1e-12);
}

TEST(CubicHermite, parabola_leaves_the_slope_at_the_left_open) {
  const numerics::CubicHermite cubic{{1.0, 99.0}, {3.0, 0.5}, 0.4};
  const auto c = cubic.parabola();
  EXPECT_EQ(c[0], 1.0);
  EXPECT_NEAR(at(c, 0.4), 3.0, 1e-14);
  EXPECT_NEAR(c[1] + 0.4 * 2 * c[2], 0.5, 1e-13);
  EXPECT_NEAR(cubic.middle_of_parabola(), at(c, 0.2), 1e-14);
}

TEST(CubicHermite, weights_of_the_right_end_are_the_change_of_the_coefficients) {
  const double h = 0.4;
  const numerics::EndPoint left{1.0, -2.0};
  const auto difference = [](const auto& a, const auto& b) {
    std::array<double, 4> d{};
    for (std::size_t p = 0; p < 4; ++p) d[p] = a[p] - b[p];
    return d;
  };
  const auto expect_near = [](const auto& a, const auto& b) {
    for (std::size_t p = 0; p < 4; ++p) EXPECT_NEAR(a[p], b[p], 1e-12) << p;
  };
  const numerics::CubicHermite zero{left, {0.0, 0.0}, h};
  const numerics::CubicHermite value{left, {1.0, 0.0}, h};
  const numerics::CubicHermite slope{left, {0.0, 1.0 / h}, h};
  expect_near(numerics::CubicHermite::by_right_value(h), difference(value.coefficients(), zero.coefficients()));
  expect_near(numerics::CubicHermite::by_right_slope(h), difference(slope.coefficients(), zero.coefficients()));
  expect_near(numerics::CubicHermite::parabola_by_right_value(h), difference(value.parabola(), zero.parabola()));
  expect_near(numerics::CubicHermite::parabola_by_right_slope(h), difference(slope.parabola(), zero.parabola()));
}

}  // namespace polynomial_test
}  // namespace entrain
