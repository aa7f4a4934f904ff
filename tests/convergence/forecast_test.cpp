// The forecast error against the error of real runs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "advise/pilot.hpp"
#include "session/prepare.hpp"
#include "support/measured_error.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace forecast_test {

using test::measured_error;

advising::Pilot pilot_of(const SystemDescription& description) {
  auto with_missiles = description;
  with_missiles.method.value = "missiles";
  std::vector<Problem> problems;
  const auto prepared = session::prepare(with_missiles, 1, {}, problems);
  return advising::run_pilot(*prepared.system, *prepared.method, prepared.settings, {});
}

struct Case {
  std::string example;
  test::Change change;
  double factor;  // how near
};

analysis::Forecast forecast_of(const Case& of) {
  const auto description = test::changed(test::example(of.example), of.change);
  const auto path = *pilot_of(description).path;
  if (of.change.method == "missiles") return analysis::forecast_implicit(path, of.change.step, StepEnd::Estimate);
  if (of.change.method == "ifosmondi") return analysis::forecast_implicit(path, of.change.step, StepEnd::Trial);
  const int degree = of.change.options.empty() ? 0 : of.change.options.front().back() - '0';
  const std::size_t size = path.points.front().network.subsystems.size();
  if (of.change.method == "jacobi")
    return analysis::forecast_explicit(path, method::parallel_choice(size, degree, of.change.step));
  const std::vector<std::size_t> sequence{0, 1};
  return analysis::forecast_explicit(path, method::sequential_choice(sequence, degree, of.change.step));
}

TEST(Forecast, is_the_error_of_a_linear_system) {
  for (const auto& of :
       {Case{"mechanical", {"jacobi", 1e-3, 0.5}, 1.02}, Case{"mechanical", {"jacobi", 1e-3, 0.5, {"degree=2"}}, 1.02},
        Case{"mechanical", {"gauss-seidel", 1e-3, 0.5, {"degree=1"}}, 1.02},
        Case{"mechanical", {"missiles", 2e-3, 0.5}, 1.3},
        Case{"mechanical", {"ifosmondi", 2e-3, 0.5, {"iteration_tolerance=1e-9"}}, 1.3},
        Case{"oscillator", {"gauss-seidel", 0.5, 40.0, {"degree=0"}}, 1.02},
        Case{"oscillator", {"jacobi", 0.25, 40.0, {"degree=3"}}, 1.05}}) {
    const double measured = measured_error(test::changed(test::example(of.example), of.change));
    const double forecast = forecast_of(of).error;
    EXPECT_LT(std::max(forecast / measured, measured / forecast), of.factor)
        << of.example << " " << of.change.method << ": forecast " << forecast << ", measured " << measured;
  }
}

/// Two bodies, one of which is far from where it would stand: within the first step the light one swings.
SystemDescription with_masses(double first, double second, const std::string& method) {
  return test::system_from(fmt::format(R"(
    [run]
    stop = 2.0
    step = 0.01
    method = "{}"
    [subsystems.a]
    model = "oscillator.force_side"
    start = {{ m1 = {}, c1 = 1.0, d1 = 1e-3, c_k = 1000.0, d_k = 10.0, x1 = 0.0, v1 = 0.0 }}
    [subsystems.b]
    model = "oscillator.motion_side"
    start = {{ m2 = {}, c2 = 10.0, d2 = 0.1, x = 1.0 }}
    [connections]
    "a.F" = "b.F"
    "b.x" = "a.x"
    "b.v" = "a.v"
  )",
                                       method, first, second));
}

TEST(Forecast, knows_how_implicit_methods_start) {
  // Slopes are not known there, and are the largest of the run: with them the forecast would be up to 4000 times the
  // error.
  for (const double light : {1e-4, 1e-3}) {
    for (const auto& [method, end] : {std::pair{"missiles", StepEnd::Estimate}, {"ifosmondi", StepEnd::Trial}}) {
      const auto description = light < 1e-3 ? with_masses(light, 1.0, method) : with_masses(1.0, light, method);
      const double measured = measured_error(description);
      const double forecast = analysis::forecast_implicit(*pilot_of(description).path, 0.01, end).error;
      EXPECT_LT(std::max(forecast / measured, measured / forecast), 1.5)
          << light << " kg, " << method << ": forecast " << forecast << ", measured " << measured;
    }
  }
}

TEST(Forecast, is_near_the_error_of_a_nonlinear_system) {
  for (const auto& of : {Case{"lotka_volterra", {"jacobi", 1e-2, 10.0}, 2.0},
                         Case{"lotka_volterra", {"jacobi", 1e-2, 10.0, {"degree=1"}}, 3.0},
                         Case{"lotka_volterra", {"gauss-seidel", 1e-2, 10.0, {"degree=2"}}, 3.0}}) {
    const double measured = measured_error(test::changed(test::example(of.example), of.change));
    const double forecast = forecast_of(of).error;
    EXPECT_LT(std::max(forecast / measured, measured / forecast), of.factor)
        << of.change.method << ": forecast " << forecast << ", measured " << measured;
  }
}

TEST(Forecast, coupling_that_grows_is_not_called_stable) {
  EXPECT_TRUE(forecast_of({"oscillator", {"gauss-seidel", 9.0, 900.0, {"degree=0"}}, 0.0}).stable());
  const auto beyond = forecast_of({"oscillator", {"gauss-seidel", 9.2, 920.0, {"degree=0"}}, 0.0});
  EXPECT_FALSE(beyond.stable());
  EXPECT_GT(beyond.radius, 1.0);
}

}  // namespace forecast_test
}  // namespace entrain
