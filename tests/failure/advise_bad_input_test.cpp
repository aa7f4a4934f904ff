// Advice on systems that give little to go by: everything is named, and nothing is recommended without a reason.
#include <gtest/gtest.h>

#include <cmath>

#include "entrain/advice.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"
#include "support/two_in_a_loop.hpp"

namespace entrain {
namespace advise_bad_input_test {

/// Of two subsystems without states in a loop; each is y = gain u + 1.
ModelFactory gains(double first, double second) {
  return [=](std::string_view name) -> std::unique_ptr<Model> {
    const double gain = name == "a" ? first : second;
    return std::make_unique<test::StaticModel>([gain](Time, double u) { return gain * u + 1.0; });
  };
}

/// It steps, but its linearization fails.
class Unlinear final : public test::StaticModel {
 public:
  Unlinear() : StaticModel([](Time t, double u) { return std::sin(t) + 0.1 * u; }) {}
  void linearize(const Point&, Linearization&) const override { throw std::runtime_error("the table ends here"); }
};

TEST(AdviseBadInput, loop_without_a_solution_is_named_and_nothing_is_recommended) {
  const Advice advice = advise(test::two_in_a_loop(1.0), {}, gains(2.0, 0.5));  // y = 2 (0.5 y + 1) + 1 holds for no y
  EXPECT_FALSE(advice.choice);
  EXPECT_FALSE(advice.reasons.empty());
  // Every method fails on it; its signals are named once.
  const auto remarks = render(advice.remarks, "\n");
  ASSERT_NE(remarks.find("a.y, b.y"), std::string::npos) << remarks;
  EXPECT_EQ(remarks.find("a.y, b.y"), remarks.rfind("a.y, b.y")) << remarks;
}

TEST(AdviseBadInput, coupling_that_grows_at_every_step_is_called_unstable_and_not_recommended) {
  auto description = test::two_in_a_loop(1.0);
  description.subsystems[0].step =
      Written<double>{0.02, {}};  // longer than the macro step: no method can iterate over it
  const Advice advice = advise(description, {}, gains(-2.0, 2.0));  // what goes round is multiplied by -4
  for (const auto& of : advice.candidates) {
    if (!of.degree || !of.obstacles.empty()) continue;
    ASSERT_TRUE(of.radius) << of.title();
    EXPECT_GT(*of.radius, 1.0) << of.title();
    EXPECT_FALSE(of.stable) << of.title();
    EXPECT_TRUE(of.stable_steps.empty()) << of.title();
  }
  EXPECT_GT(test::number_of(advice.remarks, FactCode::GrowsWithEveryMethod, "smallest"), 0.0);
  EXPECT_FALSE(advice.choice) << advice.reason();
  EXPECT_TRUE(test::has_fact(advice.reasons, FactCode::GrowsWithEveryMethod)) << advice.reason();
}

TEST(AdviseBadInput, initialisation_that_does_not_converge_by_iteration_is_reported) {
  const Advice advice = advise(test::two_in_a_loop(1.0), {}, gains(-2.0, 2.0));
  ASSERT_TRUE(advice.robustness) << advice.reason();
  ASSERT_TRUE(advice.robustness->initialisation);
  EXPECT_FALSE(advice.robustness->initialisation->converges);
  // Once round takes jacobi two sweeps.
  const bool parallel = advice.candidates[advice.robustness->candidate].method == "jacobi";
  EXPECT_NEAR(advice.robustness->initialisation->radius, parallel ? 2.0 : 4.0, 1e-6);
}

TEST(AdviseBadInput, subsystem_that_fails_when_linearized_is_named_and_runs_decide) {
  const ModelFactory models = [](std::string_view name) -> std::unique_ptr<Model> {
    if (name == "a") return std::make_unique<Unlinear>();
    return std::make_unique<test::StaticModel>([](Time, double u) { return -0.5 * u; });
  };
  const Advice advice = advise(test::two_in_a_loop(1.0), {}, models);
  EXPECT_EQ(test::word_of(advice.remarks, FactCode::NoStepMatrix, "of", "a"), name_of(FactCode::LinearizationFailed));
  EXPECT_NE(test::word_of(advice.remarks, FactCode::NoStepMatrix, "why", "a").find("the table ends here"),
            std::string::npos);
  ASSERT_TRUE(advice.choice) << advice.reason();
  EXPECT_GT(test::number_of(advice.reasons, FactCode::TrialMeasured, "length"), 0.0) << advice.reason();
}

TEST(AdviseBadInput, without_linearization_the_measured_best_is_chosen_without_forecast) {
  auto description = test::changed(test::example("mechanical"), {.step = 1e-3, .stop = 0.3});
  for (auto& subsystem : description.subsystems) subsystem.linearization = {false, {}};
  const Advice advice = advise(description);
  ASSERT_TRUE(advice.choice) << advice.reason();
  for (const auto& of : advice.candidates) EXPECT_FALSE(of.error) << of.title();
  ASSERT_TRUE(advice.candidates[*advice.choice].tried);
  EXPECT_EQ(test::word_of(advice.remarks, FactCode::NoStepMatrix, "of", "left"), name_of(FactCode::NoLinearization));
  EXPECT_TRUE(test::has_fact(advice.missing, FactCode::LinearizationMissing, "left"));
}

}  // namespace advise_bad_input_test
}  // namespace entrain
