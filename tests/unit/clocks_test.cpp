// Clocks of FMI 3 co-simulation FMUs and the event phase that all subsystems share (docs/adr/0056). The FMU is
// tests/support/clocked_fmu3.c, which answers an error to every call that the standard does not allow where it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "coupling/clock_schedule.hpp"
#include "entrain/results.hpp"
#include "entrain/run.hpp"
#include "entrain/system.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "subsystem/fmi/model_description.hpp"
#include "support/clocked_fmus.hpp"
#include "support/facts.hpp"
#include "support/recorded.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace clocks_test {

using coupling::TickTime;
using test::TemporaryFolder;

SystemDescription system_of(const TemporaryFolder& folder, const std::string& subsystems,
                            const std::string& connections = "", const std::string& run = "step = 0.25\n") {
  return test::system_in(folder, "[run]\nstop = 1.0\nmethod = \"jacobi\"\nopen = [\"*.*\"]\n" + run + subsystems +
                                     "[connections]\n" + connections);
}
std::string clocked(const std::string& name, const std::string& start = "", const std::string& fmu = "clocked.fmu") {
  return "[subsystems." + name + "]\nfmu = \"" + fmu + "\"\nstart = { " + start + " }\n";
}

struct Ended {
  std::unique_ptr<Simulation> simulation;
  MemoryRecorder rows;

  double last(const std::string& signal) const { return simulation->value(signal); }
  const std::vector<double>& times() const { return rows.times; }
};
Ended ended_run(const SystemDescription& description) {
  Ended ended{std::make_unique<Simulation>(description), {}};
  ended.simulation->observe(ended.rows);
  EXPECT_EQ(ended.simulation->run().termination, Termination::Completed) << ended.simulation->summary().message;
  return ended;
}

TEST(TickTime, sums_of_fractions_are_exact) {
  TickTime tenth;
  for (int i = 0; i < 3; ++i) tenth = tenth + ClockInterval{1, 10};
  EXPECT_EQ(tenth, (TickTime{0.0, 3, 10}));
  EXPECT_EQ(tenth.time(), 0.3);  // 0.1 + 0.1 + 0.1 is not
  EXPECT_EQ((tenth + ClockInterval{48, 100000}).time(), 0.30048);
  EXPECT_EQ((TickTime{0.0, 1, 3} + ClockInterval{1, 6}), (TickTime{0.0, 1, 2}));
}

TEST(TickTime, that_differ_by_less_than_a_rounding_are_in_order) {
  const std::uint64_t large = std::uint64_t{1} << 62U;
  const TickTime a{0.0, large / 2, large};
  const TickTime b{0.0, large / 2 + 1, large};
  EXPECT_EQ(a.time(), b.time());
  EXPECT_LT(a, b);
  EXPECT_EQ(a, (TickTime{0.0, 1, 2}));
  EXPECT_GT(a + (ClockInterval{1, 3}), (TickTime{0.0, 5, 7}));
}

TEST(TickTime, whose_common_denominator_is_too_large_goes_on_from_a_rounded_time) {
  const std::uint64_t large = (std::uint64_t{1} << 62U) - 57;
  const TickTime sum = TickTime{0.0, large / 4, large} + ClockInterval{1, 1000003};
  EXPECT_NEAR(sum.time(), 0.25 + 1.0 / 1000003, 1e-15);
}

/// A clock of each kind, and how often it ticks in one second with an interval of 0.1 s: at the start too, unless the
/// first interval counts from there.
struct Kind {
  const char* name;
  const char* attributes;
  int ticks;
};
class ClockOfEveryKind : public testing::TestWithParam<Kind> {};

TEST_P(ClockOfEveryKind, ticks_at_its_times_and_the_run_meets_them) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "clocked.fmu", GetParam().attributes);
  const auto ended = ended_run(system_of(folder, clocked("a")));
  EXPECT_EQ(ended.last("a.ticks"), GetParam().ticks);
  EXPECT_EQ(ended.last("a.tick_time"), GetParam().ticks > 1 ? 1.0 : 0.1);
  EXPECT_EQ(std::count(ended.times().begin(), ended.times().end(), 0.1), 2);  // both limits
}

INSTANTIATE_TEST_SUITE_P(
    Fmi3, ClockOfEveryKind,
    testing::Values(Kind{"constant", "intervalVariability=\"constant\" intervalDecimal=\"0.1\"", 11},
                    Kind{"constant_fraction",
                         "intervalVariability=\"constant\" supportsFraction=\"true\" resolution=\"30\" "
                         "intervalCounter=\"3\"",
                         11},
                    Kind{"fixed", "intervalVariability=\"fixed\"", 11},
                    Kind{"fixed_by_fraction", "intervalVariability=\"fixed\" supportsFraction=\"true\"", 11},
                    Kind{"fixed_in_the_file", "intervalVariability=\"fixed\" intervalDecimal=\"0.1\"", 11},
                    Kind{"calculated", "intervalVariability=\"calculated\"", 11},
                    Kind{"tunable", "intervalVariability=\"tunable\"", 11},
                    Kind{"changing", "intervalVariability=\"changing\"", 10},
                    Kind{"countdown", "intervalVariability=\"countdown\"", 1}),
    [](const auto& of) { return of.param.name; });

TEST(PeriodicClock, begins_with_its_shift) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "clocked.fmu",
                      "intervalVariability=\"constant\" intervalDecimal=\"0.3\" shiftDecimal=\"0.05\"");
  const auto ended = ended_run(system_of(folder, clocked("a")));
  EXPECT_EQ(ended.last("a.ticks"), 4);  // 0.05, 0.35, 0.65, 0.95
  EXPECT_EQ(ended.last("a.tick_time"), 0.95);
}

TEST(TunableClock, whose_interval_is_changed_goes_on_from_there) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "clocked.fmu", "intervalVariability=\"tunable\"");
  const auto ended =
      ended_run(system_of(folder, clocked("a"), "", "step = 0.25\n[schedule]\n\"a.interval\" = [[0.5, 0.2]]\n"));
  EXPECT_EQ(ended.last("a.ticks"), 8);  // 0, 0.1, .. 0.5; 0.7, 0.9
  EXPECT_EQ(ended.last("a.tick_time"), 0.9);
}

TEST(CountdownOfZero, ticks_in_the_same_instant) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "clocked.fmu", test::kCountdownTick);
  const auto ended = ended_run(system_of(folder, clocked("a", "mode = 7")));
  EXPECT_EQ(ended.last("a.ticks"), 4);  // 0.1 three times, 0.3
  EXPECT_EQ(std::count(ended.times().begin(), ended.times().end(), 0.1), 2);
  EXPECT_EQ(ended.last("a.tick_time"), 0.3);
}

TEST(OutputClock, activates_the_clocks_that_it_feeds_with_their_values_in_the_same_instant) {
  const TemporaryFolder folder;
  test::write_clocked(folder);
  test::write_clocked(folder, "countdown.fmu", test::kCountdownTick);
  const auto ended = ended_run(system_of(folder, clocked("b", "interval = 5", "countdown.fmu") + clocked("a"),
                                         "\"a.out\" = \"b.in\"\n\"a.value\" = \"b.received\"\n", "step = 0.3\n"));
  EXPECT_EQ(ended.last("b.heard"), 11);
  EXPECT_EQ(ended.last("b.last"), 11);
  EXPECT_EQ(ended.last("b.heard_time"), 1.0);
}

TEST(TimedInputClock, can_feed_a_triggered_one) {
  const TemporaryFolder folder;
  test::write_clocked(folder);
  test::write_clocked(folder, "countdown.fmu", test::kCountdownTick);
  const auto ended = ended_run(system_of(folder, clocked("b", "interval = 5", "countdown.fmu") + clocked("a"),
                                         "\"a.tick\" = \"b.in\"\n", "step = 0.3\n"));
  EXPECT_EQ(ended.last("b.heard"), 11);
}

/// The countdown of b is set by a: 0.05 s after each tick that it hears.
TEST(CountdownClock, is_rescheduled_from_the_event_that_changed_it) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "clocked.fmu", "intervalVariability=\"constant\" intervalDecimal=\"0.2\"");
  test::write_clocked(folder, "countdown.fmu", test::kCountdownTick);
  const auto ended = ended_run(
      system_of(folder, clocked("a") + clocked("b", "interval = 0.05", "countdown.fmu"), "\"a.out\" = \"b.in\"\n"));
  EXPECT_EQ(ended.last("b.ticks"), 5);  // 0.05, 0.25, .. 0.85
  EXPECT_EQ(ended.last("b.tick_time"), 0.85);
}

/// 1/10 s and 3/30 s are the same tick, and 0.1 s of decimals is 1/10.
TEST(Coincidence, is_decided_by_fractions) {
  const TemporaryFolder folder;
  test::write_clocked(folder);
  test::write_clocked(folder, "fraction.fmu", "intervalVariability=\"fixed\" supportsFraction=\"true\"");
  const auto ended = ended_run(system_of(folder, clocked("a") + clocked("b", "", "fraction.fmu")));
  EXPECT_EQ(ended.last("b.ticks"), 11);
  std::vector<double> times = ended.times();
  times.erase(std::unique(times.begin(), times.end()), times.end());
  EXPECT_EQ(times.size(), 13U);                                               // 0, 0.1, .. 1 and the grid: 0.25, 0.75
  EXPECT_EQ(std::count(ended.times().begin(), ended.times().end(), 0.7), 2);  // one instant, not two
}

/// y = 2 u of a sampled x; the FMU refuses y before u is set, and u without its clock.
TEST(ClockedInput, is_set_before_the_output_that_depends_on_it_is_read) {
  const TemporaryFolder folder;
  test::write_clocked(folder);
  const auto ended = ended_run(system_of(folder, clocked("b", "mode = 9") + clocked("a", "mode = 9, x = 3"),
                                         "\"a.z\" = \"b.u\"\n\"b.y\" = \"a.u\"\n"));
  EXPECT_EQ(ended.last("b.y"), 2.0 * (3.0 + 10.0 * 11.0));
  EXPECT_EQ(ended.last("a.y"), 4.0 * (3.0 + 10.0 * 11.0));
}

TEST(InputThatIsSetAfterAnOutputWasRead, does_not_happen_along_a_chain) {
  const TemporaryFolder folder;
  test::write_clocked(folder);
  test::write_clocked(folder, "countdown.fmu", test::kCountdownTick);
  const std::string strict = "mode = 8, interval = 5";
  const auto ended = ended_run(system_of(
      folder, clocked("c", strict, "countdown.fmu") + clocked("b", strict, "countdown.fmu") + clocked("a", "mode = 8"),
      "\"a.out\" = [\"b.in\", \"c.in\"]\n\"a.value\" = [\"b.received\", \"c.received\"]\n"));
  EXPECT_EQ(ended.last("c.last"), 11);
}

TEST(JumpOfAContinuousOutput, reaches_the_others_in_the_same_instant) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "clocked.fmu", "intervalVariability=\"constant\" intervalDecimal=\"0.3\"");
  test::write_clocked(folder, "countdown.fmu", test::kCountdownTick);
  const auto ended =
      ended_run(system_of(folder, clocked("a") + clocked("b", "interval = 5", "countdown.fmu"), "\"a.z\" = \"b.x\"\n"));
  const auto& times = ended.times();
  const auto column = ended.rows.column("b.z");
  const auto at = static_cast<std::size_t>(std::find(times.begin(), times.end(), 0.3) - times.begin());
  ASSERT_LT(at + 1, times.size());
  EXPECT_EQ(times[at + 1], 0.3);
  EXPECT_EQ(column[at], 10.0);
  EXPECT_EQ(column[at + 1], 20.0);
}

class JumpFromOutside : public testing::TestWithParam<std::string> {
 protected:
  JumpFromOutside() {
    test::write_clocked(folder_, "countdown.fmu", test::kCountdownTick, "canGetAndSetFMUState=\"true\"");
    std::ofstream(folder_ / "steps.csv") << "time,x\n0,1\n0.3,7\n2,7\n";
    std::ofstream(folder_ / "ramp.csv") << "time,x\n0,1\n2,7\n";
  }
  Ended ended(const std::string& table, const std::string& run = "") const {
    auto system = system_of(folder_, clocked("a", "interval = 5", "countdown.fmu") + table,
                            table.empty() ? "" : "\"table.x\" = \"a.x\"\n", "step = 0.2\n" + run);
    system.method.value = GetParam();
    return ended_run(system);
  }
  TemporaryFolder folder_;
};

TEST_P(JumpFromOutside, of_a_scheduled_input_is_an_event) {
  const auto ended = this->ended("", "[schedule]\n\"a.x\" = [[0.3, 7.0]]\n");
  EXPECT_EQ(ended.last("a.updates"), 2);  // at the start, and there
  EXPECT_EQ(ended.last("a.z"), 7.0);
  EXPECT_EQ(std::count(ended.times().begin(), ended.times().end(), 0.3), 2);
}

INSTANTIATE_TEST_SUITE_P(Methods, JumpFromOutside, testing::Values("jacobi", "nepce", "ifosmondi"),
                         [](const auto& of) { return of.param; });

class JumpOfATable : public JumpFromOutside {};

TEST_P(JumpOfATable, is_an_event) {
  const auto ended = this->ended("[subsystems.table]\ncsv = \"steps.csv\"\n");
  EXPECT_EQ(ended.last("a.updates"), 2);
  EXPECT_EQ(ended.last("a.z"), 7.0);
  const auto at =
      static_cast<std::size_t>(std::find(ended.times().begin(), ended.times().end(), 0.3) - ended.times().begin());
  ASSERT_LT(at + 1, ended.times().size());
  EXPECT_EQ(ended.rows.column("a.z")[at], 1.0);  // nothing of it is known before
  EXPECT_EQ(ended.rows.column("a.z")[at + 1], 7.0);
}

/// Degree 2: the polynomials before and behind the jump have nothing in common.
TEST_P(JumpOfATable, is_not_seen_by_polynomials_behind_it) {
  const auto ended =
      this->ended("[subsystems.table]\ncsv = \"steps.csv\"\n", "[method." + GetParam() + "]\ndegree = 2\n");
  const auto z = ended.rows.column("a.z");
  for (std::size_t i = 0; i < z.size(); ++i)
    EXPECT_TRUE(z[i] == 1.0 || z[i] == 7.0) << ended.times()[i] << ": " << z[i];
}

TEST_P(JumpOfATable, is_none_where_the_input_grows_steadily) {
  EXPECT_EQ(ended("[subsystems.table]\ncsv = \"ramp.csv\"\ninterpolation = \"linear\"\n").last("a.updates"), 1);
}

INSTANTIATE_TEST_SUITE_P(Methods, JumpOfATable, testing::Values("jacobi", "gauss-seidel", "nepce"), [](const auto& of) {
  std::string name = of.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(EventInsideAStep, ends_the_macro_step_of_all_there) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "countdown.fmu", test::kCountdownTick);
  const auto ended = ended_run(system_of(
      folder, clocked("b", "interval = 5", "countdown.fmu") + clocked("a", "mode = 2, interval = 5", "countdown.fmu"),
      "\"a.out\" = \"b.in\"\n", "step = 0.2\n"));
  EXPECT_EQ(ended.last("b.heard"), 1);
  EXPECT_EQ(ended.last("b.heard_time"), 0.25);
  EXPECT_FALSE(test::has_fact(ended.simulation->summary().warnings, FactCode::EventsHandledAlone));
}

TEST(EventsInsideAStep, that_others_hear_are_met_and_those_of_a_subsystem_that_is_past_are_named) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "countdown.fmu", test::kCountdownTick);
  const std::string two = clocked("late", "mode = 3, interval = 5", "countdown.fmu") +
                          clocked("early", "mode = 2, interval = 5", "countdown.fmu");
  const auto ended = ended_run(system_of(folder, two, "\"early.out\" = \"late.in\"\n", "step = 0.5\n"));
  EXPECT_EQ(ended.last("late.heard_time"), 0.25);
  EXPECT_EQ(test::number_of(ended.simulation->summary().warnings, FactCode::EventsHandledAlone, "first", "late"), 0.35);
}

/// With intermediate updates every 0.05 s, 'early' ends its step where 'late' finds its event.
TEST(EventsInsideAStep, of_one_that_comes_second_end_the_step_of_one_that_can_be_asked_inside) {
  const TemporaryFolder folder;
  const std::string asks = R"(providesIntermediateUpdate="true" canReturnEarlyAfterIntermediateUpdate="true")";
  test::write_clocked(folder, "asks.fmu", test::kCountdownTick, asks);
  test::write_clocked(folder, "countdown.fmu", test::kCountdownTick);
  const std::string two = clocked("late", "mode = 3, interval = 5", "countdown.fmu") +
                          clocked("early", "mode = 2, interval = 5", "asks.fmu");
  const auto ended =
      ended_run(system_of(folder, two, "\"early.out\" = \"late.in\"\n\"late.out\" = \"early.in\"\n", "step = 0.5\n"));
  EXPECT_EQ(ended.last("late.heard_time"), 0.25);
  EXPECT_DOUBLE_EQ(ended.last("early.heard_time"), 0.35);
  EXPECT_EQ(ended.last("early.heard"), 1);
  EXPECT_FALSE(test::has_fact(ended.simulation->summary().warnings, FactCode::EventsHandledAlone));
}

TEST(EventsInsideAStep, between_two_questions_are_handled_alone_and_seen_at_the_next) {
  const TemporaryFolder folder;
  const std::string asks = R"(providesIntermediateUpdate="true" canReturnEarlyAfterIntermediateUpdate="true")";
  test::write_clocked(folder, "asks.fmu", test::kCountdownTick, asks);
  test::write_clocked(folder, "finds.fmu", test::kCountdownTick);
  // 0.33 s lies between two questions; where it is announced, all meet there.
  const std::string two =
      clocked("late", "mode = 12, interval = 5", "finds.fmu") + clocked("early", "interval = 5", "asks.fmu");
  const auto ended = ended_run(system_of(folder, two, "\"late.ticks\" = \"early.received\"\n", "step = 0.5\n"));
  EXPECT_EQ(test::number_of(ended.simulation->summary().warnings, FactCode::EventsHandledAlone, "first", "late"), 0.33);
  EXPECT_EQ(
      std::count_if(ended.times().begin(), ended.times().end(), [](double t) { return std::abs(t - 0.35) < 1e-12; }),
      1);
}

TEST(EventHandledAlone, starts_the_countdown_that_it_announces) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "countdown.fmu", test::kCountdownTick);
  const auto ended = ended_run(system_of(folder,
                                         clocked("late", "mode = 10, interval = 5", "countdown.fmu") +
                                             clocked("early", "mode = 2, interval = 5", "countdown.fmu"),
                                         "\"early.out\" = \"late.in\"\n", "step = 0.5\n"));
  EXPECT_TRUE(test::has_fact(ended.simulation->summary().warnings, FactCode::EventsHandledAlone, "late"));
  EXPECT_EQ(ended.last("late.ticks"), 1);
  EXPECT_DOUBLE_EQ(ended.last("late.tick_time"), 0.55);
}

TEST(EventHandledAlone, ends_the_run_where_the_subsystem_asks_for_it) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "countdown.fmu", test::kCountdownTick);
  const auto ended = ended_run(system_of(folder,
                                         clocked("late", "mode = 11, interval = 5", "countdown.fmu") +
                                             clocked("early", "mode = 2, interval = 5", "countdown.fmu"),
                                         "\"early.out\" = \"late.in\"\n", "step = 0.5\n"));
  EXPECT_EQ(ended.simulation->summary().reached, 0.35);
}

TEST(EventsInsideAStep, of_two_that_can_go_back_are_both_met) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "countdown.fmu", test::kCountdownTick, "canGetAndSetFMUState=\"true\"");
  const std::string two = clocked("late", "mode = 3, interval = 5", "countdown.fmu") +
                          clocked("early", "mode = 2, interval = 5", "countdown.fmu");
  const auto ended =
      ended_run(system_of(folder, two, "\"early.out\" = \"late.in\"\n\"late.out\" = \"early.in\"\n", "step = 0.5\n"));
  EXPECT_EQ(ended.last("late.heard_time"), 0.25);
  EXPECT_EQ(ended.last("early.heard_time"), 0.35);
  EXPECT_FALSE(test::has_fact(ended.simulation->summary().warnings, FactCode::EventsHandledAlone));
}

TEST(EarlyReturnWithoutAnEvent, is_a_shorter_step) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "countdown.fmu", test::kCountdownTick);
  const auto ended =
      ended_run(system_of(folder, clocked("a", "mode = 4, interval = 5", "countdown.fmu"), "", "step = 0.1\n"));
  EXPECT_EQ(ended.times().size(), 11U);  // no instant but the start
  EXPECT_EQ(ended.last("a.updates"), 1);
}

TEST(AnnouncedEvent, is_met_by_all) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "countdown.fmu", test::kCountdownTick);
  const auto ended = ended_run(system_of(
      folder, clocked("b", "interval = 5", "countdown.fmu") + clocked("a", "mode = 5, interval = 5", "countdown.fmu"),
      "\"a.out\" = \"b.in\"\n", "step = 0.2\n"));
  EXPECT_EQ(ended.last("b.heard_time"), 0.33);
  EXPECT_EQ(std::count(ended.times().begin(), ended.times().end(), 0.33), 2);
}

TEST(EventAtTheEndOfAStep, is_handled_there) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "countdown.fmu", test::kCountdownTick);
  const auto ended = ended_run(system_of(
      folder, clocked("b", "interval = 5", "countdown.fmu") + clocked("a", "mode = 6, interval = 5", "countdown.fmu"),
      "\"a.out\" = \"b.in\"\n", "step = 0.3\n"));
  EXPECT_DOUBLE_EQ(ended.last("b.heard_time"), 0.6);
}

TEST(EventsThatDoNotEnd, name_the_subsystem_that_asks_for_more) {
  const TemporaryFolder folder;
  test::write_clocked(folder);
  Simulation simulation(system_of(folder, clocked("calm") + clocked("restless", "mode = 1")));
  simulation.run();
  EXPECT_EQ(simulation.summary().termination, Termination::Failed);
  const Fact failure = test::failure_of(simulation.summary());
  EXPECT_EQ(failure.code, FactCode::EventsUnsettled);
  EXPECT_EQ(failure.subjects, std::vector<std::string>{"restless"});
}

TEST(ClockFasterThanAnImposedStep, is_named_with_its_subsystem) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "clocked.fmu", "intervalVariability=\"constant\" intervalDecimal=\"0.0005\"",
                      "fixedInternalStepSize=\"0.2\"", test::kFixedStep);
  Simulation simulation(system_of(folder, clocked("a"), "", "step = 0.2\n"));
  simulation.run();
  EXPECT_EQ(simulation.summary().termination, Termination::Failed);
  const Fact failure = test::failure_of(simulation.summary());
  EXPECT_EQ(failure.code, FactCode::EventsUnsettled);
  EXPECT_EQ(failure.subjects, std::vector<std::string>{"a.tick"});
}

TEST(ClockOfASubsystemWithAnImposedStep, ticks_at_the_end_of_the_step_and_is_named_late) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "clocked.fmu", "intervalVariability=\"constant\" intervalDecimal=\"0.3\"",
                      "fixedInternalStepSize=\"0.2\"", test::kFixedStep);
  for (const char* step : {"step = 0.2\n", "step = 0.1\n"}) {  // with 0.1 it stands in the middle at 0.3 and 0.9
    const auto ended = ended_run(system_of(folder, clocked("a"), "", step));
    EXPECT_EQ(ended.last("a.ticks"), 4);
    EXPECT_EQ(ended.last("a.tick_time"), 1.0);
    const auto& warnings = ended.simulation->summary().warnings;
    EXPECT_EQ(test::number_of(warnings, FactCode::ClocksLate, "count", "a.tick"), 2) << step;
    EXPECT_EQ(test::number_of(warnings, FactCode::ClocksLate, "first", "a.tick"), 0.3) << step;
    EXPECT_NEAR(test::number_of(warnings, FactCode::ClocksLate, "delay", "a.tick"), 0.1, 1e-12) << step;
    EXPECT_FALSE(test::has_fact(warnings, FactCode::EventsInsideImposedStep));
  }
}

TEST(ClockOfOthers, that_reaches_a_subsystem_inside_an_imposed_step_is_a_warning) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "clocked.fmu", "intervalVariability=\"constant\" intervalDecimal=\"0.3\"");
  test::write_clocked(folder, "slow.fmu", test::kCountdownTick, "fixedInternalStepSize=\"0.2\"", test::kFixedStep);
  const auto ended = ended_run(system_of(folder, clocked("a") + clocked("b", "interval = 5", "slow.fmu"),
                                         "\"a.out\" = \"b.in\"\n", "step = 0.1\n"));
  EXPECT_EQ(ended.last("b.heard"), 4);
  const auto& warnings = ended.simulation->summary().warnings;
  EXPECT_EQ(test::number_of(warnings, FactCode::EventsInsideImposedStep, "count", "b"), 2);
  EXPECT_DOUBLE_EQ(test::number_of(warnings, FactCode::EventsInsideImposedStep, "first", "b"), 0.3);
  EXPECT_FALSE(test::has_fact(warnings, FactCode::ClocksLate));
}

TEST(IntervalThatIsNoTime, is_named) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "clocked.fmu", "intervalVariability=\"fixed\"");
  Simulation simulation(system_of(folder, clocked("a", "interval = 0")));
  simulation.run();
  EXPECT_EQ(test::failure_of(simulation.summary()).code, FactCode::ClockIntervalInvalid);
}

TEST(IntervalThatIsNoTime, is_none_as_a_fraction_either) {
  for (const double seconds : {-1.0, -1e-30, std::numeric_limits<double>::infinity(), std::nan("")}) {
    const ClockInterval interval = subsystem::as_interval(seconds);
    EXPECT_EQ(interval.counter, 0U) << seconds;
    EXPECT_EQ(interval.resolution, 0U) << seconds;
  }
  EXPECT_EQ(subsystem::as_interval(0.0).resolution, 1U);
}

TEST(NegativeInterval, is_named) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "clocked.fmu", test::kCountdownTick);
  Simulation simulation(system_of(folder, clocked("a", "interval = -1")));
  simulation.run();
  EXPECT_EQ(test::failure_of(simulation.summary()).code, FactCode::ClockIntervalInvalid);
}

/// FMI 3.0, section 2.4.8: without the attribute it depends on everything.
TEST(OutputWithoutDependencies, depends_on_every_input) {
  const TemporaryFolder folder;
  std::string text = test::clocked3(test::kConstantTick);
  const std::string written = "valueReference=\"31\" dependencies=\"30\"";
  text.replace(text.find(written), written.size(), "valueReference=\"31\"");
  test::write_archive(folder / "open.fmu",
                      {{"modelDescription.xml", text},
                       {"binaries/x86_64-linux/clocked.so", test::text_of(test::clocked_fmu3_library())}});
  const auto part = subsystem::make_fmu_subsystem("a", folder / "open.fmu", {});
  part->capabilities();
  const auto& mode = *part->facets().event_mode;
  const auto index = [&](const char* name) { return part->variables().find(name)->index; };
  using Port = EventMode::Port;
  EXPECT_TRUE(mode.depends(Port::Real, index("z"), Port::Real, index("x")));
  EXPECT_TRUE(mode.depends(Port::Real, index("z"), Port::Discrete, index("u")));
  EXPECT_FALSE(mode.depends(Port::Real, index("tick_time"), Port::Real, index("x")));
}

/// A check looks at all FMUs in other processes.
TEST(CheckOfClocks, knows_them) {
  const TemporaryFolder folder;
  test::write_clocked(folder);
  std::ofstream(folder / "system.toml") << "[run]\nstop = 1.0\nstep = 0.1\nopen = [\"*.*\"]\n" + clocked("a") +
                                               clocked("b") + "[connections]\n\"a.out\" = \"b.in\"\n";
  std::vector<Fact> facts;
  for (const auto& problem : check(folder / "system.toml")) facts.push_back(problem.fact);
  EXPECT_TRUE(test::has_fact(facts, FactCode::ClockNeverTicks, "a.in"));
  EXPECT_FALSE(test::has_fact(facts, FactCode::UnknownVariable));
}

TEST(ClockConnection, that_makes_no_sense_is_refused) {
  const TemporaryFolder folder;
  test::write_clocked(folder);
  const auto refused = [&](const std::string& connection) {
    return test::problem_facts(system_of(folder, clocked("a") + clocked("b"), connection));
  };
  EXPECT_TRUE(test::has_fact(refused("\"a.out\" = \"b.tick\"\n"), FactCode::ClockNotConnectable, "b.tick"));
  EXPECT_TRUE(test::has_fact(refused("\"a.in\" = \"b.in\"\n"), FactCode::ClockNotConnectable, "a.in"));
  EXPECT_TRUE(test::has_fact(refused("\"a.out\" = \"b.x\"\n"), FactCode::TypesDiffer, "b.x"));
}

TEST(MethodWithoutCommonTimes, is_refused_for_clocks) {
  const TemporaryFolder folder;
  test::write_clocked(folder);
  auto system = system_of(folder, clocked("a"));
  for (const char* method : {"f3ornits", "waveform"}) {
    system.method.value = method;
    EXPECT_TRUE(test::has_fact(test::problem_facts(system), FactCode::NeedsCommonInstants, "a")) << method;
  }
}

class ClocksWithMethod : public testing::TestWithParam<std::string> {};

TEST_P(ClocksWithMethod, tick_at_their_times) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "clocked.fmu", test::kConstantTick, "canGetAndSetFMUState=\"true\"");
  auto system = system_of(folder, clocked("a") + clocked("b"), "\"a.z\" = \"b.x\"\n\"a.out\" = \"b.in\"\n");
  system.method.value = GetParam();
  const auto ended = ended_run(system);
  EXPECT_EQ(ended.last("a.ticks"), 11);
  EXPECT_EQ(ended.last("b.heard"), 11);
  EXPECT_EQ(ended.last("b.heard_time"), 1.0);
}

INSTANTIATE_TEST_SUITE_P(All, ClocksWithMethod,
                         testing::Values("jacobi", "gauss-seidel", "nepce", "ifosmondi", "missiles"),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// The times of the clocks are part of a checkpoint.
TEST(ClockSchedule, goes_back_with_a_checkpoint) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "clocked.fmu", "intervalVariability=\"constant\" intervalDecimal=\"0.3\"",
                      "canGetAndSetFMUState=\"true\"");
  test::write_clocked(folder, "countdown.fmu", test::kCountdownTick, "canGetAndSetFMUState=\"true\"");
  Simulation simulation(
      system_of(folder, clocked("a") + clocked("b", "interval = 0.07", "countdown.fmu"), "\"a.out\" = \"b.in\"\n"));
  MemoryRecorder rows;
  simulation.observe(rows);
  simulation.run_until(0.5);
  const auto middle = simulation.checkpoint();
  const std::size_t before = rows.times.size();
  simulation.run();
  const auto whole = rows.times;
  const double ticks = simulation.value("b.ticks");
  simulation.restore(*middle);
  simulation.run();
  const std::vector<double> first(whole.begin() + static_cast<std::ptrdiff_t>(before), whole.end());
  const std::vector<double> second(rows.times.begin() + static_cast<std::ptrdiff_t>(whole.size()), rows.times.end());
  EXPECT_EQ(first, second);
  EXPECT_EQ(simulation.value("b.ticks"), ticks);
}

/// Partitions run at the ticks of their clocks, in simulated time, with the inputs that were set before.
TEST(ScheduledExecution, runs_its_partitions_at_the_ticks_of_their_clocks) {
  const TemporaryFolder folder;
  test::write_scheduled(folder, "scheduled.fmu", test::kConstantTick);
  test::write_clocked(folder, "countdown.fmu", test::kCountdownTick);
  const auto ended =
      ended_run(system_of(folder,
                          clocked("a", "", "scheduled.fmu") + clocked("b", "interval = 5, x = 4", "countdown.fmu") +
                              clocked("c", "", "scheduled.fmu"),
                          "\"a.out\" = [\"b.in\", \"c.in\"]\n\"a.value\" = [\"b.received\", "
                          "\"c.received\"]\n\"b.z\" = \"a.u\"\n"));
  EXPECT_EQ(ended.last("a.ticks"), 11);
  EXPECT_EQ(ended.last("a.y"), 8.0);
  EXPECT_EQ(ended.last("b.last"), 11);
  EXPECT_EQ(ended.last("c.heard_time"), 1.0);
}

/// FMI 3.0, section 5.2: a partition runs once at a time.
TEST(ScheduledExecution, whose_clock_ticks_twice_at_one_time_is_refused_by_name) {
  const TemporaryFolder folder;
  test::write_scheduled(folder, "scheduled.fmu", test::kConstantTick);
  test::write_clocked(folder, "countdown.fmu", test::kCountdownTick);
  Simulation simulation(
      system_of(folder, clocked("a", "mode = 7, interval = 0.2", "countdown.fmu") + clocked("b", "", "scheduled.fmu"),
                "\"a.out\" = \"b.in\"\n"));
  simulation.run();
  EXPECT_EQ(test::failure_of(simulation.summary()).code, FactCode::PartitionTwice);
  EXPECT_EQ(test::failure_of(simulation.summary()).subjects, std::vector<std::string>{"in"});
}

/// An input without a clock changes between two partitions, and outputs are read all the time.
TEST(ScheduledExecution, takes_inputs_with_its_next_partition) {
  const TemporaryFolder folder;
  test::write_scheduled(folder, "scheduled.fmu", "intervalVariability=\"constant\" intervalDecimal=\"0.4\"");
  std::ofstream(folder / "steps.csv") << "time,x\n0,1\n0.5,7\n2,7\n";
  const auto ended =
      ended_run(system_of(folder, clocked("a", "", "scheduled.fmu") + "[subsystems.t]\ncsv = \"steps.csv\"\n",
                          "\"t.x\" = \"a.x\"\n", "step = 0.1\n"));
  const auto& times = ended.times();
  const auto z = ended.rows.column("a.z");
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i] < 0.55 || times[i] > 0.75) continue;
    EXPECT_EQ(z[i], 21.0) << times[i];  // two ticks, and x as it was at 0.4
  }
  EXPECT_EQ(z.back(), 37.0);
}

TEST(ScheduledExecution, by_a_countdown_follows_the_partition_that_set_it) {
  const TemporaryFolder folder;
  test::write_scheduled(folder, "scheduled.fmu", test::kConstantTick);
  test::write_scheduled(folder, "countdown.fmu", test::kCountdownTick);
  const auto ended =
      ended_run(system_of(folder, clocked("a", "", "scheduled.fmu") + clocked("b", "interval = 0.03", "countdown.fmu"),
                          "\"a.out\" = \"b.in\"\n"));
  EXPECT_EQ(ended.last("b.ticks"), 10);
  EXPECT_EQ(ended.last("b.tick_time"), 0.93);
}

/// A state event of model exchange, found inside a step, reaches the others where it is.
TEST(StateEventOfModelExchange, is_an_instant_of_all) {
  const TemporaryFolder folder;
  test::write_counting(folder);
  const auto ended =
      ended_run(system_of(folder,
                          "[subsystems.b]\nfmu = \"counting.fmu\"\nstart = { x = -10 }\n[subsystems.a]\nfmu = "
                          "\"counting.fmu\"\n",
                          "\"a.count\" = \"b.in\"\n", "step = 0.5\n"));
  EXPECT_EQ(ended.last("a.count"), 3);
  EXPECT_EQ(ended.last("b.copy"), 3);
  const auto& times = ended.times();
  const auto copies = ended.rows.column("b.copy");
  ASSERT_EQ(times.size(), 9U);  // 0; 0.3, 0.6 and 0.9 twice; 0.5, 1
  EXPECT_NEAR(times[1], 0.3, 1e-9);
  EXPECT_EQ(times[1], times[2]);
  EXPECT_EQ(copies[1], 0.0);
  EXPECT_EQ(copies[2], 1.0);
}

/// The order of the derivatives is that of the states, also where nothing names them.
TEST(StatesThatNothingNames, are_integrated_like_others) {
  const TemporaryFolder folder;
  test::write_counting(folder, "");
  const auto ended = ended_run(system_of(folder, "[subsystems.a]\nfmu = \"counting.fmu\"\n", "", "step = 0.5\n"));
  EXPECT_EQ(ended.last("a.count"), 3);
  EXPECT_NEAR(ended.last("a.x"), 1.0, 1e-9);
}

class TimesThatStandTwice : public testing::TestWithParam<std::string> {};

TEST_P(TimesThatStandTwice, survive_the_results) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "clocked.fmu", "intervalVariability=\"constant\" intervalDecimal=\"0.3\"");
  auto system = system_of(folder, clocked("a"));
  system.record.format = {GetParam(), {}};
  const auto result = entrain::run(system, {.folder = folder / "run", .estimate = false});
  ASSERT_EQ(result.summary.termination, Termination::Completed) << result.summary.message;
  const auto results = read_results(result.results);
  const auto* z = results.find("a.z");
  ASSERT_NE(z, nullptr);
  EXPECT_EQ(results.times(*z), (std::vector<Time>{0.0, 0.25, 0.3, 0.3, 0.5, 0.6, 0.6, 0.75, 0.9, 0.9, 1.0}));
  EXPECT_EQ(z->values, (std::vector<double>{10, 10, 10, 20, 20, 20, 30, 30, 30, 40, 40}));
}

INSTANTIATE_TEST_SUITE_P(Formats, TimesThatStandTwice, testing::Values("csv", "hdf5", "mat"),
                         [](const auto& of) { return of.param; });

}  // namespace clocks_test
}  // namespace entrain
