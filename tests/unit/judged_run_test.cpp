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
#include "report/verdict.hpp"
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

/// Of a run with one connection whose residual is 1e-6, but `high` on every n-th step.
Verdict verdict_of_steps(int steps, int nth, double high) {
  RunSummary summary;
  summary.connections.emplace_back();
  summary.connections[0].range = 2.0;
  summary.max_coupling_residual = high;
  recording::StepHistory history;
  history.begin({}, summary);
  for (int i = 1; i <= steps; ++i) {
    const double difference[] = {2.0 * (i % nth == 0 ? high : 1e-6)};
    history.communicated({static_cast<double>(i), {}, {}, {}, difference}, summary);
  }
  const Json run{{"termination", "completed"},
                 {"max_coupling_residual", high},
                 {"connections", {{{"output", "a.y"}, {"input", "b.u"}, {"max_residual", high}}}}};
  return reporting::verdict_of(run, Json::parse(reporting::steps_json(history, summary)), {.samples = 100});
}

TEST(Verdict, of_rare_jumps_is_the_same_however_long_the_run_is) {
  for (const int steps : {1'000, 100'000}) {
    // Every point of the long run's steps.json has such a step.
    EXPECT_EQ(verdict_of_steps(steps, 25, 0.5).level, Verdict::Level::Caution) << steps;
    EXPECT_EQ(verdict_of_steps(steps, 10, 0.5).level, Verdict::Level::Bad) << steps;
  }
}

/// Of a run in which the brake jumps once, at t = 40 s, and the shaft has an error of `shaft` of its range at every
/// step.
Verdict verdict_of_brake_and_shaft(double shaft, const Json& correction = nullptr,
                                   const Json& step_tolerances = Json::array()) {
  RunSummary summary;
  summary.connections.resize(2);
  summary.connections[0].name = "controller.brake -> vehicle.brake";
  summary.connections[1].name = "gearbox.torque -> vehicle.torque";
  for (auto& connection : summary.connections) connection.range = 1.0;
  summary.max_coupling_residual = 0.99;
  recording::StepHistory history;
  history.begin({}, summary);
  for (int i = 1; i <= 100; ++i) {
    const double differences[] = {i == 40 ? 0.99 : 0.0, shaft};
    history.communicated({static_cast<double>(i), {}, {}, {}, differences}, summary);
  }
  const Json run{{"termination", "completed"},
                 {"max_coupling_residual", 0.99},
                 {"worst_connection", summary.connections[0].name},
                 {"connections", {{{"max_residual", 0.99}}, {{"max_residual", shaft}}}},
                 {"learned_correction", correction},
                 {"step_tolerances", step_tolerances}};
  return reporting::verdict_of(run, Json::parse(reporting::steps_json(history, summary)), {.samples = 100});
}

TEST(Verdict, names_the_connection_that_decides_it_and_the_largest_jump_apart) {
  const auto wrong = verdict_of_brake_and_shaft(0.05);
  EXPECT_EQ(wrong.level, Verdict::Level::Bad);
  ASSERT_GE(wrong.reasons.size(), 2U);
  // The size is known to the octave.
  EXPECT_EQ(wrong.reasons[0].code, FactCode::ResidualLarge);
  EXPECT_EQ(wrong.reasons[0].text("at"), "gearbox.torque -> vehicle.torque");
  EXPECT_NEAR(*wrong.reasons[0].number("share"), 5.0, 1e-9);
  EXPECT_LT(*wrong.reasons[0].number("residual"), 0.2);
  EXPECT_EQ(wrong.reasons[0].text("todo"), "take a smaller step or a better method");
  EXPECT_EQ(wrong.reasons[1].code, FactCode::ResidualLargestStep);
  EXPECT_EQ(wrong.reasons[1].number("residual"), 0.99);
  EXPECT_EQ(wrong.reasons[1].text("at"), "controller.brake -> vehicle.brake");
  EXPECT_EQ(wrong.reasons[1].text("time"), "40 s");
  const auto rough = verdict_of_brake_and_shaft(0.002);
  EXPECT_EQ(rough.level, Verdict::Level::Caution);
  EXPECT_EQ(rough.reasons[0].text("at"), "gearbox.torque -> vehicle.torque");
  EXPECT_EQ(rough.reasons[0].text("todo"), "repeat with half the step to see what that does");
}

TEST(Verdict, of_a_method_that_chooses_its_steps_names_its_tolerances) {
  const auto remedy = [](double shaft, const Json& step_tolerances) {
    return std::string(verdict_of_brake_and_shaft(shaft, nullptr, step_tolerances).reasons[0].text("todo"));
  };
  // Of each, as run.json has them.
  const auto in_force = [](const Change& change) {
    const Simulation simulation(changed(example("mechanical"), change));
    return Json::parse(summary_json(simulation.summary())).at("step_tolerances");
  };
  expect_text(remedy(0.002, in_force({.method = "f3ornits"})),
              "repeat with a tenth of relative_tolerance and absolute_tolerance");
  expect_text(remedy(0.05, in_force({.method = "f3ornits"})),
              "take a smaller relative_tolerance and absolute_tolerance or a better");
  expect_text(remedy(0.05, in_force({.method = "missiles", .options = {"adaptive=true"}})),
              "take a smaller relative_tolerance or a better");
  expect_text(remedy(0.05, in_force({.method = "jacobi", .options = {"adaptive=true"}})),
              "take a smaller relative_tolerance and absolute_tolerance or a better");
  expect_text(remedy(0.05, in_force({.method = "jacobi", .options = {"step_control=energy"}})),
              "take a smaller energy_relative_tolerance and energy_absolute_tolerance or a better");
  expect_text(remedy(0.05, in_force({.method = "missiles"})), "take a smaller step or a better");
  expect_text(remedy(0.05, in_force({.method = "monolithic"})), "take a smaller step or a better");
}

TEST(Verdict, of_a_learned_run_is_that_of_what_learning_left_and_of_what_is_held) {
  const auto learned = [](const char* input, double error) {
    return verdict_of_brake_and_shaft(0.05, {{"inputs", {input}}, {"error", error}});
  };
  const auto held = learned("vehicle.brake", 1e-9);
  EXPECT_EQ(held.level, Verdict::Level::Caution) << "held inputs are exact where they are taken";
  EXPECT_EQ(held.reasons[0].code, FactCode::HeldInputsChange);
  EXPECT_EQ(held.reasons[0].text("at"), "gearbox.torque -> vehicle.torque");
  EXPECT_EQ(number_of(held.reasons, FactCode::CorrectedInputs, "error", "vehicle.brake"), 1e-9);
  EXPECT_EQ(learned("vehicle.brake", 0.1).level, Verdict::Level::Bad) << "little was learned";
  EXPECT_EQ(learned("vehicle.torque", 1e-9).level, Verdict::Level::Bad) << "its input is not what was learned";
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

TEST(Verdict, of_a_killed_run_does_not_speak_of_its_residual) {
  const Json run{{"termination", "running"},
                 {"max_coupling_residual", 0.0},
                 {"connections", {{{"output", "a.y"}, {"input", "b.u"}, {"max_residual", 0.0}}}}};
  const auto verdict = reporting::verdict_of(run, {}, {.samples = 100});
  ASSERT_EQ(verdict.reasons.size(), 1U) << verdict.reasons.back();
  EXPECT_EQ(verdict.reasons[0].code, FactCode::RunKilled);
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
