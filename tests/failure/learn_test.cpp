#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "results/csv_reader.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/scripted_fmus.hpp"

namespace entrain::test {
namespace {

using Json = nlohmann::json;

const std::string kLearning = test::examples_folder() + "/learning";

TEST(LearnCommand, writes_a_correction_that_run_replays_to_the_same_bits) {
  const TemporaryFolder folder;
  const auto learned = run_program(folder, {"learn", kLearning, "--stop", "1", "--iterations", "4", "--out", "l"});
  ASSERT_EQ(learned.exit_code, 0) << learned.err;
  expect_text(learned.out, "delayed  force_side.F");
  expect_text(learned.out, "gamma = 0.984354");
  expect_text(learned.out, "run   3  to t = 1 s  error ");
  expect_text(learned.out, "--learned l/learned.json");
  const auto how = Json::parse(text_of(folder / "l/learning.json"));
  EXPECT_EQ(how["iterations"].size(), 4U);
  EXPECT_EQ(how["full_runs"], 4.0);

  for (const char* out : {"once", "again"}) {
    const auto result =
        run_program(folder, {"run", kLearning, "--stop", "1", "--learned", "l/learned.json", "--out", out});
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  EXPECT_EQ(text_of(folder / "once/results.csv"), text_of(folder / "again/results.csv"));
  const auto summary = Json::parse(text_of(folder / "once/run.json"));
  EXPECT_EQ(summary["parameters"]["feedthrough"], "delay");
  // The force arrives as it is told one step later, up to what is left to learn.
  const auto plain = Json::parse(
      run_program(folder, {"run", kLearning, "--stop", "1", "--option", "feedthrough=delay", "--json"}).out);
  EXPECT_LT(summary["coupling_residuals"]["force_side.F -> motion_side.F"].get<double>(),
            1e-3 * plain["coupling_residuals"]["force_side.F -> motion_side.F"].get<double>());
}

TEST(LearnCommand, json_is_all_that_is_printed) {
  const TemporaryFolder folder;
  const auto result =
      run_program(folder, {"learn", kLearning, "--stop", "0.1", "--iterations", "2", "--out", "l", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = Json::parse(result.out);
  EXPECT_EQ(json["end"], "out of iterations");
  EXPECT_EQ(json["iterations"][1]["connections"].size(), 1U);
}

TEST(LearnCommand, correction_for_another_step_or_no_correction_is_refused) {
  const TemporaryFolder folder;
  run_program(folder, {"learn", kLearning, "--stop", "0.1", "--iterations", "1", "--out", "l", "--quiet"});
  auto result = run_program(folder, {"run", kLearning, "--stop", "0.2", "--learned", "l/learned.json"});
  EXPECT_EQ(result.exit_code, 1);
  expect_text(result.err, "learned for 100 macro steps; this run has 200");
  result = run_program(folder, {"run", kLearning, "--learned", kLearning + "/system.toml"});
  EXPECT_EQ(result.exit_code, 1);
  expect_text(result.err, "is no learned correction");
  result = run_program(folder, {"learn", kLearning, "--gain", "5"});
  EXPECT_EQ(result.exit_code, 2);
}

TEST(LearnCommand, diverging_runs_end_with_exit_code_1_and_the_best_one_kept) {
  const TemporaryFolder folder;
  const auto result = run_program(folder, {"learn", kLearning, "--set", "force_side.c_k=1e5", "--stop", "1",
                                           "--progressive", "never", "--out", "l"});
  EXPECT_EQ(result.exit_code, 1);
  expect_text(result.err, "the best one is kept");
  EXPECT_TRUE(std::filesystem::exists(folder / "l/learned.json"));
}

class LearnFmus : public ScriptedFmus {};

TEST_F(LearnFmus, that_can_be_made_once_only_and_not_be_reset_are_named) {
  const auto fmu = write(scripted_description(R"(canBeInstantiatedOnlyOncePerProcess="true")"));
  write_text(folder_ / "system.toml", fmt::format(R"([run]
stop = 1.0
step = 0.1
[subsystems.once]
fmu = "{}"
[subsystems.mass]
model = "oscillator.motion_side"
[connections]
"once.y" = "mass.F"
"mass.x" = "once.u"
)",
                                                  fmu.string()));
  const auto result = run_here({"learn", "system.toml"});
  EXPECT_EQ(result.exit_code, 1);
  expect_text(result.err, "'once' cannot be run again: it can be made once per process only");
}

}  // namespace
}  // namespace entrain::test
