// Clocks, event phases, buses, scheduled execution and values of every type in processes of their own: the same rows
// and frames, to the last digit, as in this process.
#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <optional>
#include <string>

#include "entrain/fact_codes.hpp"
#include "entrain/recording.hpp"
#include "entrain/run.hpp"
#include "support/event_scenarios.hpp"
#include "support/facts.hpp"
#include "support/processes.hpp"

namespace entrain {
namespace worker_events_test {

using test::TemporaryFolder;

class WorkerEvents : public testing::Test {
 protected:
  WorkerEvents() { test::write_event_parts(folder_); }

  SystemDescription system(const test::EventScenario& scenario) const {
    return test::event_system(folder_.path(), scenario);
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

class WorkerScenario : public WorkerEvents, public testing::WithParamInterface<test::EventScenario> {};

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

INSTANTIATE_TEST_SUITE_P(All, WorkerScenario, testing::ValuesIn(test::event_scenarios()), [](const auto& of) {
  std::string name = of.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

const test::EventScenario& scenario(const std::string& name) {
  const auto& all = test::event_scenarios();
  return *std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
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
