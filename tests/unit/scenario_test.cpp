// Scenarios: what happens to connections, inputs and parameters during a run (docs/scenarios.md).
#include "coupling/scenario.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>

#include "entrain/recording.hpp"
#include "entrain/report.hpp"
#include "entrain/system.hpp"
#include "support/estimated_run.hpp"
#include "support/facts.hpp"
#include "support/ode_model.hpp"
#include "support/recorded.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace scenario_test {

using test::Change;

/// "one": y = 1. "time": y = t. "lag": y' = u - y. "sum": y' = u - y with an output y + u.
std::unique_ptr<Model> make_model(std::string_view name) {
  const auto state = [](double x, double) { return x; };
  const auto lag = [](double x, double u) { return u - x; };
  if (name == "one")
    return std::make_unique<test::OdeModel>(
        test::OdeModel::Equation{[](double, double) { return 0.0; }, state, 1.0, false});
  if (name == "time")
    return std::make_unique<test::OdeModel>(
        test::OdeModel::Equation{[](double, double) { return 1.0; }, state, 0.0, false});
  if (name == "lag") return std::make_unique<test::OdeModel>(test::OdeModel::Equation{lag, state, 0.0, false});
  if (name == "direct")
    return std::make_unique<test::OdeModel>(
        test::OdeModel::Equation{lag, [](double x, double u) { return x + u; }, 0.0, true});
  return nullptr;
}

SystemDescription lag_behind(const std::string& source, const std::string& scenario) {
  return test::system_from("scenario = [" + scenario + R"(]
[run]
stop = 2.0
step = 0.1
[subsystems.source]
model = ")" + source + R"("
[subsystems.lag]
model = "lag"
[connections]
"source.y" = "lag.u"
)");
}

/// y' = u - y over a time with a constant u.
double held(double y, double u, Duration size) {
  return u + (y - u) * std::exp(-size);
}

/// The same with u = from + slope t.
double ramped(double y, double from, double slope, Duration size) {
  return from + slope * (size - 1.0) + (y - from + slope) * std::exp(-size);
}

double last_of_run(const SystemDescription& description, const std::string& signal = "lag.y") {
  Simulation simulation(description, {}, make_model);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  for (const Fact& warning : simulation.summary().warnings) EXPECT_EQ(warning.code, FactCode::NothingConnected);
  return simulation.value(signal);
}

const std::vector<Change>& every_method() {
  static const std::vector<Change> kAll{{"jacobi"},
                                        {"jacobi", 0, 0, {"degree=2"}},
                                        {"jacobi", 0, 0, {"adaptive=true"}},
                                        {"gauss-seidel"},
                                        {"gauss-seidel", 0, 0, {"degree=1"}},
                                        {"nepce"},
                                        {"ifosmondi"},
                                        {"ifosmondi", 0, 0, {"adaptive=true"}},
                                        {"missiles"},
                                        {"missiles", 0, 0, {"adaptive=true"}},
                                        {"f3ornits"},
                                        {"waveform"},
                                        {"monolithic"}};
  return kAll;
}

class ScenarioOf : public testing::TestWithParam<Change> {};

// Integrators inside have a relative tolerance of 1e-10.
constexpr double kIntegration = 1e-8;

TEST_P(ScenarioOf, constant_signals_is_exact_at_times_off_the_grid) {
  const auto system = lag_behind("one", R"(
{ at = 0.35, set = "lag.u", value = 3 },
{ at = 0.72, release = "lag.u" },
{ at = 0.9, bias = "source.y", value = 0.5 },
{ at = 1.13, scale = "source.y -> lag.u", value = 2.0 },
{ at = 1.5, drop = "lag.u" },
{ at = 1.77, release = "lag.u" })");
  double y = held(0.0, 1.0, 0.35);
  y = held(y, 3.0, 0.72 - 0.35);
  y = held(y, 1.0, 0.9 - 0.72);
  y = held(y, 1.5, 1.13 - 0.9);
  y = held(y, 2.5, 1.5 - 1.13);
  y = held(y, 0.5, 1.77 - 1.5);  // the lost signal is 0, scaled and biased
  y = held(y, 1.0, 2.0 - 1.77);
  EXPECT_NEAR(last_of_run(test::changed(system, GetParam())), y, kIntegration);
}

TEST_P(ScenarioOf, an_input_that_nothing_feeds_is_exact) {
  auto system =
      lag_behind("one", R"({ at = 0.35, set = "lag.u", value = 3.0 }, { at = 1.25, scale = "lag.u", value = -1 })");
  system.connections.clear();
  system.subsystems[1].start["u"] = {2.0, {}};
  const double y = held(held(held(0.0, 2.0, 0.35), 3.0, 0.9), -3.0, 0.75);
  EXPECT_NEAR(last_of_run(test::changed(system, GetParam())), y, kIntegration);
}

TEST_P(ScenarioOf, a_checkpoint_goes_on_to_the_same_bits) {
  const auto system = test::changed(lag_behind("time", R"(
{ at = 0.35, ramp = "lag.u", value = 4.0, over = 1.2 },
{ at = 0.42, noise = "lag.u", value = 0.3, interval = 0.17, seed = 3 },
{ when = "lag.y > 0.7", scale = "lag.u", value = 0.5 },
{ at = 1.65, release = "lag.u" })"),
                                    GetParam());
  const test::TemporaryFolder folder;
  const auto whole = test::recorded(system, make_model);
  for (const Time cut : {0.3, 0.5, 1.2}) {
    Simulation saving(system, {}, make_model);
    saving.run_until(cut);
    saving.save(folder / "cut.checkpoint");
    MemoryRecorder rest;
    Simulation resumed(system, {}, make_model);
    resumed.observe(rest);
    resumed.resume(folder / "cut.checkpoint");
    ASSERT_EQ(resumed.run().termination, Termination::Completed) << resumed.summary().message;
    const std::size_t count = rest.times.size();
    ASSERT_GT(count, 2U);
    for (std::size_t c = 0; c < whole.columns.size(); ++c) {
      const auto expected = std::span(whole.columns[c]).last(count);
      EXPECT_EQ(std::memcmp(rest.columns[c].data(), expected.data(), expected.size_bytes()), 0)
          << whole.names[c] << cut;
    }
    EXPECT_EQ(resumed.summary().scenario.size(), 4U);
  }
  Simulation back(system, {}, make_model);
  back.run_until(0.5);
  const auto place = back.checkpoint();
  back.run_until(1.8);
  back.restore(*place);
  back.run();
  EXPECT_EQ(back.value("lag.y"), whole.column("lag.y").back());
  EXPECT_EQ(back.summary().scenario.size(), 4U);
}

TEST_P(ScenarioOf, that_never_happens_leaves_every_bit) {
  const auto plain = test::changed(lag_behind("time", ""), GetParam());
  const auto idle =
      test::changed(lag_behind("time", R"({ when = "lag.y > 1e9", set = "lag.u", value = 0.0 })"), GetParam());
  const auto without = test::recorded(plain, make_model);
  const auto with = test::recorded(idle, make_model);
  EXPECT_EQ(without.times, with.times);
  // Extrapolation on a grid counts steps, with a scenario seconds: the same polynomials with other roundings.
  const auto& [method, options] = std::tie(GetParam().method, GetParam().options);
  const bool on_a_grid = method == "jacobi" || method == "gauss-seidel" || method == "nepce";
  const bool extrapolates = on_a_grid && (options.empty() || options[0].starts_with("degree"));
  for (std::size_t c = 0; c < without.columns.size() && extrapolates; ++c) {
    for (std::size_t i = 0; i < without.times.size(); ++i)
      EXPECT_NEAR(without.columns[c][i], with.columns[c][i], 1e-12) << without.names[c];
  }
  EXPECT_TRUE(extrapolates || without.columns == with.columns);
}

INSTANTIATE_TEST_SUITE_P(Methods, ScenarioOf, testing::ValuesIn(every_method()));

class RampOf : public testing::TestWithParam<Change> {};

TEST_P(RampOf, methods_that_pass_polynomials_is_a_line) {
  const auto system =
      lag_behind("one", R"({ at = 0.35, ramp = "lag.u", value = 4.0, over = 0.8 }, { at = 1.7, release = "lag.u" })");
  double y = held(0.0, 1.0, 0.35);
  y = ramped(y, 1.0, 3.0 / 0.8, 0.8);
  y = held(y, 4.0, 1.7 - 1.15);
  y = held(y, 1.0, 0.3);
  EXPECT_NEAR(last_of_run(test::changed(system, GetParam())), y, kIntegration);
}

TEST_P(RampOf, a_signal_that_moves_begins_where_it_is) {
  const auto system =
      lag_behind("time", R"({ at = 0.5, ramp = "lag.u", value = 0.0, over = 0.5 }, { at = 1.25, release = "lag.u" })");
  double y = ramped(0.0, 0.0, 1.0, 0.5);
  y = ramped(y, 0.5, -1.0, 0.5);
  y = held(y, 0.0, 0.25);
  y = ramped(y, 1.25, 1.0, 0.75);
  // Methods that find the course of an output from samples miss its slope in the steps behind a jump.
  const bool from_samples = GetParam().method == "f3ornits";
  EXPECT_NEAR(last_of_run(test::changed(system, GetParam())), y, from_samples ? 1e-4 : kIntegration);
}

TEST_P(RampOf, freeze_keeps_the_value_of_its_time) {
  const auto system = lag_behind("time", R"({ at = 0.55, freeze = "source.y" }, { at = 1.21, release = "source.y" })");
  double y = ramped(0.0, 0.0, 1.0, 0.55);
  y = held(y, 0.55, 1.21 - 0.55);
  y = ramped(y, 1.21, 1.0, 2.0 - 1.21);
  const bool from_samples = GetParam().method == "f3ornits";
  EXPECT_NEAR(last_of_run(test::changed(system, GetParam())), y, from_samples ? 1e-4 : kIntegration);
}

INSTANTIATE_TEST_SUITE_P(Methods, RampOf,
                         testing::Values(Change{"ifosmondi"}, Change{"missiles"}, Change{"f3ornits"},
                                         Change{"waveform"}, Change{"monolithic"}));

/// Where inputs are held, each macro step begins with the value that the line has then.
TEST(Scenario, ramp_with_held_inputs_is_exact_at_communication_times) {
  const auto system = lag_behind("one", R"({ at = 0.35, ramp = "lag.u", value = 4.0, over = 0.8 })");
  const auto run = test::recorded(system, make_model);
  const auto& times = run.times;
  double y = 0.0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    const double share = std::clamp((times[i - 1] - 0.35) / 0.8, 0.0, 1.0);
    y = held(y, 1.0 + 3.0 * share, times[i] - times[i - 1]);
    EXPECT_NEAR(run.column("lag.y")[i], y, kIntegration) << times[i];
  }
  EXPECT_EQ(std::count(times.begin(), times.end(), 0.35), 2);  // from the left and from the right
  EXPECT_EQ(std::count(times.begin(), times.end(), 0.35 + 0.8), 2);
}

TEST(Scenario, output_means_all_of_its_connections_and_an_arrow_one) {
  const std::string text = R"(
[run]
stop = 1.0
step = 0.1
[subsystems.source]
model = "one"
[subsystems.left]
model = "lag"
[subsystems.right]
model = "lag"
[connections]
"source.y" = ["left.u", { to = "right.u", factor = 2.0, offset = 1.0 }]
)";
  const auto both = test::system_from(R"(scenario = [{ at = 0.5, scale = "source.y", value = 0.0 }])" + text);
  EXPECT_NEAR(last_of_run(both, "left.y"), held(held(0.0, 1.0, 0.5), 0.0, 0.5), kIntegration);
  EXPECT_NEAR(last_of_run(both, "right.y"), held(held(0.0, 3.0, 0.5), 0.0, 0.5), kIntegration);
  const auto one = test::system_from(R"(scenario = [{ at = 0.5, bias = "source.y -> right.u", value = 1.0 }])" + text);
  EXPECT_NEAR(last_of_run(one, "left.y"), held(0.0, 1.0, 1.0), kIntegration);
  EXPECT_NEAR(last_of_run(one, "right.y"), held(held(0.0, 3.0, 0.5), 4.0, 0.5), kIntegration);
}

TEST(Scenario, outputs_with_feedthrough_follow_at_once) {
  auto system = lag_behind("one", R"({ at = 0.5, set = "lag.u", value = 5.0 })");
  system.subsystems[1].model = "direct";
  const auto run = test::recorded(system, make_model);
  const auto at = static_cast<std::size_t>(std::find(run.times.begin(), run.times.end(), 0.5) - run.times.begin());
  const double state = held(0.0, 1.0, 0.5);
  EXPECT_NEAR(run.column("lag.y")[at], state + 1.0, kIntegration);
  ASSERT_EQ(run.times[at + 1], 0.5);
  EXPECT_NEAR(run.column("lag.y")[at + 1], state + 5.0, kIntegration);
}

TEST(Scenario, condition_acts_at_the_end_of_its_macro_step_and_is_located) {
  const auto system = lag_behind("one", R"({ when = "lag.y > 0.5", set = "lag.u", value = 0 })");
  Simulation simulation(system, {}, make_model);
  const RunSummary& summary = simulation.run();
  ASSERT_EQ(summary.scenario.size(), 1U);
  EXPECT_NEAR(summary.scenario[0].time, 0.7, 1e-12);
  // By the chord over one step of y = 1 - exp(-t), whose error is at most h^2 / 8 max|y''| / y'.
  EXPECT_NEAR(*summary.scenario[0].crossed, std::log(2.0), 0.1 * 0.1 / 8.0 * 1.1);
  EXPECT_NEAR(simulation.value("lag.y"), held(held(0.0, 1.0, 0.7), 0.0, 1.3), kIntegration);
}

TEST(Scenario, condition_counts_from_its_time_on) {
  const auto system = lag_behind("one", R"({ at = 1.05, when = "lag.y >= 0.5", set = "lag.u", value = 0 })");
  EXPECT_NEAR(last_of_run(system), held(held(0.0, 1.0, 1.1), 0.0, 0.9), kIntegration);  // the next step ends at 1.1
}

TEST(Scenario, condition_that_never_comes_true_is_noted) {
  Simulation simulation(lag_behind("one", R"({ when = "lag.y < -1", drop = "lag.u" })"), {}, make_model);
  EXPECT_TRUE(test::has_fact(simulation.run().notes, FactCode::ScenarioNeverTrue, "lag.u"));
  EXPECT_TRUE(simulation.summary().scenario.empty());
}

TEST(Scenario, noise_is_a_function_of_time_alone) {
  const std::string noise = R"({ at = 0.2, noise = "lag.u", value = 0.5, interval = 0.25, seed = 7 })";
  const auto values = [&](const Change& change, int threads) {
    std::vector<double> found;
    Simulation simulation(test::changed(lag_behind("one", noise), change), {.threads = threads}, make_model);
    MemoryRecorder recorder({"lag.u"});
    simulation.observe(recorder);
    simulation.run();
    for (std::size_t i = 0; i + 1 < recorder.times.size(); ++i) {
      if (recorder.times[i] == recorder.times[i + 1]) found.push_back(recorder.column("lag.u")[i + 1]);
    }
    return found;
  };
  const auto coarse = values({"jacobi", 0.2}, 1);
  ASSERT_EQ(coarse.size(), 8U);  // at 0.2, 0.45, ..., 1.95
  EXPECT_EQ(coarse, values({"gauss-seidel", 0.03}, 1));
  EXPECT_EQ(coarse, values({"jacobi", 0.2}, 4));
  EXPECT_NE(coarse[0], coarse[1]);
  const auto other = R"({ at = 0.2, noise = "lag.u", value = 0.5, interval = 0.25, seed = 8 })";
  EXPECT_NE(test::recorded(lag_behind("one", noise), make_model).columns,
            test::recorded(lag_behind("one", other), make_model).columns);
}

TEST(Scenario, noise_is_normally_distributed) {
  constexpr int kCount = 100'000;
  double sum = 0.0;
  double squares = 0.0;
  double neighbours = 0.0;
  int beyond_two = 0;
  double before = 0.0;
  for (int k = 0; k < kCount; ++k) {
    const double x = coupling::normal_number(42, static_cast<std::uint64_t>(k));
    sum += x;
    squares += x * x;
    neighbours += x * before;
    beyond_two += std::abs(x) > 2.0 ? 1 : 0;
    before = x;
  }
  // Four standard deviations of each estimate.
  EXPECT_NEAR(sum / kCount, 0.0, 4.0 / std::sqrt(kCount));
  EXPECT_NEAR(squares / kCount, 1.0, 4.0 * std::sqrt(2.0 / kCount));
  EXPECT_NEAR(neighbours / kCount, 0.0, 4.0 / std::sqrt(kCount));
  EXPECT_NEAR(static_cast<double>(beyond_two) / kCount, 0.0455, 4.0 * std::sqrt(0.0455 / kCount));
}

/// Without predation ln p is the integral of alpha.
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
)";

TEST_P(ScenarioOf, a_parameter_is_exact_in_time) {
  const auto system = test::system_from(R"(scenario = [
{ at = 0.3, set = "prey.alpha", value = -1 },
{ at = 1.0, scale = "prey.alpha", value = -0.5 },
{ at = 1.6, release = "prey.alpha" }])" +
                                        std::string(kPrey));
  Simulation simulation(test::changed(system, GetParam()));
  ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  EXPECT_NEAR(std::log(simulation.value("prey.p")), 0.3 - 0.7 + 0.6 * 0.5 + 0.4, 1e-7);
}

TEST(Scenario, parameter_begins_with_its_start_value_again) {
  const auto system =
      test::system_from(R"(scenario = [{ at = 0.5, bias = "prey.alpha", value = -1.0 }])" + std::string(kPrey));
  Simulation simulation(system);
  simulation.set("prey.alpha", 2.0);
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(simulation.run().termination, Termination::Completed);
    EXPECT_NEAR(std::log(simulation.value("prey.p")), 0.5 * 2.0 + 1.5 * 1.0, 1e-8) << run;
    simulation.reset();
  }
}

TEST(Scenario, ramp_of_a_parameter_follows_the_line_at_communication_times) {
  const auto system = test::system_from(R"(scenario = [{ at = 0.5, ramp = "prey.alpha", value = 0.0, over = 1.0 }])" +
                                        std::string(kPrey));
  Simulation simulation(system);
  simulation.run();
  // 0.5 at 1, then eight steps of 0.125 that begin at 1, 7/8, ...; then 0.
  EXPECT_NEAR(std::log(simulation.value("prey.p")), 0.5 + 0.125 * (8 + 7 + 6 + 5 + 4 + 3 + 2 + 1) / 8.0, 1e-8);
}

TEST(Scenario, entry_off_the_grid_of_imposed_steps_waits_and_is_reported) {
  auto system = lag_behind("one", R"({ at = 0.35, set = "lag.u", value = 3.0 })");
  system.subsystems[1].step = {0.2, {}};
  system.subsystems[0].step = {0.2, {}};
  system.step = {0.2, {}};
  Simulation simulation(system, {}, make_model);
  const RunSummary& summary = simulation.run();
  ASSERT_EQ(summary.scenario.size(), 1U);
  EXPECT_NEAR(summary.scenario[0].late_by.value_or(0.0), 0.05, 1e-12);
  EXPECT_NEAR(test::number_of(summary.warnings, FactCode::ScenarioLate, "late", "lag.u"), 0.05, 1e-12);
  EXPECT_NEAR(simulation.value("lag.y"), held(held(0.0, 1.0, 0.4), 3.0, 1.6), kIntegration);
}

TEST(Scenario, run_again_after_a_reset_is_the_same) {
  Simulation simulation(lag_behind("time", R"({ at = 0.35, scale = "lag.u", value = 3.0 })"), {}, make_model);
  simulation.run();
  const double first = simulation.value("lag.y");
  simulation.reset();
  simulation.run();
  EXPECT_EQ(simulation.value("lag.y"), first);
  EXPECT_EQ(simulation.summary().scenario.size(), 1U);
}

/// Jacobi has order 1: its error is estimated as without a scenario, for every companion meets the same instants.
TEST(ScenarioEstimate, is_that_of_the_coupling) {
  auto system =
      lag_behind("lag", R"({ at = 0.73, set = "source.u", value = 1.0 }, { at = 1.31, bias = "lag.u", value = 0.4 })");
  system.connections.push_back({"lag.y", "source.u", {}, {}, -2.0});
  system.subsystems[0].start["x"] = {1.0, {}};
  system.step = {0.01, {}};
  const auto run = test::estimated_run(system, make_model);
  const auto exact = test::recorded(test::changed(system, {"monolithic"}), make_model);
  const auto& judged = run.output("lag.y");
  ASSERT_EQ(judged.estimate, EstimateKind::Companion);
  const auto truth = test::true_error(run, exact, "lag.y");
  EXPECT_GT(truth.rms, 1e-4);
  EXPECT_GT(judged.error, 0.5 * truth.rms);
  EXPECT_LT(judged.error, 2.0 * truth.rms);
}

TEST(ScenarioEstimate, of_noise_that_every_step_follows_is_unknown) {
  const auto run = test::estimated_run(
      lag_behind("one", R"({ at = 0.5, noise = "lag.u", value = 0.1, interval = 0.2 })"), make_model);
  EXPECT_EQ(run.output("lag.y").estimate, EstimateKind::Unknown);
  EXPECT_TRUE(test::has_fact(run.estimate.reasons, FactCode::EstimateNoise, "lag.u"));
}

TEST(ScenarioInASystemFile, is_written_back) {
  const auto system = lag_behind("one", R"(
{ at = 0.35, ramp = "lag.u", value = 4.0, over = 0.8 },
{ when = "lag.y < 0.5", at = 1.0, noise = "source.y -> lag.u", value = 1.0, seed = 5 })");
  const auto text = system_text(resolved(system));
  const auto again = test::system_from(text);
  ASSERT_EQ(again.scenario.size(), 2U);
  EXPECT_EQ(again.scenario[0].action, ScenarioAction::Ramp);
  EXPECT_EQ(again.scenario[0].over->value, 0.8);
  EXPECT_EQ(again.scenario[1].when->value, "lag.y < 0.5");
  EXPECT_EQ(again.scenario[1].interval->value, 0.1) << "the step";
  EXPECT_EQ(system_text(resolved(again)), text);
}

TEST(ScenarioInASystemFile, is_checked_with_line_and_remedy) {
  const auto message = [](const std::string& entry) {
    std::vector<Problem> problems;
    const auto system = description::parse_system(
        "[run]\nstop = 2.0\nstep = 0.1\nmethod = \"jacobi\"\n[subsystems.source]\nmodel = \"one\"\n[subsystems.lag]\n"
        "model = \"lag\"\n[connections]\n\"source.y\" = \"lag.u\"\n[[scenario]]\n" +
            entry,
        "test.toml", problems);
    if (!problems.empty()) return test::outline(problems.front());
    try {
      const Simulation simulation(system, {}, make_model);
    } catch (const Error& error) {
      return test::outline(error.problems().front());
    }
    return std::string();
  };
  EXPECT_EQ(message("at = 1.0\nset = \"lag.u\"\nvalue = 1"), "");
  EXPECT_EQ(message("at = 1.0\nset = \"lag.v\"\nvalue = 1"),
            "test.toml:13: unknown-variable lag.v; did you mean 'lag.u'?");
  EXPECT_EQ(message("at = 1.0\nset = \"lga.u\"\nvalue = 1"),
            "test.toml:13: unknown-subsystem lga, lga.u; did you mean 'lag'?");
  EXPECT_EQ(message("at = 1.0\nset = \"lag.x\"\nvalue = 1"),
            "test.toml:13: scenario-target lag.x (action = set, why = it is no input, output or parameter)");
  EXPECT_EQ(
      message("at = 1.0\nset = \"lag.y\"\nvalue = 1"),
      "test.toml:13: scenario-target lag.y (action = set, why = the output feeds no input that is a real number)");
  EXPECT_EQ(message("at = 1.0\nset = \"lag.u -> source.u\"\nvalue = 1"),
            "test.toml:13: scenario-target lag.u -> source.u (action = set, why = there is no such connection); "
            "known: source.y -> lag.u");
  EXPECT_EQ(message("at = 1.0\nset = \"lag.u\"\nvalue = \"x\""),
            "test.toml:14: wrong-value-type lag.u (expected = a number, found = a string)");
  EXPECT_EQ(message("at = 1.0\nvalue = 1"),
            "test.toml:11: scenario-no-action; write one of set, bias, scale, ramp, freeze, drop, noise and release");
  EXPECT_EQ(message("at = 1.0\nset = \"lag.u\"\nbias = \"lag.u\"\nvalue = 1"),
            "test.toml:11: scenario-no-action (first = set, second = bias); write one of set, bias, scale, ramp, "
            "freeze, drop, noise and release");
  EXPECT_EQ(
      message("set = \"lag.u\"\nvalue = 1"),
      "test.toml:11: scenario-no-time lag.u (action = set); write at = 2.0, or when = \"subsystem.output < 0.2\"");
  EXPECT_EQ(message("at = 1.0\nset = \"lag.u\""),
            "test.toml:11: scenario-key-missing lag.u (action = set, key = value); write value = ...: what is set, "
            "added or multiplied by, where a ramp ends, or the standard deviation of noise");
  EXPECT_EQ(message("at = 1.0\nfreeze = \"lag.u\"\nvalue = 1"),
            "test.toml:14: scenario-key-unused lag.u (action = freeze, key = value); leave it out");
  EXPECT_EQ(message("at = 1.0\nramp = \"lag.u\"\nvalue = 1.0\nover = 0.0"),
            "test.toml:15: out-of-range scenario.over (range = greater than 0, value = 0)");
  EXPECT_EQ(message("at = 1.0\nnoise = \"lag.u\"\nvalue = -1"),
            "test.toml:14: out-of-range scenario.value (range = at least 0, value = -1)");
  EXPECT_EQ(message("at = nan\ndrop = \"lag.u\""), "test.toml:12: not-finite scenario.at (value = nan)");
  EXPECT_EQ(message("at = -1.0\ndrop = \"lag.u\""),
            "test.toml:12: scenario-before-start lag.u (action = drop, start = 0 s, time = -1 s); write a time of the "
            "run");
  EXPECT_EQ(message("at = 2.0\ndrop = \"lag.u\""),
            "test.toml:12: scenario-after-end lag.u (action = drop, stop = 2 s, time = 2 s)");
  EXPECT_EQ(message("at = 1.0\nrelease = \"lag.u\""),
            "test.toml:11: scenario-releases-nothing lag.u (time = 1 s); leave it out");
  EXPECT_EQ(message("at = 1.0\ndrop = \"lag.u\"\n[[scenario]]\nat = 1.0\nfreeze = \"lag.u\""),
            "test.toml:14: scenario-contradicts lag.u, lag.u (action = freeze, line = 11, other = drop, time = 1 s); "
            "leave one of them out, or give it another time");
  EXPECT_EQ(message("when = \"lag.y\"\ndrop = \"lag.u\""),
            "test.toml:12: scenario-bad-condition lag.u (value = lag.y); write a signal, <, <=, > or >=, and a number: "
            "\"battery.soc < 0.2\"");
  EXPECT_EQ(message("when = \"lag.z < 1\"\ndrop = \"lag.u\""),
            "test.toml:12: scenario-bad-condition lag.u (value = lag.z < 1, why = 'lag.z' is no output and no input "
            "that is a real number); did you mean 'lag.y'?");
  EXPECT_EQ(message("at = 1.0\ndrop = \"lag.u\"\n[schedule]\n\"lag.u\" = [[1.0, 2.0]]"),
            "test.toml:13: scenario-scheduled lag.u; write all of it in the scenario");
  EXPECT_EQ(message("at = 1.0\ndorp = \"lag.u\""),
            "test.toml:13: unknown-key dorp (owner = scenario); did you mean 'drop'?");
}

TEST(ScenarioInASystemFile, of_a_parameter_that_cannot_be_disturbed_is_refused) {
  const auto message = [](const std::string& entry) {
    try {
      const Simulation simulation(test::system_from("scenario = [{ at = 1.0, " + entry + " }]" + std::string(kPrey)));
    } catch (const Error& error) {
      return test::outline(error.problems().front());
    }
    return std::string();
  };
  EXPECT_EQ(message("freeze = \"prey.alpha\""),
            "test.toml:1: scenario-target prey.alpha (action = freeze, why = a parameter has no connection); use set");
}

TEST(ScenarioFile, is_laid_over_a_system) {
  const test::TemporaryFolder folder;
  const std::string file = std::filesystem::path(folder / "fault.toml").string();
  std::ofstream(file) << "[[scenario]]\nat = 1.25\nset = \"lag.u\"\nvalue = 0.0\n";
  auto system = lag_behind("one", R"({ at = 0.5, set = "lag.u", value = 2.0 })");
  apply_scenario(system, file);
  EXPECT_NEAR(last_of_run(system), held(held(held(0.0, 1.0, 0.5), 2.0, 0.75), 0.0, 0.75), kIntegration);
  EXPECT_EQ(system.scenario[1].where.file, file);

  std::ofstream(file) << "[run]\nstop = 1.0\n";
  try {
    apply_scenario(system, file);
    FAIL();
  } catch (const Error& error) {
    ASSERT_EQ(error.problems().size(), 1U);
    EXPECT_EQ(error.problems()[0].fact.code, FactCode::UnknownTable);
    EXPECT_EQ(error.problems()[0].where.file, file);
  }
}

TEST(ScenarioInRunJson, has_what_took_effect) {
  Simulation simulation(lag_behind("one", R"(
{ at = 0.35, ramp = "lag.u", value = 4.0, over = 0.8 }, { when = "lag.y > 1.5", release = "lag.u" })"),
                        {}, make_model);
  const auto json = nlohmann::json::parse(summary_json(simulation.run()));
  ASSERT_EQ(json["scenario"].size(), 2U);
  EXPECT_EQ(json["scenario"][0]["action"], "ramp");
  EXPECT_EQ(json["scenario"][0]["target"], "lag.u");
  EXPECT_EQ(json["scenario"][0]["time"], 0.35);
  EXPECT_EQ(json["scenario"][0]["until"], 0.35 + 0.8);
  EXPECT_EQ(json["scenario"][0]["value"], 4.0);
  EXPECT_EQ(json["scenario"][1]["entry"], 1);
  EXPECT_LT(json["scenario"][1]["crossed"], json["scenario"][1]["time"]);
  EXPECT_FALSE(nlohmann::json::parse(summary_json(Simulation(lag_behind("one", ""), {}, make_model).run()))
                   .contains("scenario"));
}

}  // namespace scenario_test
}  // namespace entrain
