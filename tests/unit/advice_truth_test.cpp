// What an advice contains about itself: what was judged, what was not, what would help, and when there is none.
#include <gtest/gtest.h>

#include "entrain/advice.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"
#include "support/two_in_a_loop.hpp"

namespace entrain {
namespace advice_truth_test {

TEST(AdviceTruth, sequence_that_was_judged_is_reported_and_that_of_the_file_was_not_judged) {
  auto description = test::example("oscillator");
  description.method_options["gauss-seidel"]["sequence"] = {std::vector<std::string>{"force_side", "motion_side"}, {}};
  const auto advice = advise(description);
  EXPECT_EQ(advice.sequence, (std::vector<std::string>{"motion_side", "force_side"}));
  EXPECT_NE(advice.sequence_judged().find("motion_side, then force_side"), std::string::npos);
  EXPECT_EQ(test::word_of(advice.remarks, FactCode::OptionsNotJudged, "method", "sequence"), "gauss-seidel");
  EXPECT_FALSE(test::has_fact(advise(test::example("mechanical")).remarks, FactCode::OptionsNotJudged));
}

TEST(AdviceTruth, macro_step_that_would_allow_more_is_missing) {
  auto description = test::changed(test::example("mechanical"), {.step = 1e-3, .stop = 0.2});
  description.subsystems[0].step = Written<double>{2e-3, {}};
  const auto advice = advise(description);
  EXPECT_EQ(test::number_of(advice.missing, FactCode::CommonStepMissing, "step"), 0.002);
  EXPECT_NE(test::word_of(advice.missing, FactCode::CommonStepMissing, "methods").find("missiles"), std::string::npos);
}

TEST(AdviceTruth, only_method_that_can_is_called_so) {
  auto description = test::changed(test::example("mechanical"), {.step = 1e-3, .stop = 0.2});
  description.subsystems[1].step = Written<double>{3e-3, {}};  // no whole number of them in the run
  description.exclude = {{{"waveform", {}}}};                  // the other one that can
  const auto advice = advise(description);
  ASSERT_TRUE(advice.choice);
  EXPECT_EQ(advice.candidates[*advice.choice].method, "f3ornits");
  EXPECT_TRUE(test::has_fact(advice.reasons, FactCode::NoOtherMethod)) << advice.reason();
}

TEST(AdviceTruth, coupling_that_diverges_with_every_method_is_not_recommended) {
  auto description = test::two_in_a_loop(100.0);
  for (auto& subsystem : description.subsystems) {
    subsystem.linearization = subsystem.rollback = subsystem.states = Written<bool>{false, {}};
  }
  const auto models = [](std::string_view name) -> std::unique_ptr<Model> {
    const double gain = name == "a" ? -3.0 : 3.0;
    return std::make_unique<test::StaticModel>([gain](Time t, double u) { return gain * u + t; });
  };
  // missiles identifies their steps, which are linear, and solves the loop.
  const auto identified = advise(description, {}, models);
  ASSERT_TRUE(identified.choice);
  EXPECT_EQ(identified.candidates[*identified.choice].method, "missiles");
  description.exclude = {{{"missiles", {}}, {"waveform", {}}, {"ifosmondi", {}}}};  // likewise
  const auto advice = advise(description, {}, models);
  EXPECT_FALSE(advice.choice) << advice.candidates[*advice.choice].title() << ": " << advice.reason();
}

}  // namespace advice_truth_test
}  // namespace entrain
