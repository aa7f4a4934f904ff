// Paced runs in simulated wall time: every rule about deadlines, without a single real sleep.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "entrain/report.hpp"
#include "entrain/run.hpp"
#include "entrain/system.hpp"
#include "run/duration_counts.hpp"
#include "run/thread_priority.hpp"
#include "support/facts.hpp"
#include "support/json_schema.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_models.hpp"

namespace entrain {
namespace pacer_test {

constexpr std::int64_t kMillisecond = 1'000'000;

/// Wall time that passes only when something sleeps or computes.
class SimulatedClock final : public WallClock {
 public:
  std::int64_t now() noexcept override { return now_; }
  void sleep_until(std::int64_t instant) noexcept override {
    ++sleeps;
    if (on_sleep) on_sleep();
    if (instant <= now_) return;
    now_ = instant + latency;
  }
  void compute(std::int64_t nanoseconds) { now_ += nanoseconds; }

  std::int64_t latency = 0;
  int sleeps = 0;
  std::function<void()> on_sleep = {};

 private:
  std::int64_t now_ = 123'456'789;  // the origin must not matter
};

constexpr std::string_view kSystem = R"(
[run]
stop = 1.0
step = 0.1
[subsystems.plant]
model = "plant"
)";

using LongSteps = std::map<int, std::int64_t>;  // milliseconds by the number of the step

/// Ten macro steps of 0.1 s; 20 ms are computed in each that is not named.
struct PacedRun {
  explicit PacedRun(LongSteps took = {}) : long_steps(std::move(took)) {}

  Extensions extensions() {
    return [this](std::string_view name) -> std::unique_ptr<Model> {
      if (name != "plant") return nullptr;
      return std::make_unique<test::StaticModel>(
          [](Time t, double) { return t; },
          [this](Time from) {
            const int step = static_cast<int>(std::lround(from / 0.1));
            began.push_back(clock.now());
            const auto longer = long_steps.find(step);
            clock.compute((longer == long_steps.end() ? 20 : longer->second) * kMillisecond);
          });
    };
  }
  RunOptions options(double factor, OverrunRule rule) {
    RunOptions options;
    options.real_time = RealTimeOptions{.factor = factor, .overrun = rule, .clock = &clock};
    return options;
  }
  RunSummary run(double factor = 1.0, OverrunRule rule = OverrunRule::CatchUp) {
    Simulation simulation(test::system_from(kSystem), options(factor, rule), extensions());
    simulation.observe(rows);
    return simulation.run();
  }
  /// Milliseconds between the beginning of the run and that of each step.
  std::vector<std::int64_t> beginnings() const {
    std::vector<std::int64_t> result;
    for (const auto instant : began) result.push_back((instant - began.front()) / kMillisecond);
    return result;
  }

  struct Rows : Observer {
    void communicated(const Sample& sample, const RunSummary&) override { times.push_back(sample.t); }
    std::vector<Time> times;
  };
  SimulatedClock clock;
  std::map<int, std::int64_t> long_steps;
  std::vector<std::int64_t> began;
  Rows rows;
};

TEST(Pacer, begins_every_step_when_the_wall_clock_has_reached_its_time) {
  PacedRun run;
  const auto summary = run.run();
  ASSERT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_EQ(run.beginnings(), (std::vector<std::int64_t>{0, 100, 200, 300, 400, 500, 600, 700, 800, 900}));
  ASSERT_TRUE(summary.pacing);
  EXPECT_EQ(summary.pacing->steps, 10U);
  EXPECT_EQ(summary.pacing->missed, 0U);
  EXPECT_NEAR(summary.pacing->least_slack, 0.08, 1e-9);
  EXPECT_NEAR(summary.pacing->computing.most, 0.02, 1e-9);
  EXPECT_FALSE(test::has_fact(summary.warnings, FactCode::DeadlinesMissed));
}

TEST(Pacer, does_not_drift_with_the_latency_of_wake_ups) {
  PacedRun run;
  run.clock.latency = 3 * kMillisecond;
  const auto summary = run.run();
  EXPECT_EQ(run.beginnings(), (std::vector<std::int64_t>{0, 103, 203, 303, 403, 503, 603, 703, 803, 903}));
  EXPECT_NEAR(summary.pacing->latency.most, 0.003, 1e-9);
  EXPECT_NEAR(summary.pacing->latency.median, 0.003, 0.05 * 0.003);  // classes of 1/16 octave
  EXPECT_EQ(summary.pacing->missed, 0U);
}

TEST(Pacer, with_a_factor_divides_the_periods) {
  PacedRun run;
  const auto summary = run.run(4.0);
  EXPECT_EQ(run.beginnings(), (std::vector<std::int64_t>{0, 25, 50, 75, 100, 125, 150, 175, 200, 225}));
  EXPECT_EQ(summary.pacing->missed, 0U);
  EXPECT_EQ(PacedRun().run(10.0).pacing->missed, 10U);  // 20 ms of computing in 10 ms
}

TEST(Pacer, catches_up_after_an_overrun_with_deadlines_that_stay) {
  PacedRun run(LongSteps{{3, 250}});
  const auto summary = run.run(1.0, OverrunRule::CatchUp);
  // Step 3 ends at 550 ms in place of 400, step 4 at 570 in place of 500, step 5 at 590 in time.
  EXPECT_EQ(run.beginnings(), (std::vector<std::int64_t>{0, 100, 200, 300, 550, 570, 600, 700, 800, 900}));
  EXPECT_EQ(summary.pacing->missed, 2U);
  EXPECT_NEAR(summary.pacing->worst_overrun, 0.15, 1e-9);
  EXPECT_NEAR(summary.pacing->worst_time, 0.4, 1e-12);
  EXPECT_NEAR(summary.pacing->least_slack, -0.15, 1e-9);
  EXPECT_EQ(summary.pacing->skipped_periods, 0U);
  EXPECT_EQ(summary.pacing->behind, 0.0);
  EXPECT_EQ(test::number_of(summary.warnings, FactCode::DeadlinesMissed, "missed"), 2.0);
}

TEST(Pacer, skips_whole_periods_after_an_overrun) {
  PacedRun run(LongSteps{{3, 250}});
  const auto summary = run.run(1.0, OverrunRule::Skip);
  // 150 ms late are two periods: step 4 begins with the period at 600 ms.
  EXPECT_EQ(run.beginnings(), (std::vector<std::int64_t>{0, 100, 200, 300, 600, 700, 800, 900, 1000, 1100}));
  EXPECT_EQ(summary.pacing->missed, 1U);
  EXPECT_EQ(summary.pacing->skipped_periods, 2U);
  EXPECT_NEAR(summary.pacing->behind, 0.2, 1e-9);
  EXPECT_EQ(test::number_of(summary.warnings, FactCode::DeadlinesMissed, "skipped"), 2.0);
}

TEST(Pacer, stops_at_the_first_overrun_and_keeps_the_rows) {
  PacedRun run(LongSteps{{3, 250}});
  const auto summary = run.run(1.0, OverrunRule::Stop);
  ASSERT_EQ(summary.termination, Termination::Failed);
  EXPECT_EQ(summary.failure->fact().code, FactCode::OverrunStopped);
  EXPECT_NEAR(summary.failure->fact().number("late").value_or(0.0), 0.15, 1e-9);
  EXPECT_NEAR(summary.reached, 0.4, 1e-12);
  EXPECT_EQ(run.rows.times.size(), 5U);  // the start and four steps
  EXPECT_EQ(summary.pacing->missed, 1U);
}

TEST(Pacer, that_ends_exactly_on_the_deadline_has_kept_it) {
  PacedRun run(LongSteps{{2, 100}});
  EXPECT_EQ(run.run(1.0, OverrunRule::Stop).termination, Termination::Completed);
}

TEST(Pacer, is_interrupted_while_it_waits) {
  PacedRun run;
  std::atomic<bool> interrupt = false;
  run.clock.on_sleep = [&] { interrupt = run.clock.sleeps >= 30; };  // of 50 ms at the most: after 1.5 s
  auto options = run.options(0.1, OverrunRule::CatchUp);             // a step takes 1 s
  options.interrupt = &interrupt;
  Simulation simulation(test::system_from(kSystem), options, run.extensions());
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Interrupted);
  EXPECT_NEAR(summary.reached, 0.2, 1e-12);
}

TEST(Pacer, begins_anew_where_a_run_goes_back) {
  PacedRun run;
  Simulation simulation(test::system_from(kSystem), run.options(1.0, OverrunRule::Stop), run.extensions());
  simulation.run_until(0.2);
  const auto before = simulation.checkpoint();
  simulation.run_until(0.8);
  simulation.restore(*before);
  run.clock.compute(60'000 * kMillisecond);  // whatever was done meanwhile
  simulation.restore(*before);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
}

TEST(Pacer, counts_every_step_in_its_histogram_and_its_course) {
  PacedRun run(LongSteps{{3, 250}, {7, 60}});
  const auto pacing = *run.run().pacing;
  EXPECT_EQ(std::accumulate(pacing.histogram_counts.begin(), pacing.histogram_counts.end(), std::uint64_t{0}), 10U);
  EXPECT_EQ(pacing.histogram_limits.size(), pacing.histogram_counts.size());
  EXPECT_TRUE(std::is_sorted(pacing.histogram_limits.begin(), pacing.histogram_limits.end()));
  EXPECT_GT(pacing.histogram_limits.back(), 0.25);
  ASSERT_EQ(pacing.track.size(), 10U);
  EXPECT_NEAR(pacing.track.high(3, 1), 0.25, 1e-9);
  EXPECT_NEAR(pacing.track.low(3, 2), -0.15, 1e-9);
}

TEST(DurationCounts, give_quantiles_to_a_sixteenth_of_an_octave) {
  running::DurationCounts counts;
  for (int i = 1; i <= 1000; ++i) counts.add(i * 1000);
  EXPECT_NEAR(counts.quantile(0.5), 500e-6, 0.07 * 500e-6);
  EXPECT_NEAR(counts.quantile(0.99), 990e-6, 0.07 * 990e-6);
  EXPECT_EQ(counts.quantile(1.0), 1000e-6);
  EXPECT_EQ(running::DurationCounts().quantile(0.5), 0.0);
  running::DurationCounts extreme;
  extreme.add(-5);
  extreme.add(std::int64_t{1} << 62);
  EXPECT_EQ(extreme.total(), 2U);
}

TEST(PacedSystem, reads_pace_and_rule_from_the_file_and_writes_them_back) {
  const std::string text =
      "[run]\nstop = 0.02\nstep = 0.001\nreal_time = 0.5\noverrun = \"skip\"\n"
      "[subsystems.s]\nmodel = \"chain.mass\"\n";
  const auto description = test::system_from(text);
  EXPECT_EQ(description.real_time->value, 0.5);
  EXPECT_EQ(description.overrun->value, OverrunRule::Skip);
  EXPECT_NE(system_text(description).find("real_time = 0.5\noverrun = \"skip\""), std::string::npos);
  const auto began = std::chrono::steady_clock::now();
  Simulation simulation(description);
  const auto& summary = simulation.run();
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  ASSERT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_EQ(summary.pacing->factor, 0.5);
  EXPECT_GE(took, 0.038);  // the last step begins after 19 periods of 2 ms
}

TEST(PacedSystem, with_wrong_values_is_refused) {
  const auto problems = [](const std::string& line) {
    std::vector<Problem> found;
    description::parse_system("[run]\nstop = 1.0\n" + line + "\n[subsystems.s]\nmodel = \"chain.mass\"\n", "test.toml",
                              found);
    return found;
  };
  for (const char* line : {"real_time = 0", "real_time = -1.0", "real_time = nan", "real_time = inf",
                           "real_time = \"fast\"", "overrun = \"later\"", "overrun = 1"}) {
    EXPECT_EQ(problems(line).size(), 1U) << line;
  }
  EXPECT_TRUE(problems("real_time = 2\noverrun = \"stop\"").empty());
}

TEST(PacedSystem, is_graded_unknown_and_described_in_run_json) {
  const test::TemporaryFolder folder;
  auto description = test::changed(test::example("lotka_volterra"), {.step = 0.01, .stop = 0.2});
  description.real_time = {10.0, {}};
  RunDirectoryOptions options;
  options.folder = folder / "out";
  const auto result = run(description, options);
  ASSERT_EQ(result.summary.termination, Termination::Completed) << result.summary.message;
  EXPECT_EQ(result.verdict.grade, Grade::Unknown);
  EXPECT_TRUE(test::has_fact(result.verdict.reasons, FactCode::EstimateRealTime));
  const auto json = nlohmann::json::parse(test::text_of(folder / "out/run.json"));
  EXPECT_EQ(json["pacing"]["steps"], 20);
  EXPECT_EQ(json["pacing"]["factor"], 10.0);
  const test::JsonSchema schema(
      nlohmann::json::parse(test::text_of(test::examples_folder() + "/../docs/run.schema.json")));
  EXPECT_EQ(schema.faults(json), std::vector<std::string>{});
  const auto steps = nlohmann::json::parse(test::text_of(folder / "out/steps.json"));
  const auto& channels = steps["channels"];
  EXPECT_TRUE(
      std::any_of(channels.begin(), channels.end(), [](const auto& of) { return of["name"] == "pacing:slack"; }));
}

TEST(PacedSystem, that_is_too_slow_warns_before_the_run_and_names_the_subsystem) {
  const test::TemporaryFolder folder;
  auto description = test::system_from(R"(
[run]
stop = 0.04
step = 0.001
real_time = 1.0
[subsystems.quick]
model = "quick"
[subsystems.slow]
model = "slow"
)");
  const Extensions extensions = [](std::string_view name) -> std::unique_ptr<Model> {
    if (name == "quick") return std::make_unique<test::StaticModel>([](Time t, double) { return t; });
    if (name != "slow") return nullptr;
    return std::make_unique<test::StaticModel>([](Time t, double) { return t; },
                                               [](Time) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
  };
  RunDirectoryOptions options;
  options.folder = folder / "out";
  std::vector<Fact> before;
  bool begun = false;
  options.progress.warned = [&](const Fact& fact) {
    EXPECT_FALSE(begun);
    before.push_back(fact);
  };
  options.progress.begun = [&](const RunResult&) { begun = true; };
  const auto result = run(description, options, extensions);
  const Fact* warning = test::find_fact(before, FactCode::PaceNotKept, "slow");
  ASSERT_NE(warning, nullptr);
  EXPECT_GE(warning->number("needs").value_or(0.0), 0.002);
  EXPECT_NEAR(warning->number("allows").value_or(0.0), 0.001, 1e-9);
  EXPECT_TRUE(test::has_fact(result.summary.warnings, FactCode::PaceNotKept, "slow"));
  EXPECT_TRUE(test::has_fact(result.summary.warnings, FactCode::DeadlinesMissed));
}

TEST(PacedSystem, with_side_effects_is_not_rehearsed) {
  const test::TemporaryFolder folder;
  auto description = test::changed(test::example("lotka_volterra"), {.step = 0.01, .stop = 0.1});
  description.real_time = {10.0, {}};
  description.subsystems[0].side_effects = {true, {}};
  RunDirectoryOptions options;
  options.folder = folder / "out";
  const auto result = run(description, options);
  EXPECT_TRUE(test::has_fact(result.summary.notes, FactCode::PaceNotMeasured));
}

TEST(PacedSystem, writes_no_checkpoints_while_it_goes_on) {
  const test::TemporaryFolder folder;
  auto description = test::changed(test::example("lotka_volterra"), {.step = 0.01, .stop = 0.1});
  description.real_time = {10.0, {}};
  RunDirectoryOptions options;
  options.folder = folder / "out";
  options.checkpoint.file = folder / "state";
  options.checkpoint.every = 0.05;
  try {
    run(description, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fact().code, FactCode::CheckpointPaced);
  }
}

TEST(Priority, is_given_back_and_reports_what_was_granted) {
  cpu_set_t before, after;
  sched_getaffinity(0, sizeof(before), &before);
  const int policy = sched_getscheduler(0);
  {
    const running::ThreadPriority priority;
    const auto& granted = priority.granted();
    EXPECT_EQ(granted.code, FactCode::PriorityGot);
    const bool scheduled = granted.text("scheduling").starts_with("SCHED_FIFO");
    EXPECT_EQ(scheduled, (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_FIFO);
    cpu_set_t now;
    sched_getaffinity(0, sizeof(now), &now);
    const bool pinned = granted.text("core").starts_with("core ");
    EXPECT_TRUE(!pinned || CPU_COUNT(&now) == 1);
  }
  sched_getaffinity(0, sizeof(after), &after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  EXPECT_EQ(sched_getscheduler(0), policy);
}

}  // namespace pacer_test
}  // namespace entrain
