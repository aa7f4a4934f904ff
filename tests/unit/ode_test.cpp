#include "numerics/ode.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain {
namespace ode_test {

numerics::OdeOptions bdf() {
  numerics::OdeOptions options;
  options.method = numerics::OdeMethod::Bdf;
  options.relative_tolerance = 1e-9;
  options.absolute_tolerance = 1e-11;
  return options;
}

const auto oscillator = [](Time, std::span<const double> x, std::span<double> dx) {
  dx[0] = x[1];
  dx[1] = -x[0];
};

template <class Call>
Error error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  throw std::logic_error("no error");
}

class EachMethod : public testing::TestWithParam<numerics::OdeMethod> {
 protected:
  static numerics::OdeOptions options() {
    return GetParam() == numerics::OdeMethod::Bdf ? bdf() : numerics::OdeOptions{};
  }
};

INSTANTIATE_TEST_SUITE_P(Ode, EachMethod,
                         testing::Values(numerics::OdeMethod::ExplicitRungeKutta, numerics::OdeMethod::Bdf),
                         [](const auto& of) { return of.param == numerics::OdeMethod::Bdf ? "bdf" : "erk"; });

TEST_P(EachMethod, follows_the_oscillator_to_its_tolerance) {
  numerics::OdeSolver solver(2, options());
  std::vector<double> x = {1.0, 0.0};
  solver.integrate(0.0, 10.0, x, oscillator);
  // The tolerance is per step and adds up over the interval: some hundred steps of the multistep method.
  const double bound = GetParam() == numerics::OdeMethod::Bdf ? 1e-6 : 1e-11;
  EXPECT_NEAR(x[0], std::cos(10.0), bound);
  EXPECT_NEAR(x[1], -std::sin(10.0), bound);
}

TEST_P(EachMethod, gives_the_same_bits_whatever_was_integrated_before) {
  numerics::OdeSolver solver(2, options());
  std::vector<double> first = {1.0, 0.5};
  solver.integrate(2.0, 3.7, first, oscillator);
  std::vector<double> other = {-30.0, 8.0};
  solver.integrate(100.0, 140.0, other, [](Time t, std::span<const double> x, std::span<double> dx) {
    dx[0] = std::sin(t) * x[1];
    dx[1] = -5.0 * x[0];
  });
  std::vector<double> again = {1.0, 0.5};
  solver.integrate(2.0, 3.7, again, oscillator);
  EXPECT_EQ(first, again);
}

TEST_P(EachMethod, gives_the_same_bits_after_a_failure) {
  numerics::OdeSolver solver(2, options());
  std::vector<double> first = {1.0, 0.5};
  solver.integrate(0.0, 1.0, first, oscillator);
  std::vector<double> lost = {1.0, 0.5};
  EXPECT_THROW(solver.integrate(0.0, 1.0, lost,
                                [](Time t, std::span<const double> x, std::span<double> dx) {
                                  if (t > 0.3) throw std::runtime_error("broken");
                                  oscillator(t, x, dx);
                                }),
               std::runtime_error);
  std::vector<double> again = {1.0, 0.5};
  solver.integrate(0.0, 1.0, again, oscillator);
  EXPECT_EQ(first, again);
}

TEST_P(EachMethod, never_evaluates_beyond_the_end) {
  numerics::OdeSolver solver(2, options());
  std::vector<double> x = {1.0, 0.0};
  Time latest = 0.0;
  solver.integrate(0.0, 1.0, x, [&](Time t, std::span<const double> at, std::span<double> dx) {
    latest = std::max(latest, t);
    oscillator(t, at, dx);
  });
  EXPECT_LE(latest, 1.0 + 1e-15);
}

// x' = (w - x) / T from 20 000 starts: each step must begin with the derivative of its own start.
TEST(explicit_runge_kutta, needs_few_evaluations_for_a_relaxation_and_never_fails) {
  constexpr double kTarget = -124.5;
  constexpr double kRelaxation = 0.03;  // s
  numerics::OdeSolver solver(1);
  long evaluations = 0;
  double worst = 0.0;
  for (int k = 0; k < 20'000; ++k) {
    const double start = 10.0 + 1e-3 * k;
    std::vector<double> x = {start};
    solver.integrate(0.0, 0.01, x, [&](Time, std::span<const double> at, std::span<double> dx) {
      dx[0] = (kTarget - at[0]) / kRelaxation;
      ++evaluations;
    });
    worst = std::max(worst, std::abs(x[0] - (kTarget + (start - kTarget) * std::exp(-0.01 / kRelaxation))));
  }
  EXPECT_LT(worst, 2e-13);
  EXPECT_LT(evaluations / 20'000, 250);  // 215; 375 when the first stage is taken from the step before
}

TEST_P(EachMethod, ends_with_an_error_when_a_derivative_is_not_finite) {
  numerics::OdeSolver solver(1, options());
  testing::internal::CaptureStderr();
  for (const Time bad_from : {0.0, 0.5}) {
    std::vector<double> x = {1.0};
    const Error error = error_of([&] {
      solver.integrate(0.0, 1.0, x, [&](Time t, std::span<const double>, std::span<double> dx) {
        dx[0] = t >= bad_from ? std::numeric_limits<double>::quiet_NaN() : 1.0;
      });
    });
    EXPECT_EQ(error.code(), ErrorCode::SolverFailed);
    EXPECT_EQ(error.fact().code, FactCode::DerivativeNotFinite);
    EXPECT_GE(error.fact().number("after"), bad_from);
    EXPECT_FALSE(error.context().time) << "only the caller knows which time that is";
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_P(EachMethod, passes_on_what_the_function_throws) {
  numerics::OdeSolver solver(1, options());
  std::vector<double> x = {1.0};
  EXPECT_THROW(solver.integrate(0.0, 1.0, x,
                                [](Time, std::span<const double>, std::span<double>) { throw std::out_of_range("x"); }),
               std::out_of_range);
}

TEST_P(EachMethod, failure_contains_the_message_of_the_solver) {
  numerics::OdeOptions few = options();
  few.max_steps = 3;
  numerics::OdeSolver solver(2, few);
  std::vector<double> x = {1.0, 0.0};
  testing::internal::CaptureStderr();
  const Error error = error_of([&] { solver.integrate(0.0, 1000.0, x, oscillator); });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(error.code(), ErrorCode::SolverFailed);
  EXPECT_EQ(error.fact().code, FactCode::IntegratorFailed);
  EXPECT_NE(error.fact().text("why").find("mxstep steps taken before reaching tout"), std::string::npos);
  EXPECT_GT(error.fact().number("after"), 0.0);
  EXPECT_LT(error.fact().number("after"), 1000.0);
}

TEST(Ode, bdf_takes_a_stiff_equation_in_few_evaluations) {
  numerics::OdeSolver solver(1, bdf());
  std::vector<double> x = {1.0};
  int evaluations = 0;
  solver.integrate(0.0, 10.0, x, [&](Time t, std::span<const double> at, std::span<double> dx) {
    ++evaluations;
    dx[0] = -1e6 * (at[0] - std::cos(t));  // relaxation, a million times faster than what it follows
  });
  EXPECT_NEAR(x[0], std::cos(10.0), 1e-6);  // it lags by 1e-6 s
  EXPECT_LT(evaluations, 5000);             // an explicit method needs about 1e7
}

}  // namespace ode_test
}  // namespace entrain
