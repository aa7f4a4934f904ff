// entrain verify from the command line: messages and exit codes.
#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "support/places.hpp"
#include "support/program.hpp"

namespace entrain::test {
namespace verify_command_test {

class VerifyCommand : public testing::Test {
 protected:
  ProgramResult verify(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"verify", examples_folder() + "/mechanical", "--stop", "0.1"};
    if (std::find(more.begin(), more.end(), "--method") == more.end()) {
      arguments.insert(arguments.end(), {"--method", "jacobi"});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(folder_, arguments);
  }
  TemporaryFolder folder_;
};

TEST_F(VerifyCommand, output_beyond_the_tolerance_is_named) {
  const auto result = verify({"--step", "1e-4", "--tolerance", "1e-9"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.err.find("left.x exceeds the tolerance: "), std::string::npos) << result.err;
  EXPECT_NE(result.err.find(" % > 1e-07 % of its range"), std::string::npos) << result.err;
  const auto within = verify({"--step", "1e-4", "--tolerance", "0.5"});
  EXPECT_EQ(within.exit_code, 0);
  EXPECT_EQ(within.err, "");
  EXPECT_EQ(verify({"--step", "1e-4", "--tolerance", "1e-9", "--require", "any"}).exit_code, 0);
}

TEST_F(VerifyCommand, tolerance_is_a_share_of_the_range) {
  for (const char* wrong : {"-1", "0", "nan", "inf", "2"}) {
    const auto result = verify({"--tolerance", wrong});
    EXPECT_EQ(result.exit_code, 2) << wrong;
    EXPECT_NE(result.err.find("run.tolerance"), std::string::npos) << result.err;
  }
  EXPECT_EQ(verify({"--tolerance", "small"}).exit_code, 2);
}

TEST_F(VerifyCommand, step_beyond_stability_fails_with_the_reason) {
  const auto result = run_program(folder_, {"verify", examples_folder() + "/oscillator", "--method", "gauss-seidel",
                                            "--step", "12", "--stop", "480"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.out.find("step too long: with 12 s the error outgrows"), std::string::npos) << result.out;
}

TEST_F(VerifyCommand, ends_with_the_grade_and_what_decides_it) {
  const auto last_line = [](const std::string& text) { return text.substr(text.rfind('\n', text.size() - 2) + 1); };
  EXPECT_TRUE(last_line(verify({"--step", "1e-4"}).out).starts_with("verdict: Trusted: error at most "));
  EXPECT_TRUE(last_line(verify({"--step", "1e-4", "--tolerance", "1e-9"}).out).starts_with("verdict: Unreliable: "));
  const auto unstable = run_program(folder_, {"verify", examples_folder() + "/oscillator", "--method", "gauss-seidel",
                                              "--step", "12", "--stop", "480"});
  EXPECT_NE(last_line(unstable.out).find("outgrows its motion"), std::string::npos) << unstable.out;
}

TEST_F(VerifyCommand, method_chosen_by_auto_is_reported) {
  const auto result = verify({"--method", "auto", "--step", "1e-3", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_NE(json["method"], "auto");
  EXPECT_EQ(json["outputs"]["left.x"]["unit"], "m");
}

}  // namespace verify_command_test
}  // namespace entrain::test
