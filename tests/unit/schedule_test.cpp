#include <gtest/gtest.h>

#include <cmath>

#include "entrain/recording.hpp"
#include "entrain/system.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace schedule_test {

/// Without predation p' = alpha p, so ln p is the integral of alpha: 0.3 * 1 + 0.7 * -1 + 1 * 0.5 = 0.1 at t = 2.
constexpr std::string_view kPrey = R"(
[run]
stop = 2.0
step = 0.125
[subsystems.prey]
model = "lotka_volterra.prey"
start = { p = 1.0, alpha = 1.0, beta = 0.0 }
[subsystems.predator]
model = "lotka_volterra.predator"
[connections]
"prey.p" = "predator.u"
"predator.P" = "prey.u"
[schedule]
"prey.alpha" = [[0.3, -1.0], [1.0, 0.5]]
)";

class Schedule : public testing::TestWithParam<test::Change> {};

TEST_P(Schedule, changes_a_parameter_at_its_time_to_the_last_rounding) {
  Simulation simulation(test::changed(test::system_from(kPrey), GetParam()));
  ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  // The relative tolerance of the integrators that are in the game is 1e-10.
  EXPECT_NEAR(std::log(simulation.value("prey.p")), 0.1, 1e-8);
}

TEST_P(Schedule, goes_back_with_a_checkpoint) {
  Simulation simulation(test::changed(test::system_from(kPrey), GetParam()));
  simulation.run_until(0.25);
  const auto before = simulation.checkpoint();
  simulation.run_until(2.0);
  const double first = simulation.value("prey.p");
  simulation.restore(*before);
  simulation.run_until(2.0);
  EXPECT_EQ(simulation.value("prey.p"), first);
}

INSTANTIATE_TEST_SUITE_P(Methods, Schedule,
                         testing::Values(test::Change{"jacobi"}, test::Change{"gauss-seidel"},
                                         test::Change{"ifosmondi"}, test::Change{"missiles"}, test::Change{"f3ornits"},
                                         test::Change{"monolithic"}));

TEST(ScheduleOfAModel, shows_at_once_in_an_output_that_depends_on_the_parameter) {
  Simulation simulation(test::system_from(R"(
[run]
stop = 2.0
step = 0.5
[subsystems.mass]
model = "chain.mass"
start = { x = 1.0, c = 10.0, d = 0.0, c_0 = 0.0, d_0 = 0.0 }
[schedule]
"mass.c" = [[1.0, 20.0]]
)"));
  simulation.run_until(1.0);
  const double x = std::cos(std::sqrt(10.0));
  EXPECT_NEAR(simulation.value("mass.x"), x, 1e-12);
  EXPECT_NEAR(simulation.value("mass.F_left"), 20.0 * x, 1e-11);
  EXPECT_TRUE(simulation.run().warnings.empty());
}

/// ln p is 0.3 * 2 + 0.7 * -1 + 1 * 0.5, as when the same value stands in `start`.
TEST(ScheduleOfAModel, leaves_the_value_of_a_parameter_set_until_its_first_time) {
  auto system = test::system_from(kPrey);
  auto& prey = system.subsystems[0];
  prey.start.erase("alpha");
  prey.optional_start["alpha"] = {Value(2.0), "", {}};
  Simulation simulation(system);
  simulation.run();
  EXPECT_NEAR(std::log(simulation.value("prey.p")), 0.4, 1e-8);
}

TEST(ScheduleOfAModel, waits_for_the_end_of_an_imposed_step) {
  auto system = test::system_from(kPrey);
  system.subsystems[0].step = {0.5, {}};
  Simulation simulation(system);
  simulation.run();
  EXPECT_NEAR(std::log(simulation.value("prey.p")), 0.5 * 1.0 + 0.5 * -1.0 + 1.0 * 0.5, 1e-12);
}

TEST(ScheduleOfAModel, at_the_start_or_before_gives_start_values) {
  auto system = test::system_from(kPrey);
  system.schedule[0].entries = {{-1.0, 7.0, {}}, {0.0, 0.25, {}}};
  Simulation simulation(system);
  simulation.run();
  EXPECT_NEAR(std::log(simulation.value("prey.p")), 0.5, 1e-12);
}

TEST(ScheduleOfAModel, ends_a_run_whose_new_value_makes_no_sense) {
  Simulation simulation(test::system_from(R"(
[run]
stop = 2.0
[subsystems.mass]
model = "chain.mass"
[schedule]
"mass.m" = [[1.0, -1.0]]
)"));
  EXPECT_EQ(simulation.run().termination, Termination::Failed);
  EXPECT_EQ(test::outline(test::failure_of(simulation.summary())), "parameter-not-positive m (value = -1)");
}

TEST(ScheduleInASystemFile, is_checked) {
  const auto message = [](const std::string& line) {
    std::vector<Problem> problems;
    std::string text(kPrey);
    text.resize(text.find("\"prey.alpha\""));
    const auto system = description::parse_system(text + line, "test.toml", problems);
    if (!problems.empty()) return test::outline(problems.front());
    try {
      const Simulation simulation(system);
    } catch (const Error& error) {
      return test::outline(error.problems().front());
    }
    return std::string();
  };
  EXPECT_EQ(message("\"prey.alpha\" = 3.0"),
            "test.toml:14: wrong-type schedule.\"prey.alpha\" (expected = a list of [time, value] pairs, found = the "
            "number 3.0)");
  EXPECT_EQ(message("\"prey.alpha\" = [1.0, 2.0]"),
            "test.toml:14: not-time-pairs schedule.\"prey.alpha\"; such as [[2.0, 0.5], [4.0, 0.8]]");
  EXPECT_EQ(message("\"prey.alpha\" = []"),
            "test.toml:14: empty-value schedule.\"prey.alpha\"; give [time, value] pairs, or leave it out");
  EXPECT_EQ(message("\"prey.alpha\" = [[1.0, 1.0], [1.0, 2.0]]"),
            "test.toml:14: times-not-ascending schedule.\"prey.alpha\" (previous = 1 s, time = 1 s)");
  EXPECT_EQ(message("\"prey.alpha\" = [[nan, 1.0]]"), "test.toml:14: not-finite schedule.\"prey.alpha\" (value = nan)");
  EXPECT_EQ(message("\"prey.alpha\" = [[1.0, \"x\"]]"),
            "test.toml:14: wrong-value-type prey.alpha (expected = a number, found = a string)");
  EXPECT_EQ(message("\"prey.alhpa\" = [[1.0, 1.0]]"),
            "test.toml:14: unknown-variable prey.alhpa; did you mean 'prey.alpha'?");
  EXPECT_EQ(message("\"pray.alpha\" = [[1.0, 1.0]]"),
            "test.toml:14: unknown-subsystem pray, pray.alpha; did you mean 'prey'?");
  EXPECT_EQ(message("alpha = [[1.0, 1.0]]"),
            "test.toml:14: bad-endpoint alpha (of = a schedule, role = variable); write \"subsystem.variable\"");
  EXPECT_EQ(message("\"prey.p\" = [[1.0, 1.0]]"), "test.toml:14: not-tunable prey.p; did you mean 'prey.u'?");
  EXPECT_EQ(message("\"prey.alpha\" = [[9.0, 1.0]]"),
            "test.toml:14: change-after-end schedule.\"prey.alpha\" (time = 9 s)");
  EXPECT_EQ(message("\"prey.alpha\" = [[1.0, 1]]"), "");
}

TEST(ScheduleInASystemFile, is_written_back) {
  const auto system = test::system_from(kPrey);
  const auto again = test::system_from(system_text(resolved(system)));
  ASSERT_EQ(again.schedule.size(), 1U);
  EXPECT_EQ(again.schedule[0].variable, "prey.alpha");
  ASSERT_EQ(again.schedule[0].entries.size(), 2U);
  EXPECT_EQ(again.schedule[0].entries[1].time, 1.0);
  EXPECT_EQ(again.schedule[0].entries[1].value, Value(0.5));
}

}  // namespace schedule_test
}  // namespace entrain
