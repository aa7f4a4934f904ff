// 'entrain learn' and 'run --learned' when things do not fit.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/facts.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/scripted_fmus.hpp"

namespace entrain::test {
namespace learned_run_test {

using Json = nlohmann::json;

const std::string kSystem = test::examples_folder() + "/learning";

class LearnedRun : public testing::Test {
 protected:
  ProgramResult learn(std::vector<std::string> more) {
    std::vector<std::string> arguments{"learn", kSystem, "--inputs", "held", "--out", "l"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(folder_, arguments);
  }
  ProgramResult replay(std::vector<std::string> more) {
    std::vector<std::string> arguments{"run",   kSystem, "--learned",   "l/learned.json",
                                       "--out", "r",     "--overwrite", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(folder_, arguments);
  }
  /// Returns why.
  Json expect_refused(const std::vector<std::string>& more, int exit_code = 2) {
    const auto result = replay(more);
    EXPECT_EQ(result.exit_code, exit_code) << result.out;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "r")) << "nothing is made for a run that is refused";
    return failure_in(result.out);
  }

  TemporaryFolder folder_;
};

TEST_F(LearnedRun, that_contradicts_the_correction_is_refused_with_both_values) {
  ASSERT_EQ(learn({"--stop", "0.1", "--iterations", "2", "--set", "force_side.d1=0"}).exit_code, 0);
  const std::vector<std::string> same{"--stop", "0.1", "--set", "force_side.d1=0.0"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), same.begin(), same.end());
    return more;
  };
  EXPECT_EQ(expect_refused(with({"--step", "0.01"}))["code"], "learned-with-other-step");
  EXPECT_EQ(expect_refused(with({"--method", "missiles"}))["code"], "learned-with-other-method");
  EXPECT_EQ(expect_refused(with({"--option", "degree=1"}))["code"], "learned-with-other-option");
  EXPECT_EQ(expect_refused(with({"--option", "feedthrough=hold"}))["code"], "learned-with-other-option");
  const auto other_value = expect_refused({"--stop", "0.1"}, 1);
  EXPECT_EQ(other_value["code"], "learned-other-system");
  EXPECT_EQ(other_value["values"]["then"], "[subsystems.force_side.start] d1 = 0.0");
  EXPECT_EQ(other_value["values"]["now"], "[subsystems.force_side.start] d1 = 0.1");
  EXPECT_EQ(expect_refused(with({"--set", "motion_side.m2=2"}), 1)["values"]["now"],
            "[subsystems.motion_side.start] m2 = 2.0");
  ASSERT_EQ(replay(with({"--step", "0.001", "--method", "jacobi", "--option", "energy_gain=0"})).exit_code, 0)
      << "what the correction contains itself may be set again";
}

TEST_F(LearnedRun, names_its_correction) {
  ASSERT_EQ(learn({"--stop", "0.1", "--iterations", "3"}).exit_code, 0);
  const auto result = run_program(
      folder_, {"run", kSystem, "--learned", "l/learned.json", "--out", "r", "--overwrite", "--stop", "0.1"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  expect_text(result.out, "motion_side.F corrected by l/learned.json, learned to ");
  const auto run = Json::parse(text_of(folder_ / "r/run.json"));
  const auto learned = Json::parse(text_of(folder_ / "l/learned.json"));
  EXPECT_EQ(run["learned_correction"]["file"], "l/learned.json");
  EXPECT_EQ(run["learned_correction"]["residual"], learned["error"]);
  EXPECT_EQ(run["learned_correction"]["inputs"], Json({"motion_side.F"}));
  expect_text(text_of(folder_ / "r/system.resolved.toml"), "# corrected by --learned l/learned.json\n");
}

TEST_F(LearnedRun, command_that_is_printed_is_the_whole_of_it) {
  const auto result = learn({"--stop", "0.1", "--iterations", "2", "--set", "force_side.d1=0"});
  expect_text(result.out, "(entrain run " + kSystem + " --set force_side.d1=0 --stop 0.1 --learned l/learned.json)");
}

TEST_F(LearnedRun, of_which_only_a_part_was_learned_fails_with_the_time_reached) {
  const auto result = learn({"--stop", "4", "--iterations", "2", "--progressive", "always"});
  EXPECT_EQ(result.exit_code, 1);
  const auto how = Json::parse(text_of(folder_ / "l/learning.json"));
  const double learned_to = how["learned_to"];
  EXPECT_LT(learned_to, 4.0);
  EXPECT_EQ(how["stop"], 4.0);
  expect_text(result.err, "of 4 s; allow more --iterations");
  expect_text(result.out, " --stop " + how["learned_to"].dump() + " --learned l/learned.json");
  EXPECT_EQ(expect_refused({"--stop", "4"}, 1)["values"]["run_steps"], 4000.0);
  EXPECT_EQ(replay({"--stop", how["learned_to"].dump()}).exit_code, 0);
}

TEST_F(LearnedRun, folder_that_cannot_be_written_is_reported_before_the_first_run) {
  write_text(folder_ / "l", "a file where the folder should be");
  const auto result = learn({"--stop", "0.1"});
  EXPECT_EQ(result.exit_code, 1);
  expect_text(result.err, "'l'");
  EXPECT_EQ(result.out.find("run   0"), std::string::npos) << result.out;
}

}  // namespace learned_run_test
}  // namespace entrain::test
