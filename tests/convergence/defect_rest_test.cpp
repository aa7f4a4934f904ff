// Adaptive steps of a system that rests, and options of theirs that make no sense.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/mentions.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace {

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
  // Where it comes to rest, found by a long run; there every output moves by rounding only.
  auto settling = pulled("", "0.0", "0.0");
  settling.stop = {2000.0, {}};
  Simulation simulation(settling);
  simulation.run();
  const auto text = [&](const char* name) { return fmt::format("{}", simulation.value(name)); };
  const auto rest = summary_of(pulled("adaptive = true\ndegree = 1", text("m1.x"), text("m2.x")));
  ASSERT_EQ(rest.termination, Termination::Completed) << rest.message;
  EXPECT_LT(rest.macro_steps, 100U) << "a fixed step makes 400";
}

TEST(DefectControl, shortest_step_above_the_longest_is_refused) {
  try {
    summary_of(pulled("adaptive = true\nmin_step = 0.2\nmax_step = 0.1", "0.0", "0.0"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("min_step (0.2 s) must be at most max_step (0.1 s)"), std::string::npos)
        << error.what();
  }
}

TEST(DefectControl, options_of_adaptive_steps_without_them_are_noted) {
  const auto summary = summary_of(pulled("tolerance = 1e-5\nmax_step = 0.1", "0.0", "0.0"));
  EXPECT_TRUE(test::mentions(summary.warnings, "method.gauss-seidel.tolerance does nothing: the macro step is fixed"));
  EXPECT_TRUE(test::mentions(summary.warnings, "method.gauss-seidel.max_step does nothing"));
  EXPECT_TRUE(summary_of(pulled("degree = 1", "0.0", "0.0")).warnings.empty());
}

}  // namespace
}  // namespace entrain
