// The forecast of implicit methods when the subsystems take less than cubic inputs, and where a forecast ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "advise/pilot.hpp"
#include "session/prepare.hpp"
#include "support/recorded.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace forecast_limits_test {

using test::recorded;

SystemDescription mechanical(const std::string& method, int input_degree, int substeps, Duration step) {
  auto description = test::changed(test::example("mechanical"), {.method = method, .step = step, .stop = 0.5});
  for (auto& subsystem : description.subsystems) {
    subsystem.input_degree = {std::int64_t{input_degree}, {}};
    subsystem.substeps = {std::int64_t{substeps}, {}};
  }
  if (method == "ifosmondi") apply_option(description, "iteration_tolerance=1e-10");
  return description;
}

analysis::RunPath path_of(const SystemDescription& description) {
  std::vector<Problem> problems;
  const auto prepared = session::prepare(description, 1, {}, problems);
  return *advising::run_pilot(*prepared.system, *prepared.method, prepared.settings, {}).path;
}

/// rms over the run of the worst output, relative to its range, against the equations solved as one.
double measured_error(const SystemDescription& description, const std::vector<double>& ranges) {
  auto exact_description = description;
  exact_description.method.value = "monolithic";
  const auto run = recorded(description);
  const auto exact = recorded(exact_description);
  double worst = 0.0;
  for (std::size_t y = 0; y < ranges.size(); ++y) {
    double sum = 0.0;
    for (std::size_t k = 0; k < run.times.size(); ++k) {
      sum += std::pow(run.columns[y][k] - exact.columns[y][k], 2);
    }
    worst = std::max(worst, std::sqrt(sum / static_cast<double>(run.times.size())) / ranges[y]);
  }
  return worst;
}

TEST(ForecastOfLimitedInputs, is_the_error_of_implicit_methods) {
  constexpr Duration kStep = 2e-3;
  for (const std::string method : {"missiles", "ifosmondi"}) {
    for (const int degree : {0, 1, 2, 3}) {
      for (const int substeps : {1, 4}) {
        const auto description = mechanical(method, degree, substeps, kStep);
        const auto path = path_of(description);
        const auto from = method == "missiles" ? StepEnd::Estimate : StepEnd::Trial;
        const auto forecast = analysis::forecast_implicit(path, kStep, from);
        const double measured = measured_error(description, path.ranges);
        EXPECT_TRUE(forecast.stable()) << method << ", degree " << degree;
        EXPECT_LT(std::max(forecast.error / measured, measured / forecast.error), 1.5)
            << method << ", degree " << degree << ", substeps " << substeps << ": forecast " << forecast.error
            << ", measured " << measured;
      }
    }
  }
}

TEST(ForecastOfLimitedInputs, constant_inputs_do_not_make_missiles_grow) {
  // The estimate sees the whole polynomials: 0.99777 per step of 8 ms, where the fit alone would give 1.01297.
  const auto path = path_of(mechanical("missiles", 0, 1, 8e-3));
  EXPECT_LT(analysis::implicit_radius(path.points.front().network, 8e-3, StepEnd::Estimate), 0.999);
}

TEST(Forecast, step_beyond_the_run_has_no_error) {
  const auto path = path_of(mechanical("missiles", 3, 1, 1e-3));
  EXPECT_EQ(analysis::forecast_implicit(path, 2.0, StepEnd::Estimate).error, std::numeric_limits<double>::infinity());
}

TEST(Forecast, growth_is_judged_point_by_point) {
  analysis::Forecast forecast;
  forecast.steps = 100.0;
  forecast.take_point(1.2, 1.3);  // the motion itself grows faster
  EXPECT_TRUE(forecast.stable());
  forecast.take_point(1.01, 0.9);  // here it does not
  EXPECT_FALSE(forecast.stable());
}

TEST(Forecast, what_is_infinite_is_not_stable) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  analysis::Forecast forecast;
  forecast.take_point(kInfinite, kInfinite);
  EXPECT_FALSE(forecast.stable());
}

TEST(Forecast, slow_growth_is_harmless_in_a_run_that_is_short_enough) {
  analysis::Forecast forecast;
  forecast.steps = 2000.0;
  forecast.take_point(1.0 + 2e-8, 1.0);
  EXPECT_FALSE(forecast.stable());
  EXPECT_TRUE(forecast.harmless());
  forecast.steps = 1e9;
  EXPECT_FALSE(forecast.harmless());
}

TEST(Forecast, rate_of_a_growing_motion_that_is_met_with_an_error_is_no_instability) {
  analysis::Forecast forecast;
  forecast.take_point(1.012, 1.01);
  EXPECT_TRUE(forecast.stable());
  forecast.take_point(1.03, 1.01);
  EXPECT_FALSE(forecast.stable());
}

}  // namespace forecast_limits_test
}  // namespace entrain
