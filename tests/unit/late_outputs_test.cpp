// Outputs that are known when the initialization has ended, by every version and interface of FMI. In step mode the
// FMUs calculate nothing (tests/support/late_fmu.h), so what passes through them before the first row was initialised
// again.
#include <gtest/gtest.h>

#include "entrain/fact_codes.hpp"
#include "support/clocked_fmus.hpp"
#include "support/facts.hpp"
#include "support/late_fmus.hpp"
#include "support/recorded.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace late_outputs_test {

using test::kLateInterfaces;
using test::LateInterface;

struct Part {
  std::string name, kind;
  LateInterface interface;
};

struct Case {
  LateInterface interface;
  bool shared;  ///< beside a subsystem with a clock: events are instants of all that have an event mode
};
std::vector<Case> cases_of(bool (*chosen)(const LateInterface&)) {
  std::vector<Case> cases;
  for (const bool shared : {false, true}) {
    for (const auto& interface : kLateInterfaces) {
      if (chosen(interface)) cases.push_back({interface, shared});
    }
  }
  return cases;
}
std::string name_of(const Case& tested) {
  return std::string(tested.interface.name) + (tested.shared ? "_beside_a_clock" : "");
}
void PrintTo(const Case& tested, std::ostream* out) {
  *out << name_of(tested);
}

/// Each feeds the next one.
class LateOutputs : public testing::TestWithParam<Case> {
 protected:
  static const LateInterface& tested() { return GetParam().interface; }
  void run(const std::vector<Part>& parts) {
    std::string system = "[run]\nstop = 0.3\nstep = 0.1\nmethod = \"jacobi\"\n";
    std::string connections = "[connections]\n";
    if (GetParam().shared) {
      test::write_clocked(folder_, "clocked.fmu",
                          R"(intervalVariability="constant" intervalDecimal="100" shiftDecimal="100")");
      system += "[subsystems.clock]\nfmu = \"clocked.fmu\"\n";
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto& [name, kind, interface] = parts[i];
      test::write_late(folder_, kind, interface);
      system += fmt::format("[subsystems.{}]\nfmu = \"{}_{}.fmu\"\n", name, kind, interface.name);
      if (i > 0) connections += fmt::format("\"{}.y\" = \"{}.u\"\n", parts[i - 1].name, name);
    }
    Simulation simulation(test::system_in(folder_, system + connections));
    recorder_ = {};
    simulation.observe(recorder_);
    summary_ = simulation.run();
    ASSERT_EQ(summary_.termination, Termination::Completed) << summary_.message;
  }
  double first(const std::string& signal) const { return recorder_.column(signal).at(0); }
  double second(const std::string& signal) const { return recorder_.column(signal).at(1); }

  test::TemporaryFolder folder_;
  MemoryRecorder recorder_;
  RunSummary summary_;
};

TEST_P(LateOutputs, are_in_the_first_row_and_feed_the_first_step) {
  for (const auto& fed : kLateInterfaces) {
    SCOPED_TRACE(fed.name);
    ASSERT_NO_FATAL_FAILURE(run({{"a", "late", tested()}, {"i", "integral", fed}}));
    EXPECT_EQ(recorder_.column("a.y"), (std::vector<double>{5, 5, 5, 5}));
    EXPECT_EQ(first("i.y"), 0.0);
    EXPECT_NEAR(second("i.y"), 0.5, 1e-9);
  }
}

TEST_P(LateOutputs, pass_through_others_before_the_first_row) {
  for (const auto& between : kLateInterfaces) {
    SCOPED_TRACE(between.name);
    ASSERT_NO_FATAL_FAILURE(run({{"a", "late", tested()}, {"g", "gain", between}, {"i", "integral", tested()}}));
    EXPECT_EQ(first("a.y"), 5.0);
    EXPECT_EQ(first("g.y"), 10.0);
    EXPECT_NEAR(second("i.y"), 1.0, 1e-9);
  }
}

/// Late twice: what comes at the end of the initialization of one is used at that of another.
TEST_P(LateOutputs, pass_through_late_outputs_of_others) {
  for (const auto& between : kLateInterfaces) {
    SCOPED_TRACE(between.name);
    ASSERT_NO_FATAL_FAILURE(run({{"a", "late", tested()}, {"b", "late", between}, {"g", "gain", tested()}}));
    EXPECT_EQ(first("a.y"), 5.0);
    EXPECT_EQ(first("b.y"), 10.0);
    EXPECT_EQ(first("g.y"), 20.0);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryInterface, LateOutputs,
                         testing::ValuesIn(cases_of([](const LateInterface&) { return true; })),
                         [](const auto& tested) { return name_of(tested.param); });

/// Discrete states have their values after the first update only, where there are events.
class OutputsOfFirstUpdate : public LateOutputs {};

TEST_P(OutputsOfFirstUpdate, pass_through_others_before_the_first_row) {
  for (const auto& between : kLateInterfaces) {
    SCOPED_TRACE(between.name);
    ASSERT_NO_FATAL_FAILURE(run({{"a", "updated", tested()}, {"g", "gain", between}, {"i", "integral", tested()}}));
    EXPECT_EQ(first("a.y"), 5.0);
    EXPECT_EQ(first("g.y"), 10.0);
    EXPECT_NEAR(second("i.y"), 1.0, 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(InterfacesWithEvents, OutputsOfFirstUpdate,
                         testing::ValuesIn(cases_of([](const LateInterface& each) { return each.has_events(); })),
                         [](const auto& tested) { return name_of(tested.param); });

}  // namespace late_outputs_test
}  // namespace entrain
