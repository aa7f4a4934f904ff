#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "entrain/results.hpp"
#include "support/facts.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/scripted_fmus.hpp"

namespace entrain::test {
namespace learn_test {

using Json = nlohmann::json;

const std::string kLearning = test::examples_folder() + "/learning";

TEST(LearnCommand, writes_a_correction_that_run_replays_to_the_same_bits) {
  const TemporaryFolder folder;
  const auto learned =
      run_program(folder, {"learn", kLearning, "--inputs", "held", "--stop", "1", "--iterations", "4", "--out", "l"});
  ASSERT_EQ(learned.exit_code, 0) << learned.err;
  expect_text(learned.out, "delayed  force_side.F");
  expect_text(learned.out, "gamma = 0.984354");
  expect_text(learned.out, "run   3  to t = 1 s  missed ");
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
  // The force arrives as it is sent one step later, up to what is left to learn.
  const auto plain = Json::parse(run_program(folder, {"run", kLearning, "--method", "jacobi", "--stop", "1", "--option",
                                                      "feedthrough=delay", "--json"})
                                     .out);
  EXPECT_LT(summary["coupling_residuals"]["force_side.F -> motion_side.F"].get<double>(),
            1e-3 * plain["coupling_residuals"]["force_side.F -> motion_side.F"].get<double>());
}

/// What learning counts: late by one step, what the input should have been minus what it was.
double norm_of_error(const Results& results, const std::string& output, const std::string& input) {
  double squares = 0.0;
  const auto& sent = results.find(output)->values;
  const auto& received = results.find(input)->values;
  for (std::size_t k = 1; k < sent.size(); ++k) squares += (sent[k] - received[k]) * (sent[k] - received[k]);
  return std::sqrt(squares);
}

TEST(LearnCommand, replay_is_the_best_run_to_the_last_bit) {
  const TemporaryFolder folder;
  auto recorded =
      text_of(kLearning + "/system.toml") + "\n[record]\nvariables = [\"force_side.F\", \"motion_side.F\"]\n";
  write_text(folder / "system.toml", recorded);
  const auto learned = run_program(
      folder, {"learn", "system.toml", "--inputs", "held", "--stop", "1", "--iterations", "4", "--out", "l"});
  ASSERT_EQ(learned.exit_code, 0) << learned.err;
  const auto replay =
      run_program(folder, {"run", "system.toml", "--stop", "1", "--learned", "l/learned.json", "--out", "r"});
  ASSERT_EQ(replay.exit_code, 0) << replay.err;
  const auto how = Json::parse(text_of(folder / "l/learning.json"));
  const auto& best = how["iterations"][how["best_iteration"].get<std::size_t>()];
  EXPECT_EQ(norm_of_error(read_results(folder / "r/results.csv"), "force_side.F", "motion_side.F"),
            best["connections"]["force_side.F -> motion_side.F"]["norm"].get<double>());
}

TEST(LearnCommand, that_leaves_more_than_the_tolerance_is_reported_with_a_remedy) {
  const TemporaryFolder folder;
  const auto few =
      run_program(folder, {"learn", kLearning, "--inputs", "held", "--stop", "0.1", "--iterations", "2", "--out", "f"});
  EXPECT_EQ(few.exit_code, 0);
  expect_text(few.err, "1e-09");
  expect_text(few.err, "run 1");
  expect_text(few.err, "--iterations");
  const auto filtered =
      run_program(folder, {"learn", kLearning, "--inputs", "held", "--cutoff", "1", "--stop", "2", "--out", "c"});
  EXPECT_EQ(filtered.exit_code, 0);
  expect_text(filtered.out, "stalled after");
  expect_text(filtered.err, "--cutoff");
  const auto met = run_program(folder, {"learn", kLearning, "--inputs", "held", "--stop", "0.1", "--tolerance", "0.1",
                                        "--iterations", "5", "--out", "m"});
  EXPECT_EQ(met.exit_code, 0);
  EXPECT_EQ(met.err, "");
}

TEST(LearnCommand, resumed_writes_the_file_of_learning_that_was_not_interrupted) {
  const TemporaryFolder folder;
  const std::vector<std::string> learn{"learn", kLearning,  "--inputs", "linear",      "--stop",
                                       "0.2",   "--memory", "2",        "--no-compare"};
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), learn.begin(), learn.end());
    return run_program(folder, more);
  };
  ASSERT_EQ(run({"--iterations", "5", "--out", "whole"}).exit_code, 0);
  ASSERT_EQ(run({"--iterations", "3", "--out", "part"}).exit_code, 0);
  EXPECT_NE(text_of(folder / "part/learned.json"), text_of(folder / "whole/learned.json"));
  const auto ended = run({"--iterations", "3", "--resume", "part"});
  EXPECT_EQ(ended.exit_code, 1);
  expect_text(ended.err, "Allow more than 3 --iterations");
  const auto resumed = run({"--iterations", "5", "--resume", "part"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  expect_text(resumed.out, "goes on after 3 runs");
  EXPECT_EQ(text_of(folder / "part/learned.json"), text_of(folder / "whole/learned.json"));
  const auto other = run({"--iterations", "9", "--resume", "part", "--gain", "0.5"});
  EXPECT_EQ(other.exit_code, 1);
  expect_text(other.err, "gain was 1, now it is 0.5");
  const auto nothing = run({"--iterations", "9", "--resume", "elsewhere"});
  EXPECT_EQ(nothing.exit_code, 1);
  expect_text(nothing.err, "elsewhere/learning.state");
}

/// Corrections of a learned.json.
Json corrections_in(const std::filesystem::path& folder) {
  return Json::parse(text_of(folder / "learned.json"))["corrections"];
}

TEST(LearnCommand, from_recorded_runs_has_the_bits_of_learning_that_makes_them) {
  const TemporaryFolder folder;
  for (const std::string inputs : {"held", "linear"}) {
    const std::string in = "-" + inputs;
    for (const std::string runs : {"2", "3"}) {
      const auto learned = run_program(folder, {"learn", kLearning, "--inputs", inputs, "--stop", "0.2", "--no-compare",
                                                "--iterations", runs, "--out", runs + in});
      ASSERT_EQ(learned.exit_code, 0) << learned.err;
    }
    // Run 0 as learning makes it: what holds for its options is in the file that it wrote.
    const auto options = Json::parse(text_of(folder / ("2" + in) / "learned.json"))["options"];
    std::vector<std::string> first{
        "run",    kLearning, "--method", "jacobi",
        "--stop", "0.2",     "--option", "feedthrough=" + options["feedthrough"].get<std::string>(),
        "--out",  "a" + in};
    if (inputs == "held") first.insert(first.end(), {"--option", "delayed=[\"force_side.F\"]"});
    const auto a = run_program(folder, first);
    ASSERT_EQ(a.exit_code, 0) << a.err;
    const auto once = run_program(
        folder, {"learn", kLearning, "--inputs", inputs, "--stop", "0.2", "--from", "a" + in, "--out", "from-a" + in});
    ASSERT_EQ(once.exit_code, 0) << once.err;
    EXPECT_EQ(corrections_in(folder / ("from-a" + in)), corrections_in(folder / ("2" + in))) << inputs;
    const auto b =
        run_program(folder, {"run", kLearning, "--stop", "0.2", "--learned", "from-a" + in, "--out", "b" + in});
    ASSERT_EQ(b.exit_code, 0) << b.err;
    const auto twice = run_program(
        folder, {"learn", kLearning, "--stop", "0.2", "--from", "a" + in, "b" + in, "--out", "from-b" + in});
    ASSERT_EQ(twice.exit_code, 0) << twice.err;
    const auto how = Json::parse(text_of(folder / ("from-b" + in) / "learning.json"));
    EXPECT_EQ(json_fact(how["notes"], FactCode::RunsLearnedFrom)["values"]["earlier"], 1.0);
    const auto here = corrections_in(folder / ("from-b" + in)), there = corrections_in(folder / ("3" + in));
    if (inputs == "held") {
      EXPECT_EQ(here, there);
    }
    for (const auto& [name, values] : there.items()) {
      for (std::size_t k = 0; k < values.size(); ++k) {
        // A line is recorded by its end, whose value is rounded: at 830 N by 1e-13 N, in a few operations.
        EXPECT_NEAR(here[name][k].get<double>(), values[k].get<double>(), 1e-12) << inputs << ' ' << name << ' ' << k;
      }
    }
  }
}

TEST(LearnCommand, that_makes_no_run_better_has_learned_nothing) {
  const TemporaryFolder folder;
  for (const std::string when : {"auto", "never"}) {
    const auto result = run_program(folder, {"learn", kLearning, "--inputs", "held", "--set", "force_side.c_k=1e5",
                                             "--stop", "1", "--iterations", "3", "--progressive", when, "--out", when});
    EXPECT_EQ(result.exit_code, 1) << when;
    EXPECT_EQ(result.err.find("learned to t"), std::string::npos) << result.err;
    EXPECT_EQ(result.out.find("--learned"), std::string::npos) << result.out;
    EXPECT_TRUE(Json::parse(text_of(folder / when / "learning.json"))["learned_nothing"]);
  }
}

TEST(LearnCommand, reports_a_tolerance_that_is_no_number) {
  const TemporaryFolder folder;
  const auto result = run_program(folder, {"learn", kLearning, "--inputs", "held", "--tolerance", "nan", "--out", "l"});
  EXPECT_NE(result.exit_code, 0);
  expect_text(result.err, "tolerance");
}

TEST(LearnCommand, json_is_all_that_is_printed) {
  const TemporaryFolder folder;
  const auto result = run_program(
      folder, {"learn", kLearning, "--inputs", "held", "--stop", "0.1", "--iterations", "2", "--out", "l", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = Json::parse(result.out);
  EXPECT_EQ(json["end"], "out of iterations");
  EXPECT_EQ(json["iterations"][1]["connections"].size(), 1U);
}

TEST(LearnCommand, correction_for_another_step_or_no_correction_is_refused) {
  const TemporaryFolder folder;
  run_program(folder,
              {"learn", kLearning, "--inputs", "held", "--stop", "0.1", "--iterations", "1", "--out", "l", "--quiet"});
  auto result = run_program(folder, {"run", kLearning, "--stop", "0.2", "--learned", "l/learned.json", "--json"});
  EXPECT_EQ(result.exit_code, 1);
  const auto too_short = failure_in(result.out);
  EXPECT_EQ(too_short["code"], "learned-too-short");
  EXPECT_EQ(too_short["values"]["steps"], 100.0);
  EXPECT_EQ(too_short["values"]["run_steps"], 200.0);
  result = run_program(folder, {"run", kLearning, "--learned", kLearning + "/system.toml", "--json"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(failure_in(result.out)["code"], "learned-unusable");
  result = run_program(folder, {"learn", kLearning, "--inputs", "held", "--gain", "5"});
  EXPECT_EQ(result.exit_code, 2);
}

TEST(LearnCommand, diverging_runs_end_with_exit_code_1) {
  const TemporaryFolder folder;
  const auto result = run_program(folder, {"learn", kLearning, "--inputs", "held", "--set", "force_side.c_k=1e5",
                                           "--stop", "1", "--progressive", "never", "--out", "l"});
  EXPECT_EQ(result.exit_code, 1);
  expect_text(result.out, "diverged after");
  expect_text(result.err, "--gain");
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
  expect_text(result.err, "'once'");
}

}  // namespace learn_test
}  // namespace entrain::test
