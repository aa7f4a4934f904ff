#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "numerics/ode.hpp"

// Where an indicator changes its sign: how exactly the time and the state there are found, and on which side.

namespace entrain {
namespace ode_roots_test {

const auto oscillator = [](Time, std::span<const double> x, std::span<double> dx) {
  dx[0] = x[1];
  dx[1] = -x[0];
};

numerics::OdeOptions watching(numerics::OdeMethod method, double tolerance, std::size_t indicators = 1) {
  numerics::OdeOptions options;
  options.method = method;
  options.relative_tolerance = options.absolute_tolerance = tolerance;
  options.indicators = indicators;
  return options;
}

/// ARKODE looks for roots on an interpolant of degree 5, a thousand times worse than its solution.
TEST(OdeRoots, are_as_exact_as_the_solution) {
  numerics::OdeSolver solver(2, watching(numerics::OdeMethod::ExplicitRungeKutta, 1e-12));
  const auto third_of_a_turn = [](Time, std::span<const double> at, std::span<double> z) { z[0] = at[1] + 0.5; };
  std::vector<double> x{0.0, 1.0};  // sin, cos: the cosine is -1/2 at 2 pi / 3
  const auto at = solver.advance(0.0, 10.0, x, {.derivatives = oscillator, .indicators = third_of_a_turn});
  EXPECT_EQ(at.cause, numerics::OdeReached::Cause::Indicator);
  EXPECT_NEAR(at.time, 2.0 * std::numbers::pi / 3.0, 1e-11);
  EXPECT_NEAR(x[0], std::sqrt(0.75), 1e-11);
  EXPECT_NEAR(x[1], -0.5, 1e-11);
}

class OdeRootSides : public testing::TestWithParam<numerics::OdeMethod> {};
INSTANTIATE_TEST_SUITE_P(Both, OdeRootSides,
                         testing::Values(numerics::OdeMethod::ExplicitRungeKutta, numerics::OdeMethod::Bdf));

/// The root of 0.5 - t is hit to the bit, where the indicator is zero and has neither sign.
TEST_P(OdeRootSides, the_indicator_has_its_new_sign_even_where_the_root_is_a_round_number) {
  numerics::OdeSolver solver(1, watching(GetParam(), 1e-10));
  for (const double sign : {1.0, -1.0}) {
    const auto indicator = [&](Time t, std::span<const double>, std::span<double> z) { z[0] = sign * (0.5 - t); };
    const auto rest = [](Time, std::span<const double>, std::span<double> dx) { dx[0] = 0.0; };
    std::vector<double> x{1.0};
    const auto at = solver.advance(0.0, 1.0, x, {.derivatives = rest, .indicators = indicator});
    EXPECT_EQ(at.cause, numerics::OdeReached::Cause::Indicator);
    EXPECT_GT(at.time, 0.5);
    EXPECT_LT(at.time, 0.5 + 1e-12);
    // So it is not found again.
    EXPECT_EQ(solver.advance(at.time, 1.0, x, {.derivatives = rest, .indicators = indicator}).cause,
              numerics::OdeReached::Cause::End);
  }
}

TEST(OdeGivingUp, is_a_value_where_another_integrator_can_go_on) {
  numerics::OdeOptions options;
  options.max_steps = 5;
  options.may_give_up = true;
  numerics::OdeSolver solver(1, options);
  std::vector<double> x{1.0};
  const auto stiff = [](Time, std::span<const double> at, std::span<double> dx) { dx[0] = -1e6 * (at[0] - 1.0) + 1.0; };
  auto reached = solver.advance(0.0, 1.0, x, {.derivatives = stiff});
  EXPECT_EQ(reached.cause, numerics::OdeReached::Cause::GaveUp);
  EXPECT_GT(reached.time, 0.0);
  EXPECT_LT(reached.time, 1e-3);
  // x - 1 = 1e-6 (1 - exp(-1e6 t)), exact as far as it came.
  EXPECT_NEAR(x[0], 1.0 - 1e-6 * std::expm1(-1e6 * reached.time), 1e-12);
  const auto broken = [](Time t, std::span<const double>, std::span<double> dx) { dx[0] = t > 0.5 ? NAN : 1.0; };
  reached = solver.advance(0.0, 1.0, x, {.derivatives = broken});
  EXPECT_EQ(reached.cause, numerics::OdeReached::Cause::GaveUp);
  EXPECT_LE(reached.time, 0.5);
}

}  // namespace ode_roots_test
}  // namespace entrain
