#include "numerics/linear_step.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/matrix_of.hpp"

namespace entrain {
namespace linear_step_test {

using test::matrix;

TEST(LinearStep, equals_the_series_for_a_nilpotent_matrix) {
  // A falling body under the force 1 + 2 s + 3 s^2 + 4 s^3.
  numerics::LinearStep step(matrix(2, 2, {0, 1, 0, 0}), matrix(2, 1, {0, 1}));
  const std::vector<double> force = {1, 2, 3, 4};
  const double h = 0.5;
  for (int degree = 0; degree <= 3; ++degree) {
    std::vector<double> x = {10.0, -1.0};
    step.advance(h, {force.data(), 1, degree}, x);
    double position = 10.0 - h;
    double velocity = -1.0;
    for (int p = 0; p <= degree; ++p) {
      position += force[static_cast<std::size_t>(p)] * std::pow(h, p + 2) / ((p + 1) * (p + 2));
      velocity += force[static_cast<std::size_t>(p)] * std::pow(h, p + 1) / (p + 1);
    }
    EXPECT_NEAR(x[0], position, 1e-14);
    EXPECT_NEAR(x[1], velocity, 1e-14);
  }
}

TEST(LinearStep, sums_the_effects_of_several_inputs) {
  numerics::LinearStep step(matrix(1, 1, {-1.0}), matrix(1, 2, {1.0, 3.0}));
  const std::vector<double> inputs = {2.0, -1.0};
  std::vector<double> x = {5.0};
  step.advance(0.3, {inputs.data(), 2, 0}, x);
  const double rest = 2.0 - 3.0;  // where x' = 0
  EXPECT_NEAR(x[0], rest + (5.0 - rest) * std::exp(-0.3), 1e-15 * 10);
}

TEST(LinearStep, gives_the_bits_of_a_fresh_one_whatever_the_step_sizes_before) {
  const Matrix a = matrix(2, 2, {0, 1, -2000, -2});
  const Matrix b = matrix(2, 1, {0, 0.2});
  const std::vector<double> force = {1.0, -30.0};
  numerics::LinearStep used(a, b);
  // More sizes than are kept: some are found again, some computed anew.
  for (const double size : {1e-3, 2e-3, 3e-3, 4e-3, 5e-3, 6e-3, 4e-3, 5e-3, 1e-3}) {
    for (int degree = 0; degree <= 1; ++degree) {
      numerics::LinearStep fresh(a, b);
      std::vector<double> expected = {0.3, 7.0};
      std::vector<double> x = expected;
      fresh.advance(size, {force.data(), 1, degree}, expected);
      used.advance(size, {force.data(), 1, degree}, x);
      EXPECT_EQ(x, expected) << size;
    }
  }
}

}  // namespace linear_step_test
}  // namespace entrain
