// The step that is recommended keeps the tolerance, whatever step was requested, and where there is none that is
// reported why.
#include <gtest/gtest.h>

#include <cmath>

#include "entrain/advice.hpp"
#include "support/facts.hpp"
#include "support/measured_error.hpp"
#include "support/ode_model.hpp"
#include "support/systems.hpp"
#include "support/two_in_a_loop.hpp"

namespace entrain {
namespace advice_steps_test {

using test::measured_error;

constexpr double kTolerance = 1e-3;

TEST(AdvisedStep, long_step_asked_for_does_not_mislead) {
  // At 0.12 s the pilot itself grows, and what it moves is no range; 1.5 s is beyond everything that happens.
  for (const double step : {0.12, 1.5}) {
    const auto description = test::changed(test::example("mechanical"), {.step = step});
    const auto advice = advise(description);
    EXPECT_TRUE(test::has_fact(advice.remarks, FactCode::PilotWithSmallerStep)) << step;
    ASSERT_TRUE(advice.recommended_step) << step << ": " << advice.reason();
    const double error = measured_error(applied(description, advice));
    EXPECT_LE(error, kTolerance) << step;
    const double confirmed = test::number_of(advice.reasons, FactCode::StepConfirmed, "error");
    ASSERT_FALSE(std::isnan(confirmed)) << advice.reason();
    EXPECT_LT(std::max(error / confirmed, confirmed / error), 1.5) << advice.reason();
  }
}

TEST(AdvisedStep, is_found_by_runs_where_errors_are_measured) {
  auto description = test::changed(test::example("lotka_volterra"), {.step = 0.05, .stop = 10.0});
  for (auto& subsystem : description.subsystems) {
    subsystem.linearization = subsystem.rollback = subsystem.states = Written<bool>{false, {}};
  }
  const auto advice = advise(description);
  ASSERT_TRUE(advice.recommended_step) << advice.reason();
  EXPECT_LE(measured_error(applied(description, advice)), kTolerance);
}

TEST(AdvisedStep, none_is_recommended_with_a_reason) {
  const auto advice = advise(test::example("car"));
  ASSERT_TRUE(advice.choice);
  EXPECT_FALSE(advice.recommended_step);
  EXPECT_TRUE(test::has_fact(advice.remarks, FactCode::NoStepTooLong) ||
              test::has_fact(advice.remarks, FactCode::NoStepShown) ||
              test::has_fact(advice.remarks, FactCode::NoStepOwnSteps))
      << advice.reason();
}

TEST(AdvisedStep, rival_of_f3ornits_meets_announced_events) {
  auto description = test::two_in_a_loop(10.0);
  description.subsystems[0].events = Written<std::vector<double>>{{1.0, 2.0}, {}};
  const auto models = [](std::string_view name) -> std::unique_ptr<Model> {
    const double factor = name == "a" ? 1.0 : -1.0;
    return std::make_unique<test::OdeModel>(test::OdeModel::Equation{[=](double x, double u) { return factor * u - x; },
                                                                     [](double x, double) { return x; }, 1.0});
  };
  const auto advice = advise(description, {}, models);
  ASSERT_TRUE(advice.match);
  const double ratio = advice.match->rival_step / advice.step;
  const double whole = ratio > 1.0 ? ratio : 1.0 / ratio;
  EXPECT_NEAR(whole, std::round(whole), 1e-9) << advice.match->rival_step;
}

}  // namespace advice_steps_test
}  // namespace entrain
