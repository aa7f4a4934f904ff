// Runs that agree are no proof where they warn of themselves.
#include <gtest/gtest.h>

#include "entrain/verification.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"
#include "support/two_in_a_loop.hpp"
#include "support/verified_output.hpp"

namespace entrain {
namespace verification_doubts_test {

using test::kAnyError;
using test::output;

TEST(VerifyDoubts, jumps_at_every_step_are_made_by_the_coupling) {
  // Behind the event at 10 s inputs are held; the controller differentiates one, so its force jumps, so inputs are
  // held.
  const auto result = verify(test::changed(test::example("car"), {.method = "ifosmondi", .stop = 12.0}));
  ASSERT_FALSE(result.failure) << *result.failure;
  EXPECT_EQ(output(result, "controller.F").verdict, OutputVerdict::Converging);
  ASSERT_EQ(result.doubts.size(), 1U);
  EXPECT_EQ(result.doubts.front().code, FactCode::WarningsGrow);
  EXPECT_EQ(result.doubts.front().text("of"), name_of(FactCode::SignalJumps));
  EXPECT_FALSE(result.confirmed(kAnyError));
}

TEST(VerifyDoubts, sound_runs_leave_none) {
  const auto result = verify(test::changed(test::example("car"), {.stop = 12.0}));
  EXPECT_TRUE(result.doubts.empty()) << result.doubts.front();
  EXPECT_TRUE(result.confirmed(kAnyError));
}

TEST(VerifyDoubts, residual_that_stays_is_reported) {
  // y = -u and y = u: with delayed values they take turns for ever, at every step.
  const auto models = [](std::string_view name) -> std::unique_ptr<Model> {
    const double gain = name == "a" ? -1.0 : 1.0;
    return std::make_unique<test::StaticModel>([gain](Time t, double u) { return gain * u + 0.1 * t; });
  };
  auto description = test::two_in_a_loop(1.0);
  description.method.value = "jacobi";
  description.method_options["jacobi"]["degree"] = {std::int64_t{1}, {}};
  const auto result = verify(description, {}, models);
  ASSERT_EQ(result.doubts.size(), 1U);
  EXPECT_EQ(result.doubts.front().code, FactCode::ResidualStays);
}

TEST(VerifyDoubts, warning_of_a_run_is_passed_on) {
  auto description = test::changed(test::example("lotka_volterra"), {.step = 0.01, .stop = 1.0});
  description.subsystems[0].events = Written<std::vector<double>>{{0.505}, {}};
  const auto result = verify(description);
  EXPECT_EQ(test::word_of(result.remarks, FactCode::RunWarns, "of"), name_of(FactCode::EventsSeenLate));
}

TEST(VerifyDoubts, outputs_of_subsystems_that_are_not_refined_are_not_seen) {
  auto description = test::changed(test::example("lotka_volterra"), {.step = 0.01, .stop = 2.0});
  description.subsystems[0].step = {0.04, {}};
  const auto result = verify(description);
  EXPECT_EQ(output(result, "prey.p").verdict, OutputVerdict::NotSeen);
  EXPECT_FALSE(output(result, "prey.p").error_bar);
  EXPECT_NE(output(result, "predator.P").verdict, OutputVerdict::NotSeen);
}

}  // namespace verification_doubts_test
}  // namespace entrain
