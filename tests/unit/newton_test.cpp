#include "numerics/newton.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace entrain {
namespace newton_test {

TEST(NewtonSolver, solves_a_nonlinear_pair_to_rounding) {
  numerics::NewtonSolver solver(2);
  std::vector<double> x{1.0, 1.0};  // x^2 + y^2 = 4, x = y: sqrt(2)
  const auto result = solver.solve(x, 1e-12, [](std::span<const double> p, std::span<double> r) {
    r[0] = p[0] * p[0] + p[1] * p[1] - 4.0;
    r[1] = p[0] - p[1];
  });
  EXPECT_TRUE(result.converged);
  EXPECT_NEAR(x[0], std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(x[1], std::sqrt(2.0), 1e-12);
}

TEST(NewtonSolver, solves_many_unknowns_without_a_dense_matrix) {
  const std::size_t n = 1000;  // -x_{i-1} + 4 x_i - x_{i+1} = 1
  numerics::NewtonSolver solver(n);
  std::vector<double> x(n, 0.0);
  const auto result = solver.solve(x, 1e-10, [&](std::span<const double> p, std::span<double> r) {
    for (std::size_t i = 0; i < n; ++i) {
      r[i] = 4.0 * p[i] - 1.0 - (i > 0 ? p[i - 1] : 0.0) - (i + 1 < n ? p[i + 1] : 0.0);
    }
  });
  EXPECT_TRUE(result.converged) << result.message;
  EXPECT_NEAR(x[n / 2], 0.5, 1e-9);  // far from the ends: (4 - 2) x = 1
}

TEST(NewtonSolver, reports_that_there_is_no_solution) {
  numerics::NewtonSolver solver(1);
  std::vector<double> x{0.3};
  const auto result =
      solver.solve(x, 1e-10, [](std::span<const double> p, std::span<double> r) { r[0] = p[0] * p[0] + 1.0; });
  EXPECT_FALSE(result.converged);
  EXPECT_FALSE(result.message.empty());
}

TEST(NewtonSolver, does_not_take_nan_for_a_solution) {
  numerics::NewtonSolver solver(1);
  std::vector<double> x{0.0};
  const auto result = solver.solve(
      x, 1e-10, [](std::span<const double>, std::span<double> r) { r[0] = std::numeric_limits<double>::quiet_NaN(); });
  EXPECT_FALSE(result.converged);
}

TEST(NewtonSolver, passes_on_what_the_residual_throws) {
  numerics::NewtonSolver solver(1);
  std::vector<double> x{0.0};
  const auto fail = [](std::span<const double>, std::span<double>) { throw std::runtime_error("no"); };
  EXPECT_THROW(solver.solve(x, 1e-10, fail), std::runtime_error);
}

}  // namespace newton_test
}  // namespace entrain
