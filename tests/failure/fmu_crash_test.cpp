#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/sanitized.hpp"
#include "support/long_run.hpp"
#include "support/scripted_fmus.hpp"

// FMUs that take the process with them, run by the real program: its message, its end, its files.

namespace entrain {
namespace fmu_crash_test {

namespace fs = std::filesystem;
using test::expect_text;

using Crash = test::ProvokedEnd;

class FmuCrash : public test::ScriptedFmus {};

class FmuCrashInAStep : public FmuCrash, public testing::WithParamInterface<std::tuple<Crash, int>> {};

TEST_P(FmuCrashInAStep, ends_the_run_in_order) {
  const auto& [crash, threads] = GetParam();
  write_system(write(test::scripted_description("")), crash.mode, crash.mode == Hang ? "timeout = 0.3" : "");
  const auto result = run_here({"run", "s.toml", "--out", "out", "--threads", std::to_string(threads)});
  EXPECT_EQ(result.exit_code, 1);
  expect_text(result.err, (folder_ / "part 1.fmu").string());
  expect_text(result.err, "t = 0.5 s are in out");
  const auto failure = expect_end_in_a_step(crash);
  const auto remedy = failure["remedy"].get<std::string>();
  EXPECT_FALSE(remedy.empty());
  EXPECT_EQ(remedy.find("fault is its own"), std::string::npos) << "other code is in the process, too";
}

INSTANTIATE_TEST_SUITE_P(
    Every, FmuCrashInAStep,
    testing::Combine(testing::Values(Crash{Segfault, "segfault", "memory"}, Crash{Abort, "abort", "abort"},
                                     Crash{DivideByZero, "division", "arithmetic"},
                                     Crash{Overflow, "overflow", "stack"}, Crash{ExitProcess, "exit", "exit"},
                                     Crash{Throw, "exception", "exception"}, Crash{Hang, "hang", "timeout"}),
                     testing::Values(1, 4)),
    [](const auto& test) {
      return fmt::format("{}_with_{}_threads", std::get<0>(test.param).name, std::get<1>(test.param));
    });

/// Which is found where its claims are tried, in a worker: also what the process itself could not report.
TEST_F(FmuCrash, before_the_run_is_reported_by_every_command) {
  for (const auto& [guid, end] : {std::pair("crash", "SIGSEGV"), std::pair("quiet", "exit code 0")}) {
    const auto fmu = write(test::scripted_description("", guid));
    write_system(fmu, Normal);
    for (const char* command : {"run", "check", "inspect"}) {
      const auto result = run_here({command, "s.toml"});
      EXPECT_EQ(result.exit_code, 1) << command;
      for (const auto& name : {std::string("'part'"), fmu.string(), std::string("fmi2Instantiate"), std::string(end)}) {
        expect_text(result.err, name);
      }
      EXPECT_TRUE(fs::is_empty(temporary_)) << command;
    }
  }
}

TEST_F(FmuCrash, hang_before_the_run_is_reported) {
  write_system(write(test::scripted_description("", "hang")), Normal, "timeout = 0.2");
  const auto result = run_here({"check", "s.toml"});
  EXPECT_EQ(result.exit_code, 1);
  expect_text(result.err, "fmi2Instantiate");
  expect_text(result.err, "0.2 s");
  EXPECT_TRUE(fs::is_empty(temporary_));
}

TEST_F(FmuCrash, after_the_run_leaves_its_results_complete) {
  write_system(write(test::scripted_description("")), CrashWhenFreed);
  const auto result = run_here({"run", "s.toml", "--out", "out"});
  EXPECT_EQ(result.exit_code, 1);
  expect_text(result.err, "fmi2FreeInstance");
  EXPECT_TRUE(fs::is_empty(temporary_));
  EXPECT_EQ(summary()["termination"], "completed");
  EXPECT_TRUE(test::text_of(folder_ / "out" / "results.csv").ends_with("\n1,1,1,1\n"));
}

#ifndef ENTRAIN_SANITIZED  // which catch signals themselves
TEST_F(FmuCrash, fault_outside_of_fmus_ends_the_process_as_ever) {
  test::Program program(folder_, test::endless_run());
  ASSERT_TRUE(test::eventually([&] { return fs::exists(folder_ / "out" / "run.json"); }));
  program.send(SIGSEGV);
  EXPECT_EQ(program.wait().end_signal, SIGSEGV);
}
#endif

TEST_F(FmuCrash, json_is_printed_as_well) {
  write_system(write(test::scripted_description("")), Segfault);
  const auto result = run_here({"run", "s.toml", "--out", "out", "--json"});
  EXPECT_EQ(nlohmann::json::parse(result.out)["termination"], "failed");
}

}  // namespace fmu_crash_test
}  // namespace entrain
