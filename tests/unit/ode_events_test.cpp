#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "numerics/column_groups.hpp"
#include "numerics/ode.hpp"

namespace entrain {
namespace ode_events_test {

numerics::OdeOptions options_of(numerics::OdeMethod method, std::size_t indicators) {
  numerics::OdeOptions options;
  options.method = method;
  options.relative_tolerance = 1e-11;
  options.absolute_tolerance = 1e-12;
  options.indicators = indicators;
  return options;
}

const auto oscillator = [](Time, std::span<const double> x, std::span<double> dx) {
  dx[0] = x[1];
  dx[1] = -x[0];
};

class OdeEvents : public testing::TestWithParam<numerics::OdeMethod> {};
INSTANTIATE_TEST_SUITE_P(Both, OdeEvents,
                         testing::Values(numerics::OdeMethod::ExplicitRungeKutta, numerics::OdeMethod::Bdf));

TEST_P(OdeEvents, ends_where_an_indicator_changes_its_sign) {
  numerics::OdeSolver solver(2, options_of(GetParam(), 2));
  std::vector<double> x{0.0, 1.0};  // sin, cos
  const auto indicators = [](Time, std::span<const double> at, std::span<double> z) {
    z[0] = at[1];  // zero at pi / 2
    z[1] = at[0];  // zero at the start, where it counts for nothing, and at pi
  };
  const numerics::OdeProblem problem{.derivatives = oscillator, .indicators = indicators};
  auto at = solver.advance(0.0, 10.0, x, problem);
  EXPECT_EQ(at.cause, numerics::OdeReached::Cause::Indicator);
  EXPECT_NEAR(at.time, std::numbers::pi / 2.0, 1e-9);
  EXPECT_LE(x[1], 0.0);  // just past it
  at = solver.advance(at.time, 10.0, x, problem);
  EXPECT_NEAR(at.time, std::numbers::pi, 1e-9);
  at = solver.advance(at.time, 3.5, x, problem);
  EXPECT_EQ(at.cause, numerics::OdeReached::Cause::End);
  EXPECT_EQ(at.time, 3.5);
  EXPECT_NEAR(x[0], std::sin(3.5), 1e-8);
}

TEST_P(OdeEvents, every_internal_step_is_reported_and_can_be_the_last) {
  numerics::OdeSolver solver(2, options_of(GetParam(), 0));
  std::vector<double> x{0.0, 1.0};
  std::vector<Time> reported;
  const auto completed = [&](Time t, std::span<const double> at) {
    EXPECT_NEAR(at[0], std::sin(t), 1e-8);
    reported.push_back(t);
    return t > 1.0;
  };
  const auto at = solver.advance(0.0, 10.0, x, {.derivatives = oscillator, .step_completed = completed});
  EXPECT_EQ(at.cause, numerics::OdeReached::Cause::Stopped);
  EXPECT_EQ(at.time, reported.back());
  EXPECT_GT(at.time, 1.0);
  EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end()));
  x = {0.0, 1.0};
  EXPECT_EQ(solver.advance(0.0, 0.5, x, {.derivatives = oscillator, .step_completed = completed}).cause,
            numerics::OdeReached::Cause::End);
  EXPECT_EQ(reported.back(), 0.5);
}

TEST_P(OdeEvents, what_an_indicator_throws_comes_out) {
  numerics::OdeSolver solver(2, options_of(GetParam(), 1));
  std::vector<double> x{0.0, 1.0};
  const auto broken = [](Time, std::span<const double>, std::span<double>) { throw std::domain_error("broken"); };
  EXPECT_THROW(static_cast<void>(solver.advance(0.0, 1.0, x, {.derivatives = oscillator, .indicators = broken})),
               std::domain_error);
}

TEST(OdeJacobian, is_used_and_computed_by_groups_of_columns) {
  // A chain x_i' = -1000 (x_i - x_{i-1}), stiff: without its Jacobian the integration would need far more steps.
  constexpr std::size_t kStates = 20;
  const auto chain = [](Time, std::span<const double> x, std::span<double> dx) {
    for (std::size_t i = 0; i < x.size(); ++i) dx[i] = -1000.0 * (x[i] - (i == 0 ? 1.0 : x[i - 1]));
  };
  int products = 0;
  const auto product = [&](Time, std::span<const double>, std::span<const double> seed, std::span<double> result) {
    ++products;
    for (std::size_t i = 0; i < seed.size(); ++i) result[i] = -1000.0 * (seed[i] - (i == 0 ? 0.0 : seed[i - 1]));
  };
  numerics::OdeOptions options = options_of(numerics::OdeMethod::Bdf, 0);
  options.jacobian.emplace();
  for (std::size_t j = 0; j < kStates; ++j) {
    auto& rows = options.jacobian->rows_of_column.emplace_back();
    rows.push_back(j);
    if (j + 1 < kStates) rows.push_back(j + 1);
  }
  ASSERT_EQ(numerics::independent_columns(*options.jacobian, kStates).size(), 2U);
  numerics::OdeSolver solver(kStates, options);
  std::vector<double> x(kStates, 0.0);
  static_cast<void>(solver.advance(0.0, 1.0, x, {.derivatives = chain, .jacobian_product = product}));
  EXPECT_GT(products, 0);
  EXPECT_EQ(products % 2, 0);
  for (const double value : x) EXPECT_NEAR(value, 1.0, 1e-9);
}

TEST(ColumnGroups, no_two_columns_of_a_group_share_a_row) {
  const numerics::SparsityPattern pattern{{{0, 3}, {1}, {0, 1}, {2}, {2, 3}, {}}};
  const auto groups = numerics::independent_columns(pattern, 4);
  EXPECT_EQ(groups, (std::vector<std::vector<std::size_t>>{{0, 1, 3, 5}, {2, 4}}));
}

}  // namespace ode_events_test
}  // namespace entrain
