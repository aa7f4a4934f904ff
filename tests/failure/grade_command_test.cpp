// The grade of a run at the command line: what is printed, what the exit code says, and bad input.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "entrain/verdict.hpp"
#include "support/facts.hpp"
#include "support/places.hpp"
#include "support/program.hpp"

namespace entrain::test {
namespace grade_command_test {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

const std::string kMechanical = test::examples_folder() + "/mechanical";

// missiles at 1 ms resolves this pair to 1e-6 of the range, held forces at 0.01 s come near the limit of stability.
const Words kGood = {"--method", "missiles", "--step", "1e-3"};
const Words kPoor = {"--method", "jacobi", "--step", "0.01"};

struct Graded {
  ProgramResult program;
  Json verdict;
};

Graded graded(const Words& how, const Words& others = {}) {
  const TemporaryFolder folder;
  Words words{"run", kMechanical, "--stop", "0.5", "--out", "out", "--overwrite"};
  words.insert(words.end(), how.begin(), how.end());
  words.insert(words.end(), others.begin(), others.end());
  Graded result{run_program(folder, words), {}};
  if (std::filesystem::exists(folder / "out/run.json")) {
    result.verdict = Json::parse(text_of(folder / "out/run.json"))["verdict"];
    EXPECT_EQ(to_string(verdict(folder / "out").grade), result.verdict["grade"]);
  }
  return result;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(RunCommand, prints_the_grade_with_what_decides_it_and_exits_with_0_when_it_is_trusted) {
  const auto [run, verdict] = graded(kGood);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(verdict["grade"], "trusted");
  EXPECT_EQ(verdict["command"], "");
  EXPECT_LE(verdict["bound"], verdict["tolerance"]);
  EXPECT_GE(verdict["bound"], verdict["error"]);
  EXPECT_TRUE(contains(run.out, "\nverdict: Trusted: ")) << run.out;
  EXPECT_TRUE(contains(run.out, verdict["headline"])) << run.out;
  EXPECT_FALSE(contains(run.out, "\x1b[")) << "no colours in a file";
  EXPECT_EQ(run.err, "");
}

TEST(RunCommand, exits_with_3_for_an_unreliable_result_and_names_a_command_that_does_better) {
  const auto [run, verdict] = graded(kPoor);
  EXPECT_EQ(run.exit_code, 3) << run.out;
  EXPECT_EQ(verdict["grade"], "unreliable");
  EXPECT_TRUE(contains(run.out, "verdict: Unreliable: ")) << run.out;
  EXPECT_TRUE(contains(run.out, "next: entrain ")) << run.out;
  EXPECT_TRUE(contains(run.err, "unreliable")) << run.err;
}

/// The controller of the car differentiates the position. With held inputs the car passes 300 m/s whatever the step
/// (examples/car), so that runs with other steps agree: 3512 m after 30 s at 50, 10 and 1 ms, and 380 m in truth.
TEST(RunCommand, held_input_that_is_differentiated_is_unreliable_although_companions_agree) {
  const TemporaryFolder folder;
  for (const auto* method : {"jacobi", "gauss-seidel"}) {
    const auto run = run_program(folder, {"run", examples_folder() + "/car", "--method", method, "--option", "degree=0",
                                          "--json", "--out", "out", "--overwrite"});
    EXPECT_EQ(run.exit_code, 3) << run.out;
    const auto verdict = Json::parse(run.out)["verdict"];
    EXPECT_EQ(verdict["grade"], "unreliable");
    EXPECT_EQ(verdict["reasons"][0]["code"], "held-input-differentiated");
    EXPECT_EQ(verdict["reasons"][0]["subjects"], Json({"controller"}));
  }
  const auto carried = run_program(folder, {"run", examples_folder() + "/car", "--method", "jacobi", "--option",
                                            "degree=2", "--json", "--out", "out", "--overwrite"});
  EXPECT_EQ(Json::parse(carried.out)["verdict"]["grade"], "trusted") << carried.out;
}

TEST(RunCommand, exits_as_required) {
  EXPECT_EQ(graded(kGood, {"--require", "trusted"}).program.exit_code, 0);
  EXPECT_EQ(graded(kPoor, {"--require", "any"}).program.exit_code, 0);
  EXPECT_EQ(graded(kPoor, {"--require", "check"}).program.exit_code, 3);
  EXPECT_EQ(graded(kPoor, {"--require", "trusted", "--quiet"}).program.exit_code, 3);
}

TEST(RunCommand, without_an_estimate_is_of_unknown_grade_which_is_neither_trusted_nor_one_to_check) {
  const auto [run, verdict] = graded(kGood, {"--no-estimate"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(verdict["grade"], "unknown");
  EXPECT_EQ(verdict["reasons"][0]["code"], "estimate-off");
  EXPECT_TRUE(verdict["bound"].is_null());
  EXPECT_EQ(verdict["command"], "entrain run " + kMechanical + " --method missiles --stop 0.5");
  EXPECT_EQ(graded(kGood, {"--no-estimate", "--require", "check"}).program.exit_code, 3);
  EXPECT_EQ(graded(kGood, {"--no-estimate", "--require", "trusted"}).program.exit_code, 3);
  EXPECT_EQ(graded(kGood, {"--no-estimate", "--require", "any"}).program.exit_code, 0);
}

TEST(RunCommand, judges_by_the_tolerance_that_it_is_given) {
  const auto [run, verdict] = graded(kGood, {"--tolerance", "1e-9"});
  EXPECT_NE(verdict["grade"], "trusted");
  EXPECT_EQ(verdict["tolerance"], 1e-9);
}

TEST(RunCommand, refuses_a_tolerance_that_is_no_share_of_the_range) {
  for (const auto* value : {"0", "2", "-0.1", "nan"}) {
    const auto [run, verdict] = graded(kGood, {"--tolerance", value});
    EXPECT_EQ(run.exit_code, 2) << value;
    EXPECT_TRUE(contains(run.err, "run.tolerance")) << run.err;
    EXPECT_TRUE(verdict.is_null()) << "nothing was run";
  }
  EXPECT_EQ(graded(kGood, {"--tolerance", "much"}).program.exit_code, 2);
  EXPECT_EQ(graded(kGood, {"--require", "good"}).program.exit_code, 2);
  EXPECT_EQ(graded(kGood, {"--budget", "3"}).program.exit_code, 2) << "it belongs to --meet";
}

TEST(RunCommand, names_the_line_of_a_tolerance_or_a_name_that_is_wrong) {
  const TemporaryFolder folder;
  write_text(
      folder / "system.toml",
      "[run]\nstop = 1.0\ntolerance = 2\nopen = [\"left.u\"]\n[run.tolerances]\n\"left.F\" = 0\n\"left.z\" = 0.1\n"
      "[subsystems.left]\nmodel = \"mechanical.left\"\n");
  const auto check = run_program(folder, {"check", "system.toml"});
  EXPECT_EQ(check.exit_code, 1);
  for (const auto* place : {"system.toml:3", "system.toml:4", "system.toml:6", "system.toml:7"}) {
    EXPECT_TRUE(contains(check.err, place)) << check.err;
  }
}

TEST(RunCommand, with_meet_refines_until_it_is_trusted_and_leaves_that_run) {
  const auto [run, verdict] = graded(kPoor, {"--meet", "--budget", "1000"});
  EXPECT_EQ(run.exit_code, 0) << run.err << run.out;
  EXPECT_EQ(verdict["grade"], "trusted") << run.out;
  EXPECT_TRUE(contains(run.err, "run 2")) << run.err;
  EXPECT_TRUE(contains(run.out, "verdict: Trusted")) << run.out;
  EXPECT_FALSE(contains(run.out, "verdict: Unreliable")) << "the last run alone is printed";
}

TEST(RunCommand, prints_the_verdict_as_json) {
  const auto [run, verdict] = graded(kGood, {"--json"});
  const auto printed = Json::parse(run.out);
  EXPECT_EQ(printed["verdict"], verdict);
  ASSERT_TRUE(printed["outputs"].contains(verdict["output"].get<std::string>())) << printed["outputs"];
  EXPECT_EQ(printed["outputs"][verdict["output"].get<std::string>()]["bound"], verdict["bound"]);
}

TEST(RunCommand, interrupted_while_it_estimates_keeps_the_result_with_an_unknown_grade) {
  const TemporaryFolder folder;
  // Companions take three quarters of the time of the run: long enough to be met.
  Program program(folder, {"run", kMechanical, "--method", "gauss-seidel", "--step", "2e-6", "--out", "out"});
  const auto state = [&]() -> Json {
    const auto json = Json::parse(
        std::filesystem::exists(folder / "out/run.json") ? text_of(folder / "out/run.json") : "{}", nullptr, false);
    return json.is_object() ? json : Json::object();
  };
  ASSERT_TRUE(eventually([&] {
    const auto json = state();
    return json.value("termination", "") == "completed" && json["verdict"]["grade"] == "pending";
  }));
  program.send(SIGINT);
  const auto result = program.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto json = state();
  EXPECT_EQ(json["termination"], "completed");
  EXPECT_EQ(json["reached"], 2.0);
  EXPECT_EQ(json["verdict"]["grade"], "unknown") << json["verdict"];
  EXPECT_EQ(json["verdict"]["reasons"][0]["code"], "estimate-interrupted");
}

}  // namespace grade_command_test
}  // namespace entrain::test
