// Clocks, event phases, buses, scheduled execution and values of every type in processes of their own: the same rows
// and frames, to the last digit, as in this process.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <optional>

#include <fstream>

#include "entrain/fact_codes.hpp"
#include "entrain/recording.hpp"
#include "entrain/run.hpp"
#include "support/clocked_fmus.hpp"
#include "support/facts.hpp"
#include "support/processes.hpp"
#include "support/systems.hpp"
#include "support/typed_fmus.hpp"

namespace entrain {
namespace worker_events_test {

using test::TemporaryFolder;

std::string part(const std::string& name, const std::string& fmu, const std::string& start = "") {
  return fmt::format("[subsystems.{}]\nfmu = \"{}\"\nstart = {{ {} }}\n", name, fmu, start);
}

struct Scenario {
  std::string name;
  std::string run;  ///< besides the stop time
  std::string subsystems;
  std::string connections;
};

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = [] {
    const std::string pair = "\"a.out\" = \"b.in\"\n\"a.value\" = \"b.received\"\n\"a.z\" = \"b.x\"\n";
    const std::string step = "step = 0.25\nmethod = \"jacobi\"\n";
    std::vector<Scenario> list;
    for (const char* kind : {"constant", "changing", "tunable", "countdown", "fraction"}) {
      list.push_back({fmt::format("clock_{}", kind), step,
                      part("a", fmt::format("{}.fmu", kind)) + part("b", "countdown.fmu", "interval = 0.07"), pair});
    }
    for (const char* method : {"gauss-seidel", "nepce", "ifosmondi"}) {
      list.push_back({fmt::format("method_{}", method), fmt::format("step = 0.25\nmethod = \"{}\"\n", method),
                      part("a", "constant.fmu") + part("b", "constant.fmu"), pair});
    }
    for (int mode = FindsEvent; mode <= StartsCountdown; ++mode) {
      if (mode == NeedsInput) continue;
      const std::string modes = fmt::format("mode = {}, interval = 0.21", mode);
      list.push_back({fmt::format("mode_{}", mode), step,
                      part("a", "countdown.fmu", modes) + part("b", "constant.fmu") +
                          part("c", "countdown.fmu", fmt::format("mode = {}, interval = 5", FindsEventLater)),
                      pair + "\"b.z\" = \"c.x\"\n"});
    }
    list.push_back({"needs_input", step, part("b", "constant.fmu", "mode = 9") + part("a", "constant.fmu", "mode = 9"),
                    "\"a.z\" = \"b.u\"\n\"b.y\" = \"a.u\"\n"});
    list.push_back(
        {"both_go_back", step,
         part("a", "countdown.fmu", "mode = 2, interval = 5") + part("b", "countdown.fmu", "mode = 3, interval = 5"),
         "\"a.out\" = \"b.in\"\n"});
    list.push_back(
        {"neither_goes_back", step,
         part("a", "forward.fmu", "mode = 3, interval = 5") + part("b", "forward.fmu", "mode = 2, interval = 5"),
         "\"a.out\" = \"b.in\"\n"});
    list.push_back({"jump_of_a_table", "step = 0.2\nmethod = \"jacobi\"\n",
                    part("a", "countdown.fmu", "interval = 5") + "[subsystems.table]\ncsv = \"steps.csv\"\n",
                    "\"table.x\" = \"a.x\"\n"});
    list.push_back({"schedule", step + "[schedule]\n\"a.interval\" = [[0.5, 0.2]]\n\"a.x\" = [[0.3, 7.0]]\n",
                    part("a", "tunable.fmu"), ""});
    list.push_back({"scheduled_execution", step,
                    part("a", "scheduled.fmu") + part("b", "countdown.fmu", "interval = 5, x = 4") +
                        part("c", "scheduled_countdown.fmu", "interval = 0.03"),
                    "\"a.out\" = [\"b.in\", \"c.in\"]\n\"a.value\" = [\"b.received\", \"c.received\"]\n"
                    "\"b.z\" = \"a.u\"\n"});
    list.push_back({"model_exchange", "step = 0.5\nmethod = \"jacobi\"\n",
                    part("b", "counting.fmu", "x = -10") + part("a", "counting.fmu"), "\"a.count\" = \"b.in\"\n"});
    list.push_back({"can_bus", "step = 0.1\nmethod = \"jacobi\"\n",
                    part("node1", "node.fmu", "id = 7, at = 0.3") + part("node2", "node.fmu", "id = 3, at = 0.3") +
                        part("node3", "node.fmu", "id = 9, at = 0.8") + part("bus", "bus.fmu"),
                    "\"node1.CanChannel\" = \"bus.Node1\"\n\"bus.Node2\" = \"node2.CanChannel\"\n"
                    "\"node3.CanChannel\" = \"bus.Node3\"\n"});
    std::string types;
    for (const char* type : {"Float32", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64",
                             "Boolean", "String", "Binary", "Enumeration"}) {
      types += fmt::format("\"a.out.{0}\" = \"b.in.{0}\"\n", type);
    }
    const std::string values =
        R"("in.Int64" = -9223372036854775808, "in.UInt64" = "18446744073709551615", "in.Boolean" = true, )"
        R"("in.String" = "a, \"b\"\n\u00fc", "in.Binary" = "00ff10", "in.Enumeration" = 3, "in.Float32" = 0.1)";
    for (const char* fmu : {"typed", "typed_events"}) {
      const std::string file = fmt::format("{}.fmu", fmu);
      list.push_back({fmu, step, part("a", file, values) + part("b", file),
                      types + "\"a.out.pair[1]\" = \"b.in.pair[2]\"\n\"a.m[2,3]\" = \"b.a[1,2]\"\n"});
    }
    return list;
  }();
  return all;
}

class WorkerEvents : public testing::Test {
 protected:
  WorkerEvents() {
    const std::string back = "canGetAndSetFMUState=\"true\"";
    test::write_clocked(folder_, "constant.fmu", test::kConstantTick, back);
    test::write_clocked(folder_, "changing.fmu", "intervalVariability=\"changing\"", back);
    test::write_clocked(folder_, "tunable.fmu", "intervalVariability=\"tunable\"", back);
    test::write_clocked(folder_, "fraction.fmu", "intervalVariability=\"fixed\" supportsFraction=\"true\"", back);
    test::write_clocked(folder_, "countdown.fmu", test::kCountdownTick, back);
    test::write_clocked(folder_, "forward.fmu", test::kCountdownTick);
    test::write_scheduled(folder_, "scheduled.fmu", test::kConstantTick);
    test::write_scheduled(folder_, "scheduled_countdown.fmu", test::kCountdownTick);
    test::write_counting(folder_);
    test::write_can_node(folder_ / "node.fmu");
    test::write_can_bus(folder_ / "bus.fmu");
    write_typed("typed.fmu", "");
    write_typed("typed_events.fmu", "hasEventMode=\"true\"");
    std::ofstream(folder_ / "steps.csv") << "time,x\n0,1\n0.3,7\n2,7\n";
  }
  void write_typed(const std::string& name, const std::string& flags) {
    test::write_typed3(folder_, flags);
    std::filesystem::rename(folder_ / "typed3.fmu", folder_ / name);
  }

  SystemDescription system(const Scenario& scenario) const {
    auto system = test::system_in(folder_, "[run]\nstop = 1.0\nopen = [\"*.*\"]\n" + scenario.run +
                                               scenario.subsystems + "[connections]\n" + scenario.connections);
    system.record.variables = {Written<std::string>{"*", {}}};
    return system;
  }
  /// Rows and frames, as they are in the files, and the warnings.
  std::string outcome(const SystemDescription& system) const {
    const auto result = entrain::run(system, {.folder = folder_ / "run", .overwrite = true, .estimate = false});
    EXPECT_EQ(result.summary.termination, Termination::Completed) << result.summary.message;
    std::string text = test::text_of(result.results);
    if (exists(folder_ / "run" / "frames.csv")) text += test::text_of(folder_ / "run" / "frames.csv");
    for (const auto& warning : result.summary.warnings) text += render(warning) + "\n";
    return text;
  }

  TemporaryFolder folder_;
};

class WorkerScenario : public WorkerEvents, public testing::WithParamInterface<Scenario> {};

TEST_P(WorkerScenario, gives_the_same_rows_and_frames) {
  const auto description = system(GetParam());
  const std::string here = outcome(description);
  ASSERT_GT(std::count(here.begin(), here.end(), '\n'), 4);
  auto apart = description;
  apart.isolate = {true, {}};
  EXPECT_EQ(outcome(apart), here) << "apart";
  auto together = description;
  for (auto& subsystem : together.subsystems) subsystem.isolate = {std::string("all"), {}};
  EXPECT_EQ(outcome(together), here) << "in one process";
  auto mixed = description;
  mixed.subsystems.front().isolate = {true, {}};
  EXPECT_EQ(outcome(mixed), here) << "one of them apart";
}

INSTANTIATE_TEST_SUITE_P(All, WorkerScenario, testing::ValuesIn(scenarios()), [](const auto& of) {
  std::string name = of.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

const Scenario& scenario(const std::string& name) {
  return *std::find_if(scenarios().begin(), scenarios().end(), [&](const auto& each) { return each.name == name; });
}

TEST_F(WorkerEvents, in_a_sandbox_are_the_same) {
  for (const char* name : {"clock_countdown", "can_bus"}) {
    const auto description = system(scenario(name));
    auto closed = description;
    closed.sandbox = {true, {}};
    EXPECT_EQ(outcome(closed), outcome(description)) << name;
  }
}

/// What was read counts: an interval is new once, and a partition runs when its results are asked for.
TEST_F(WorkerEvents, go_on_in_a_new_process) {
  for (const char* name : {"clock_countdown", "scheduled_execution", "can_bus", "both_go_back", "model_exchange"}) {
    auto description = system(scenario(name));
    const auto rows_of = [this](const SystemDescription& of, bool killed) {
      Simulation simulation(of);
      Recorder recorder(folder_ / "rows.csv", of.record);
      simulation.observe(recorder);
      std::size_t kills = 0;
      std::optional<Time> killed_at;
      for (const Time until : {0.3, 0.5}) {
        const Time reached = simulation.run_until(until).reached;
        // Where the first call went past the second time, nothing has begun again.
        if (!killed || killed_at == reached) continue;
        killed_at = reached;
        const auto workers = test::children_that_run("entrain-worker");
        EXPECT_EQ(workers.size(), of.subsystems.size());
        for (const pid_t worker : workers) ::kill(worker, SIGKILL);
        kills += workers.size();
      }
      EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
      std::size_t restarts = 0;
      for (const auto& warning : simulation.summary().warnings)
        restarts += warning.code == FactCode::WorkerRestarted ? 1 : 0;
      EXPECT_EQ(restarts, kills);
      EXPECT_GE(kills, killed ? of.subsystems.size() : 0);
      return test::text_of(folder_ / "rows.csv");
    };
    const std::string here = rows_of(description, false);
    for (auto& subsystem : description.subsystems) {
      subsystem.isolate = {true, {}};
      subsystem.restart = {2, {}};
    }
    EXPECT_EQ(rows_of(description, true), here) << name;
  }
}

}  // namespace worker_events_test
}  // namespace entrain
