// Verification of runs whose steps are not simply those of the run: chosen by the method, imposed, or unstable.
#include <gtest/gtest.h>

#include <cmath>

#include "entrain/recording.hpp"
#include "entrain/verification.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/verified_output.hpp"

namespace entrain {
namespace verification_steps_test {

using test::kAnyError;
using test::output;

/// The largest error at the communication times of the run, against the equations solved as one on a grid so fine that
/// straight lines between its points add less than a thousandth to it.
double true_error(const SystemDescription& description, const std::string& name) {
  constexpr Duration kFine = 1e-4;
  Simulation simulation(description);
  MemoryRecorder ours;
  simulation.observe(ours);
  simulation.run();
  Simulation exact(test::changed(description, {.method = "monolithic", .step = kFine}));
  MemoryRecorder reference;
  exact.observe(reference);
  exact.run();
  const auto values = ours.column(name);
  const auto fine = reference.column(name);
  double worst = 0.0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double at = ours.times[k] / kFine;
    const auto before = std::min(static_cast<std::size_t>(at), fine.size() - 2);
    const double share = at - static_cast<double>(before);
    worst = std::max(worst, std::abs(values[k] - (1.0 - share) * fine[before] - share * fine[before + 1]));
  }
  return worst;
}

std::string error_of(const SystemDescription& description) {
  try {
    verify(description);
  } catch (const Error& error) {
    return error.problems().empty() ? test::outline(error) : test::outline(error.problems().front());
  }
  return {};
}

TEST(VerifySteps, error_bar_of_a_method_that_chooses_its_steps_is_the_true_error) {
  // Halving the step alone changes but the first steps: the bar would be a hundredth of the error.
  for (const auto& change :
       {test::Change{"f3ornits", 0.01, 0.5}, test::Change{"jacobi", 1e-3, 0.5, {"adaptive=true"}}}) {
    const auto description = test::changed(test::example("mechanical"), change);
    const auto result = verify(description);
    ASSERT_FALSE(result.failure) << *result.failure;
    const auto& x = output(result, "left.x");
    ASSERT_EQ(x.verdict, OutputVerdict::Converging) << change.method;
    const double ratio = *x.error_bar / true_error(description, "left.x");
    EXPECT_GT(ratio, 0.7) << change.method;
    EXPECT_LT(ratio, 1.5) << change.method;
    EXPECT_TRUE(test::has_fact(result.remarks, FactCode::StepsByTolerance)) << change.method;
  }
}

TEST(VerifySteps, adaptive_runs_that_are_right_are_confirmed) {
  const std::vector<std::string> adaptive{"adaptive=true"};
  for (const auto& change :
       {test::Change{"missiles", 1e-3, 0.5, adaptive}, test::Change{"ifosmondi", 1e-3, 0.5, adaptive},
        test::Change{"gauss-seidel", 1e-3, 0.5, adaptive}, test::Change{"nepce", 1e-3, 0.5, adaptive}}) {
    const auto description = test::changed(test::example("mechanical"), change);
    const auto result = verify(description);
    ASSERT_FALSE(result.failure) << *result.failure;
    const auto& x = output(result, "left.x");
    EXPECT_TRUE(result.confirmed(kAnyError)) << change.method;
    EXPECT_NE(result.grade(), Grade::Unknown) << change.method;
    const double truth = true_error(description, "left.x") / x.range;
    constexpr double kLines =
        5e-6;  // of the range: what straight lines between points of the reference add, at 55 rad/s
    EXPECT_LE(truth, std::max(kLines, 1.2 * x.relative_bound())) << change.method;
  }
}

TEST(VerifySteps, car_with_f3ornits_converges_and_is_confirmed) {
  const auto result = verify(test::changed(test::example("car"), {.method = "f3ornits"}));
  ASSERT_FALSE(result.failure) << *result.failure;
  EXPECT_TRUE(result.confirmed(kAnyError)) << result.headline();
  EXPECT_EQ(result.grade(), Grade::Trusted) << result.headline();
}

TEST(VerifySteps, event_within_the_run_is_no_choice_of_steps) {
  const auto result = verify(test::changed(test::example("two_mass"), {.method = "missiles", .step = 0.5}));
  EXPECT_FALSE(test::has_fact(result.remarks, FactCode::StepsByTolerance));
}

TEST(VerifySteps, chosen_steps_are_divided_below_the_shortest_that_the_method_may_choose) {
  const auto result = verify(
      test::changed(test::example("mechanical"), {.method = "ifosmondi",
                                                  .step = 1e-3,
                                                  .stop = 0.5,
                                                  .options = {"adaptive=true", "min_step=1e-3", "max_step=1e-3"}}));
  EXPECT_TRUE(result.unrefined.empty());
  EXPECT_TRUE(result.confirmed(kAnyError));
  EXPECT_GT(output(result, "left.x").order.value_or(0.0), 3.0);
}

TEST(VerifySteps, auto_is_decided_once_and_named_with_its_reason) {
  const auto result = verify(test::changed(test::example("oscillator"), {.method = "auto", .step = 2.0, .stop = 40.0}));
  EXPECT_NE(result.method, "auto");
  EXPECT_TRUE(test::has_fact(result.remarks, FactCode::MethodChosen));
}

TEST(VerifySteps, imposed_step_that_fits_h_but_not_its_half_is_reported_with_one_that_fits) {
  auto description = test::changed(test::example("oscillator"), {.method = "jacobi", .step = 0.01, .stop = 2.0});
  description.subsystems[0].step = {0.002, {}};
  const auto what = error_of(description);
  const auto& name = description.subsystems[0].name;
  EXPECT_NE(what.find("part-does-not-fit " + name + " (at = h/2 = 0.005 s, imposed = 0.002 s)"), std::string::npos)
      << what;
  EXPECT_NE(what.find("verify with --step 0.008"), std::string::npos) << what;
  description.step = {0.008, {}};
  EXPECT_EQ(error_of(description), "");
}

TEST(VerifySteps, shortest_step_of_a_subsystem_is_met_beforehand) {
  auto description = test::changed(test::example("oscillator"), {.method = "jacobi", .step = 0.01, .stop = 2.0});
  description.subsystems[0].min_step = {0.004, {}};
  const auto what = error_of(description);
  EXPECT_NE(what.find("not-refinable (at = h/4 = 0.0025 s"), std::string::npos) << what;
}

TEST(VerifySteps, output_that_hardly_moves_beside_others_of_its_unit_is_not_judged) {
  // Twelve masses in a row, the first pushed, for so short a time that the last moves by the power 22 of it.
  std::string text = "[run]\nstop = 0.05\nstep = 0.01\nmethod = \"missiles\"\n";
  std::string connections = "[connections]\n";
  for (int i = 1; i <= 12; ++i) {
    text += "[subsystems.m" + std::to_string(i) + "]\nmodel = \"chain.mass\"\n";
    if (i == 1) text += "start = { x = 1.0 }\n";
    if (i == 12) break;
    const auto here = "m" + std::to_string(i);
    const auto next = "m" + std::to_string(i + 1);
    connections += "\"" + here + ".x\" = \"" + next + ".left_x\"\n\"" + here + ".v\" = \"" + next + ".left_v\"\n\"" +
                   next + ".F_left\" = \"" + here + ".right_F\"\n";
  }
  const auto result = verify(test::system_from(text + connections));
  EXPECT_EQ(output(result, "m1.x").verdict, OutputVerdict::Converging);
  const auto& last = output(result, "m12.x");
  EXPECT_TRUE(last.verdict == OutputVerdict::Negligible || last.verdict == OutputVerdict::AtRounding);
  EXPECT_LT(last.relative_error(), 1e-6);
}

}  // namespace verification_steps_test
}  // namespace entrain
