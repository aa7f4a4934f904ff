#include "numerics/fixed_point.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace entrain {
namespace fixed_point_test {

struct Solved {
  numerics::FixedPointSolver::Result result;
  std::vector<double> z, image;
};

template <class Map>
Solved solve(numerics::FixedPointMethod method, std::vector<double> z, double tolerance, Map&& map,
             int max_evaluations = 100) {
  numerics::FixedPointSolver solver(z.size(), method);
  Solved solved{{}, z, z};
  const std::vector<double> scale(z.size(), 1.0);
  solved.result = solver.solve(solved.z, solved.image, {tolerance, max_evaluations, scale}, map);
  return solved;
}

class FixedPoint : public testing::TestWithParam<numerics::FixedPointMethod> {};

TEST_P(FixedPoint, is_found_and_the_last_evaluation_is_the_answer) {
  std::vector<double> last(2);
  const auto map = [&](std::span<const double> z, std::span<double> g) {
    std::copy(z.begin(), z.end(), last.begin());
    g[0] = std::cos(z[1]);
    g[1] = 0.5 * std::sin(z[0]) + 0.1;
    return true;
  };
  const auto solved = solve(GetParam(), {0.0, 0.0}, 1e-12, map);
  EXPECT_TRUE(solved.result.converged);
  EXPECT_EQ(solved.z, last);
  EXPECT_NEAR(solved.z[0], std::cos(solved.z[1]), 3e-12);
  EXPECT_NEAR(solved.z[1], 0.5 * std::sin(solved.z[0]) + 0.1, 3e-12);
  EXPECT_EQ(solved.image[0], std::cos(solved.z[1]));
}

TEST_P(FixedPoint, a_guess_within_tolerance_is_improved_once_all_the_same) {
  const auto solved = solve(GetParam(), {1.0}, 0.5, [](std::span<const double> z, std::span<double> g) {
    g[0] = 0.9 + 0.01 * z[0];
    return true;
  });
  EXPECT_TRUE(solved.result.converged);
  EXPECT_GE(solved.result.evaluations, 2);
  EXPECT_NEAR(solved.image[0], 0.9 / 0.99, 2e-3);
}

TEST_P(FixedPoint, with_a_correction_is_reached_where_the_plain_iteration_runs_away) {
  const auto map = [](std::span<const double> z, std::span<double> g) {
    g[0] = 5.0 * z[0] - 8.0;  // fixed at 2
    return true;
  };
  const auto correct = [](std::span<double> difference) { difference[0] /= 1.0 - 5.0; };
  const numerics::FixedPointSolver::Correction correction(correct);
  const std::vector<double> scale{1.0};
  numerics::FixedPointSolver solver(1, GetParam());
  std::vector<double> z{3.0};
  std::vector<double> image{0.0};
  const auto result = solver.solve(z, image, {1e-12, 20, scale, &correction}, map);
  EXPECT_TRUE(result.converged);
  EXPECT_LE(result.evaluations, 4);  // newton-krylov spends one or two on the direction
  EXPECT_NEAR(z[0], 2.0, 1e-12);
  const auto at_once = solver.solve(z, image, {1e-12, 20, scale, &correction, 1}, map);
  EXPECT_TRUE(at_once.converged);
  EXPECT_EQ(at_once.evaluations, 1);
}

TEST_P(FixedPoint, that_is_not_there_is_not_found_and_the_limit_of_evaluations_is_kept) {
  const auto solved = solve(
      GetParam(), {1.0}, 1e-9,
      [](std::span<const double> z, std::span<double> g) {
        g[0] = z[0] + 1.0;
        return true;
      },
      7);
  EXPECT_FALSE(solved.result.converged);
  EXPECT_LE(solved.result.evaluations, 7);
}

TEST_P(FixedPoint, nan_and_refused_evaluations_never_converge) {
  const auto not_a_number = [](std::span<const double>, std::span<double> g) {
    g[0] = std::numeric_limits<double>::quiet_NaN();
    return true;
  };
  EXPECT_FALSE(solve(GetParam(), {1.0}, 1e9, not_a_number).result.converged);
  const auto refused = [](std::span<const double> z, std::span<double> g) {
    g[0] = z[0];
    return false;
  };
  EXPECT_FALSE(solve(GetParam(), {1.0}, 1e9, refused).result.converged);
}

TEST_P(FixedPoint, errors_of_the_map_are_passed_on) {
  const auto throws = [](std::span<const double>, std::span<double>) -> bool { throw std::runtime_error("broken"); };
  EXPECT_THROW(solve(GetParam(), {1.0}, 1e-9, throws), std::runtime_error);
}

TEST_P(FixedPoint, of_nothing_takes_two_evaluations) {
  const auto solved = solve(GetParam(), {}, 1e-9, [](std::span<const double>, std::span<double>) { return true; });
  EXPECT_TRUE(solved.result.converged);
  EXPECT_EQ(solved.result.evaluations, 2);
}

INSTANTIATE_TEST_SUITE_P(Methods, FixedPoint,
                         testing::Values(numerics::FixedPointMethod::Plain, numerics::FixedPointMethod::Anderson,
                                         numerics::FixedPointMethod::NewtonKrylov));

TEST(FixedPointPower, anderson_and_newton_converge_where_plain_iteration_does_not) {
  const auto map = [](std::span<const double> z, std::span<double> g) {
    g[0] = 1.0 - 3.0 * z[1];
    g[1] = 0.5 + 2.0 * z[0] + 0.01 * z[0] * z[0];
    return true;
  };
  EXPECT_FALSE(solve(numerics::FixedPointMethod::Plain, {0.0, 0.0}, 1e-10, map).result.converged);
  EXPECT_TRUE(solve(numerics::FixedPointMethod::Anderson, {0.0, 0.0}, 1e-10, map).result.converged);
  EXPECT_TRUE(solve(numerics::FixedPointMethod::NewtonKrylov, {0.0, 0.0}, 1e-10, map).result.converged);
}

}  // namespace fixed_point_test
}  // namespace entrain
