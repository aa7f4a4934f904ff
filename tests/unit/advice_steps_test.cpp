// The step that is recommended keeps the tolerance, whatever step was requested.
#include <gtest/gtest.h>

#include <cmath>

#include "entrain/advice.hpp"
#include "support/facts.hpp"
#include "support/measured_error.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace advice_steps_test {

using test::measured_error;

TEST(AdvisedStep, long_step_asked_for_does_not_mislead) {
  // At 0.12 s the pilot itself grows, and what it moves is no range; 1.5 s is beyond everything that happens.
  for (const double step : {0.12, 1.5}) {
    const auto description = test::changed(test::example("mechanical"), {.step = step});
    const auto advice = advise(description);
    EXPECT_TRUE(test::has_fact(advice.remarks, FactCode::PilotWithSmallerStep)) << step;
    ASSERT_TRUE(advice.recommended_step) << step << ": " << advice.reason();
    EXPECT_LE(measured_error(applied(description, advice)), 0.01) << step;
  }
}

TEST(AdvisedStep, is_found_by_runs_where_errors_are_measured) {
  for (const double tolerance : {1e-2, 1e-3, 1e-4}) {
    auto description = test::changed(test::example("lotka_volterra"), {.step = 0.05, .stop = 10.0});
    description.tolerance = {tolerance, {}};
    for (auto& subsystem : description.subsystems) {
      subsystem.linearization = subsystem.rollback = subsystem.states = Written<bool>{false, {}};
    }
    const auto advice = advise(description);
    ASSERT_TRUE(advice.recommended_step) << advice.reason();
    EXPECT_LE(measured_error(applied(description, advice)), tolerance);
  }
}

TEST(AdvisedStep, follows_the_tolerance_where_it_is_left_open) {
  auto description = test::changed(test::example("oscillator"), {});
  description.step.reset();
  description.exclude = {{{"missiles", {}}, {"ifosmondi", {}}}};
  double before = 0.0;
  for (const double tolerance : {1e-5, 1e-4, 1e-2}) {
    description.tolerance = {tolerance, {}};
    const auto advice = advise(description);
    ASSERT_TRUE(advice.recommended_step) << advice.reason();
    EXPECT_GE(*advice.recommended_step, before);
    before = *advice.recommended_step;
    EXPECT_LE(measured_error(applied(description, advice)), tolerance);
  }
}

TEST(AdvisedStep, verification_confirms_what_is_recommended) {
  AdviceSettings settings;
  settings.verify = true;
  const auto advice = advise(test::example("lotka_volterra"), settings);
  ASSERT_TRUE(advice.grade);
  EXPECT_EQ(*advice.grade, Grade::Trusted);
  ASSERT_TRUE(advice.verification);
  EXPECT_EQ(advice.verification->step, *advice.recommended_step);
}

TEST(AdvisedStep, interrupted_search_returns_what_is_known) {
  std::atomic<bool> interrupt{false};
  AdviceSettings settings;
  settings.interrupt = &interrupt;
  std::size_t runs = 0;
  settings.progress = [&](const AdviceProgress& progress) {
    EXPECT_FALSE(progress.part.empty());
    if (progress.run == 0) return;  // a part of the search without a run
    runs = progress.run;
    EXPECT_FALSE(progress.method.empty());
    EXPECT_GT(progress.step, 0.0);
    if (runs == 2) interrupt = true;
  };
  auto description = test::changed(test::example("mechanical"), {.step = 0.05});
  for (auto& subsystem : description.subsystems) {
    subsystem.linearization = subsystem.rollback = subsystem.states = Written<bool>{false, {}};
  }
  const auto advice = advise(description, settings);
  EXPECT_EQ(runs, 2U);
  EXPECT_TRUE(test::has_fact(advice.remarks, FactCode::SearchInterrupted)) << testing::PrintToString(advice.remarks);
  EXPECT_TRUE(test::has_fact(advice.remarks, FactCode::NotLookedAt));
}

}  // namespace advice_steps_test
}  // namespace entrain
