// What a look inside shows: calls.csv of a run, and the run itself is the same with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "entrain/entrain.hpp"
#include "subsystem/traced.hpp"
#include "support/places.hpp"
#include "support/temporary_folder.hpp"

namespace entrain::test {
namespace calls_test {

SystemDescription two_masses(const std::string& method) {
  auto description = load(examples_folder() + "/two_mass");
  description.method.value = method;
  description.step = {0.01, {}};
  description.stop = {0.5, {}};
  return description;
}

RunResult run_into(const std::filesystem::path& folder, const SystemDescription& description, bool calls) {
  RunDirectoryOptions options;
  options.folder = folder;
  options.calls = calls;
  options.estimate = false;
  return run(description, options);
}

nlohmann::json calls_of(const std::filesystem::path& folder) {
  return nlohmann::json::parse(report_json(folder))["calls"];
}

TEST(Calls, of_held_inputs_are_the_outputs_at_the_beginning_of_each_step) {
  const TemporaryFolder folder;
  run_into(folder / "plain", two_masses("jacobi"), false);
  run_into(folder / "traced", two_masses("jacobi"), true);
  EXPECT_EQ(text_of(folder / "plain/results.csv"), text_of(folder / "traced/results.csv"));
  EXPECT_TRUE(calls_of(folder / "plain").is_null());
  const auto results = read_results(folder / "traced");
  const auto* force = results.find("right.F");
  ASSERT_NE(force, nullptr);
  const auto calls = calls_of(folder / "traced")["left"];
  EXPECT_EQ(calls["kinds"], std::string(50, 's'));
  EXPECT_EQ(calls["one_in"], 1);
  const auto input = std::find(calls["inputs"].begin(), calls["inputs"].end(), "F") - calls["inputs"].begin();
  ASSERT_LT(static_cast<std::size_t>(input), calls["inputs"].size());
  for (std::size_t k = 0; k < 50; ++k) {
    const auto& coefficients = calls["coefficients"][k * calls["inputs"].size() + static_cast<std::size_t>(input)];
    ASSERT_EQ(coefficients.size(), 1U) << "held";
    EXPECT_EQ(coefficients[0].get<double>(), force->values[k]) << k;
    EXPECT_EQ(calls["from"][k].get<double>(), results.times(*force)[k]);
  }
}

TEST(Calls, of_an_iteration_are_trials_from_the_same_time_before_each_step) {
  const TemporaryFolder folder;
  const auto plain = run_into(folder / "plain", two_masses("ifosmondi"), false);
  const auto traced = run_into(folder / "traced", two_masses("ifosmondi"), true);
  ASSERT_EQ(traced.summary.termination, Termination::Completed) << traced.summary.message;
  EXPECT_EQ(text_of(folder / "plain/results.csv"), text_of(folder / "traced/results.csv"));
  EXPECT_EQ(plain.summary.iterations, traced.summary.iterations);
  const auto calls = calls_of(folder / "traced")["left"];
  const auto kinds = calls["kinds"].get<std::string>();
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), 's'), 50);
  EXPECT_GT(std::count(kinds.begin(), kinds.end(), 't'), 50);
  std::size_t cubic = 0;
  for (std::size_t k = 0; k + 1 < kinds.size(); ++k) {
    if (kinds[k] == 't') {
      EXPECT_EQ(calls["from"][k], calls["from"][k + 1]) << "taken back, and made again";
    }
    if (calls["coefficients"][k * calls["inputs"].size()].size() == 4) ++cubic;
  }
  EXPECT_GT(cubic, kinds.size() / 2);
}

TEST(Calls, of_a_long_run_are_thinned_and_cover_all_of_it) {
  const TemporaryFolder folder;
  auto description = two_masses("jacobi");
  description.stop = {200.0, {}};
  description.record.interval = Written<double>{1.0, {}};
  run_into(folder / "out", description, true);
  const auto calls = calls_of(folder / "out")["left"];
  const auto count = calls["kinds"].get<std::string>().size();
  EXPECT_GT(count, 1000U);
  EXPECT_LE(count, 4096U);
  EXPECT_EQ(calls["from"][0], 0.0);
  EXPECT_EQ(calls["one_in"].get<double>() * static_cast<double>(count), 20000.0);
  EXPECT_GT(calls["to"][count - 1].get<double>(), 199.0);
}

TEST(Calls, of_a_method_that_integrates_the_equations_itself_are_none) {
  const TemporaryFolder folder;
  run_into(folder / "out", two_masses("monolithic"), true);
  EXPECT_EQ(calls_of(folder / "out"), nlohmann::json::object());
}

TEST(Calls, log_keeps_the_last_of_several_calls_as_the_step) {
  subsystem::TracedCalls log(16);
  const std::array<double, 2> inputs{1.0, 2.0};
  const auto call = [&](Time from, Duration size, StepOutcome outcome = StepOutcome::Completed) {
    log.add({from, size, InputBlock(inputs.data(), 1, 1)}, {from + size, outcome}, 0.0);
  };
  call(0.0, 1.0);
  call(0.0, 1.0, StepOutcome::Rejected);
  call(0.0, 0.5);
  call(0.5, 0.5);
  call(1.0, 1.0);
  std::string kinds;
  for (const auto& each : log.calls()) kinds += "str"[static_cast<int>(each.kind)];
  EXPECT_EQ(kinds, "trsss");
  EXPECT_EQ(log.coefficient(log.calls()[1], 1, 0), 2.0);
}

}  // namespace calls_test
}  // namespace entrain::test
