// What a report may conclude of a run: of a long one, of one that was killed, and of columns that are no numbers.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "entrain/report.hpp"
#include "report/packed_signals.hpp"
#include "report/page.hpp"
#include "report/run_page.hpp"
#include "report/steps_json.hpp"
#include "support/facts.hpp"
#include "support/scripted_fmus.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_models.hpp"

namespace entrain::test {
namespace judged_run_test {

using Json = nlohmann::ordered_json;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(OctaveCounts, yield_a_bound_for_a_part_of_the_sizes) {
  recording::OctaveCounts counts(3);
  for (int i = 0; i < 1000; ++i) {
    const double sizes[] = {i < 900 ? 1.5e-7 : 3e4, i == 0 ? kInfinity : 0.0, kNaN};
    counts.add(sizes);
  }
  // 1.5e-7 lies between 2^-23 and 2^-22, 3e4 between 2^14 and 2^15.
  EXPECT_DOUBLE_EQ(counts.quantile(0, 0.9), 0x1p-22);
  EXPECT_DOUBLE_EQ(counts.quantile(0, 0.45), std::exp2(-22.5));
  EXPECT_DOUBLE_EQ(counts.quantile(0, 1.0), 0x1p15);
  EXPECT_EQ(counts.quantile(1, 0.999), 0.0);
  EXPECT_EQ(counts.quantile(1, 1.0), kInfinity);
  EXPECT_TRUE(std::isnan(counts.quantile(2, 0.5))) << "nothing was known";
}

TEST(Summary, of_seconds_in_subsystems_is_no_more_than_there_were) {
  // The steps that are timed are those in which another program has the processor: 1 in 64.
  constexpr double kStep = 0.125;
  const ModelFactory models = [](std::string_view) {
    return std::make_unique<StaticModel>([](Time t, double) { return t; },
                                         [](Time from) {
                                           if (std::fmod(from / kStep, 64.0) == 0.0)
                                             std::this_thread::sleep_for(std::chrono::milliseconds(2));
                                         });
  };
  Simulation simulation(system_from("[run]\nstop = 40.0\nstep = 0.125\n"
                                    "[subsystems.a]\nmodel = \"m\"\n[subsystems.b]\nmodel = \"m\"\n"),
                        {}, models);
  const auto summary = simulation.run();
  ASSERT_EQ(summary.termination, Termination::Completed) << summary.message;
  const double inside = summary.subsystems[0].seconds + summary.subsystems[1].seconds;
  EXPECT_GT(inside, 0.5 * summary.wall_seconds);
  EXPECT_LE(inside, summary.wall_seconds * (1.0 + 1e-12));
}

/// Keeps the summary that a killed run leaves.
struct FirstSummary : Observer {
  void begin(std::span<const Signal>, const RunSummary& summary) override { first = summary; }
  void communicated(const Sample&, const RunSummary&) override {}
  RunSummary first;
};

TEST(Summary, before_the_first_step_has_no_residual) {
  FirstSummary observer;
  Simulation simulation(changed(example("lotka_volterra"), {.step = 0.01, .stop = 0.1}));
  simulation.observe(observer);
  const auto last = simulation.run();
  EXPECT_TRUE(std::isnan(observer.first.max_coupling_residual));
  ASSERT_EQ(observer.first.connections.size(), 2U);
  EXPECT_TRUE(std::isnan(observer.first.connections[0].max_residual));
  EXPECT_GT(last.max_coupling_residual, 0.0);
}

TEST(RunPage, counts_no_text_as_a_number_that_is_not_finite) {
  const TemporaryFolder folder;
  write_text(folder / "run.json", R"({"subsystems": {}, "termination": "completed"})");
  write_text(folder / "system.resolved.toml", "");
  write_text(folder / "results.csv", "time,a.s,a.x\n0,\"one\",1\n1,\"two\",2\n");
  EXPECT_TRUE(read_results(folder / "results.csv").find("a.s")->text);
  EXPECT_FALSE(read_results(folder / "results.csv").find("a.x")->text);
  if (reporting::page_template().empty()) return;
  EXPECT_EQ(reporting::run_page(folder.path()).find("numbers-not-finite"), std::string::npos);
  write_text(folder / "results.csv", "time,a.s,a.x\n0,\"one\",1\n1,\"two\",NaN\n");
  EXPECT_NE(reporting::run_page(folder.path()).find("numbers-not-finite"), std::string::npos);
}

TEST(PackedSignals, of_a_variable_are_drawn_all_or_none) {
  Results results;
  results.axes.push_back({0.0, 1.0});
  std::vector<reporting::DrawnSignal> drawn;
  constexpr std::size_t kCurves = 7;  // of each variable
  for (std::size_t i = 0; i < 40 * kCurves; ++i) {
    auto& column = results.columns.emplace_back();
    column.name = "a.x" + std::to_string(i / kCurves);
    column.values = {0.0, 1.0};
  }
  for (std::size_t i = 0; i < results.columns.size(); ++i) drawn.push_back({&results, i, i % kCurves});
  const auto packed = reporting::packed_signals(drawn, 1'300'000);
  EXPECT_EQ(packed["signals"].size() % kCurves, 0U);
  EXPECT_GT(packed["signals"].size(), 100U);
  EXPECT_EQ(packed["signals"].size() + packed["left_out"].get<std::size_t>(), drawn.size());
}

}  // namespace judged_run_test
}  // namespace entrain::test
