// Adaptive steps of a system that rests, and options of theirs that make no sense.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/facts.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace defect_rest_test {

/// Two masses on springs; the second is pulled with 1 N.
SystemDescription pulled(const std::string& options, const std::string& first, const std::string& second) {
  return test::system_from("[run]\nstop = 20.0\nstep = 0.05\nmethod = \"gauss-seidel\"\n[method.gauss-seidel]\n" +
                           options + "\n[subsystems.m1]\nmodel = \"chain.mass\"\nstart = { x = " + first +
                           " }\n[subsystems.m2]\nmodel = \"chain.mass\"\nstart = { right_F = 1.0, x = " + second +
                           R"( }
[connections]
"m1.x" = "m2.left_x"
"m1.v" = "m2.left_v"
"m2.F_left" = "m1.right_F"
)");
}

RunSummary summary_of(const SystemDescription& description) {
  Simulation simulation(description);
  return simulation.run();
}

TEST(DefectControl, system_at_rest_takes_long_steps) {
  // c x1 + c_0 x1 = c (x2 - x1) and c (x2 - x1) + c_0 x2 = 1 N with c = 10 N/m and c_0 = 0.1 N/m: every output moves by
  // rounding only, and v by nothing but that.
  const double x2 = 1.0 / (10.1 - 100.0 / 20.1);
  const double x1 = 10.0 / 20.1 * x2;
  const auto rest = summary_of(pulled("adaptive = true\ndegree = 1", fmt::format("{}", x1), fmt::format("{}", x2)));
  ASSERT_EQ(rest.termination, Termination::Completed) << rest.message;
  EXPECT_LT(rest.macro_steps, 100U) << "a fixed step makes 400";
}

TEST(DefectControl, shortest_step_above_the_longest_is_refused) {
  const auto problems =
      test::refusal_of([] { summary_of(pulled("adaptive = true\nmin_step = 0.2\nmax_step = 0.1", "0.0", "0.0")); });
  EXPECT_EQ(test::number_of(problems, FactCode::MinAboveMaxStep, "min_step"), 0.2);
  EXPECT_EQ(test::number_of(problems, FactCode::MinAboveMaxStep, "max_step"), 0.1);
}

TEST(DefectControl, options_of_adaptive_steps_without_them_are_noted) {
  const auto summary = summary_of(pulled("relative_tolerance = 1e-5\nmax_step = 0.1", "0.0", "0.0"));
  EXPECT_TRUE(
      test::has_fact(summary.warnings, FactCode::OptionWithoutEffect, "method.gauss-seidel.relative_tolerance"));
  EXPECT_TRUE(test::has_fact(summary.warnings, FactCode::OptionWithoutEffect, "method.gauss-seidel.max_step"));
  EXPECT_TRUE(summary_of(pulled("degree = 1", "0.0", "0.0")).warnings.empty());
}

}  // namespace defect_rest_test
}  // namespace entrain
