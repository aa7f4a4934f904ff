#include "numerics/multistep.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/bytes.hpp"

namespace entrain {
namespace multistep_test {

using State = std::vector<double>;
using Equation = void (*)(std::span<const double> x, std::span<double> dx);

void oscillator(std::span<const double> x, std::span<double> dx) {
  dx[0] = x[1];
  dx[1] = -x[0];
}

/// Van der Pol's, as stiff as that of Hairer and Wanner II, section IV.1.
void relaxation_oscillator(std::span<const double> x, std::span<double> dx) {
  dx[0] = x[1];
  dx[1] = 1000.0 * (1.0 - x[0] * x[0]) * x[1] - x[0];
}

numerics::OdeOptions with_tolerance(double tolerance) {
  numerics::OdeOptions options;
  options.relative_tolerance = tolerance;
  options.absolute_tolerance = 0.01 * tolerance;
  return options;
}

struct Integration {
  Integration(Equation of, double tolerance, State start)
      : equation(of), solver(2, with_tolerance(tolerance)), x(std::move(start)) {}

  void run(Duration length, int calls) {
    const auto derivatives = [&](Time, std::span<const double> at, std::span<double> dx) {
      ++evaluations;
      equation(at, dx);
    };
    for (int k = 0; k < calls; ++k) {
      const auto reached = solver.advance(0.0, length / calls, x, {.derivatives = derivatives}, memory);
      ASSERT_EQ(reached.cause, numerics::OdeReached::Cause::End);
    }
  }

  Equation equation;
  numerics::MultistepSolver solver;
  State x;
  numerics::MultistepMemory memory = {};
  long evaluations = 0;
};

TEST(Multistep, goes_on_over_many_calls_at_the_cost_of_one) {
  for (const Equation equation : {oscillator, relaxation_oscillator}) {
    const Duration length = equation == oscillator ? 20.0 * std::numbers::pi : 3000.0;
    for (const double tolerance : {1e-5, 1e-8}) {
      Integration whole(equation, tolerance, {2.0, 0.0});
      whole.run(length, 1);
      Integration parts(equation, tolerance, {2.0, 0.0});
      parts.run(length, 1000);
      EXPECT_LE(parts.evaluations, std::max(2L * whole.evaluations, 1100L)) << tolerance;
    }
  }
}

TEST(Multistep, keeps_its_tolerance_over_ten_periods) {
  for (const double tolerance : {1e-6, 1e-10}) {
    Integration parts(oscillator, tolerance, {1.0, 0.0});
    parts.run(20.0 * std::numbers::pi, 100);
    // Some hundred local errors, each at most the tolerance.
    EXPECT_NEAR(parts.x[0], 1.0, 300.0 * tolerance);
    EXPECT_NEAR(parts.x[1], 0.0, 300.0 * tolerance);
    EXPECT_FALSE(parts.memory.stiff);
  }
}

TEST(Multistep, finds_out_that_equations_are_stiff) {
  Integration stiff(relaxation_oscillator, 1e-6, {2.0, 0.0});
  stiff.run(100.0, 10);
  EXPECT_TRUE(stiff.memory.stiff);
  EXPECT_LT(stiff.evaluations, 2000);  // a step of the explicit method must stay below 1e-3: more than 1e5 evaluations
}

TEST(Multistep, goes_on_from_saved_bytes_to_the_same_bits) {
  for (const Equation equation : {oscillator, relaxation_oscillator}) {
    Integration first(equation, 1e-8, {2.0, 0.0});
    first.run(50.0, 50);
    const auto bytes = base::to_bytes(first.memory);
    Integration second(equation, 1e-8, first.x);
    base::from_bytes(bytes, second.memory);
    first.run(50.0, 50);
    second.run(50.0, 50);
    EXPECT_EQ(first.x, second.x);
  }
}

TEST(Multistep, ends_where_an_indicator_has_changed_its_sign) {
  numerics::OdeOptions options = with_tolerance(1e-10);
  options.indicators = 1;
  numerics::MultistepSolver solver(2, options);
  numerics::MultistepMemory memory;
  State x{1.0, 0.0};
  const auto derivatives = [](Time, std::span<const double> at, std::span<double> dx) { oscillator(at, dx); };
  const auto indicators = [](Time, std::span<const double> at, std::span<double> z) { z[0] = at[0]; };
  const numerics::OdeProblem problem{.derivatives = derivatives, .indicators = indicators};
  Time t = 0.0;
  for (int k = 0; k < 6; ++k) {
    const auto reached = solver.advance(t, 100.0, x, problem, memory);
    ASSERT_EQ(reached.cause, numerics::OdeReached::Cause::Indicator);
    EXPECT_NEAR(reached.time, (k + 0.5) * std::numbers::pi, 1e-8);  // as exact as the solution there
    EXPECT_TRUE(k % 2 == 0 ? x[0] < 0.0 : x[0] > 0.0);
    EXPECT_EQ(memory.order, 0);  // what comes is not smooth
    t = reached.time;
  }
}

TEST(Multistep, gives_up_where_a_derivative_is_not_finite) {
  numerics::MultistepSolver solver(1, with_tolerance(1e-6));
  numerics::MultistepMemory memory;
  State x{1.0};
  const auto derivatives = [](Time t, std::span<const double>, std::span<double> dx) {
    dx[0] = t < 0.5 ? 1.0 : std::nan("");
  };
  const auto reached = solver.advance(0.0, 1.0, x, {.derivatives = derivatives}, memory);
  EXPECT_EQ(reached.cause, numerics::OdeReached::Cause::GaveUp);
  EXPECT_LE(reached.time, 0.5);
  EXPECT_NEAR(x[0], 1.0 + reached.time, 1e-6);  // another integrator can go on from there
}

}  // namespace multistep_test
}  // namespace entrain
