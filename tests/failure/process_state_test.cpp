// FMUs that change the process they run in: everyone else's results stay the same bits, and the run ends in order.
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/trap_fmus.hpp"

namespace entrain::test {
namespace process_state_test {

namespace fs = std::filesystem;

class ProcessChange : public TrappedRun, public testing::WithParamInterface<const char*> {
 protected:
  /// German numbers, in a folder of the test: the machine need not have them.
  void make_locale() const {
    const std::string to = (folder_ / "de_DE.UTF-8").string();
    ASSERT_EQ(std::system(("localedef -c -i de_DE -f UTF-8 '" + to + "' >/dev/null 2>&1").c_str()), 0);
    ::setenv("LOCPATH", folder_.path().c_str(), 1);
  }
  std::string results() const { return text_of(folder_ / "out/results.csv"); }
};

/// In the middle of the run, and before its first step.
TEST_P(ProcessChange, is_put_back_and_leaves_the_results_of_others_as_they_are) {
  if (std::string(GetParam()) == "german") make_locale();
  write_system("once");
  ASSERT_EQ(run({"--require", "any"}).exit_code, 0);
  const auto expected = results();
  const auto steps = text_of(folder_ / "out/steps.json");
  for (const std::string when : {"", "early_"}) {
    SCOPED_TRACE(when);
    write_system(when + GetParam());
    const auto result = run({"--overwrite", "--require", "any"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(results(), expected);
    EXPECT_EQ(text_of(folder_ / "out/steps.json"), steps);
    EXPECT_EQ(summary()["termination"], "completed");
    EXPECT_NE(result.out.find("results: out/results.csv"), std::string::npos) << result.out;
  }
  ::unsetenv("LOCPATH");
}

INSTANTIATE_TEST_SUITE_P(, ProcessChange,
                         testing::Values("rounds", "flushes", "trapped", "blocks", "handles", "german", "moves",
                                         "reopens"),
                         [](const auto& trap) { return std::string(trap.param); });

class ProcessFault : public TrappedRun {};

TEST_F(ProcessFault, closed_files_fail_the_run_and_no_row_goes_to_a_file_of_the_fmu) {
  write_system("closes");
  const auto result = run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("closed"), std::string::npos) << "what is said of it was closed as well: " << result.err;
  EXPECT_EQ(summary()["termination"], "failed");
  EXPECT_EQ(summary()["failure"]["code"], "descriptor-taken");
  EXPECT_EQ(text_of(folder_ / "taken.txt").find("0.6,"), std::string::npos);
}

TEST_F(ProcessFault, end_of_the_thread_is_reported_with_the_results_so_far) {
  write_system("ends_thread");
  EXPECT_EQ(run().exit_code, 1);
  EXPECT_EQ(summary()["termination"], "failed");
  EXPECT_EQ(summary()["failure"]["values"]["fault"], "thread-end");
  EXPECT_EQ(summary()["failure"]["subsystem"], "part");
  EXPECT_NE(text_of(folder_ / "out/results.csv").find("\n0.4,"), std::string::npos);
}

TEST_F(ProcessFault, crash_of_a_thread_of_the_fmu_is_reported_with_the_results_so_far) {
  write_system("crashing_thread");
  EXPECT_EQ(run().exit_code, 1);
  EXPECT_EQ(summary()["termination"], "failed");
  EXPECT_EQ(summary()["failure"]["values"]["fault"], "memory");
  EXPECT_NE(text_of(folder_ / "out/results.csv").find("\n0.4,"), std::string::npos);
}

TEST_F(ProcessFault, printed_text_goes_to_the_log_and_json_stays_json) {
  write_system("prints");
  for (const char* where : {"--no-estimate", "--isolate"}) {
    const auto result = run({"--json", "--require", "any", "--overwrite", where});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(nlohmann::json::parse(result.out)["termination"], "completed");
    EXPECT_EQ(result.err, "");
    const auto log = text_of(folder_ / "out/fmu.log");
    EXPECT_NE(log.find("{ to the output\nof the process\n"), std::string::npos) << where << log;
    EXPECT_NE(log.find("{ to the errors\nof the process\n"), std::string::npos) << where << log;
  }
}

}  // namespace process_state_test
}  // namespace entrain::test
