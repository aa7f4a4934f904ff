#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>

#include "support/scripted_fmus.hpp"

// Isolated FMUs that take their process with them, run by the real program: what is reported, what is left.

namespace entrain {
namespace worker_crash_test {

namespace fs = std::filesystem;

using End = test::ProvokedEnd;

class WorkerCrash : public test::ScriptedFmus {
 protected:
  void write_system(const fs::path& fmu, int mode, const std::string& keys) const {
    ScriptedFmus::write_system(fmu, mode, keys, keys);
  }
  /// Processes that have the folder of the test for their temporary files.
  int workers_left() const {
    int count = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::error_code other;
      if (fs::read_symlink(entry.path() / "exe", other).filename() != "entrain-worker") continue;
      if (test::text_of(entry.path() / "environ").find(temporary_.string()) != std::string::npos) ++count;
    }
    return count;
  }
  /// A run that does not return from a step of an isolated FMU, with both its workers.
  std::unique_ptr<test::Program> hung_program() const {
    write_system(write(test::scripted_description("")), Hang, "isolate = true");
    ::setenv("TMPDIR", temporary_.c_str(), 1);
    auto program = std::make_unique<test::Program>(folder_, std::vector<std::string>{"run", "s.toml", "--out", "out"});
    ::unsetenv("TMPDIR");
    EXPECT_TRUE(test::eventually([&] { return workers_left() == 2 && fs::exists(folder_ / "out/run.json"); }));
    return program;
  }
};

class WorkerEnd : public WorkerCrash, public testing::WithParamInterface<std::tuple<End, const char*>> {};

TEST_P(WorkerEnd, in_a_step_ends_the_run_with_its_rows_and_its_reason) {
  const auto& [end, isolate] = GetParam();
  const std::string timeout = end.mode == Hang ? "timeout = 0.3\n" : "";
  write_system(write(test::scripted_description("")), end.mode, fmt::format("{}isolate = {}", timeout, isolate));
  const auto result = run_here({"run", "s.toml", "--out", "out"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(workers_left(), 0);
  const auto failure = expect_end_in_a_step(end);
  if (end.mode != Throw) {
    test::expect_text(failure["values"]["arguments"], "t = 0.5 s");
  }
  if (end.mode == Segfault) {
    test::expect_text(failure["values"]["said"], "close to the edge");
    // In a process with others it may be theirs.
    const bool alone = std::string(isolate) == "true";
    test::expect_text(failure["remedy"], alone ? "the fault is its own" : "isolate = true");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Every, WorkerEnd,
    testing::Combine(testing::Values(End{Segfault, "segfault", "memory"}, End{Abort, "abort", "abort"},
                                     End{DivideByZero, "division", "arithmetic"}, End{Overflow, "overflow", "stack"},
                                     End{ExitProcess, "exit", "exit"}, End{Throw, "exception", "exception"},
                                     End{Hang, "hang", "timeout"}, End{EndQuietly, "end_quietly", "ended"},
                                     End{Replace, "exec", "ended"}, End{OwnHandler, "own_handler", "ended"},
                                     End{KillItself, "kill", "killed"}),
                     testing::Values("true", "\"suppliers\"")),
    [](const auto& test) {
      return fmt::format("{}_{}", std::get<0>(test.param).name, std::get<1>(test.param)[0] == 't' ? "alone" : "group");
    });

TEST_F(WorkerCrash, when_freed_leaves_a_complete_run_with_a_warning) {
  write_system(write(test::scripted_description("")), CrashWhenFreed, "isolate = true");
  const auto result = run_here({"run", "s.toml", "--out", "out"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(fs::is_empty(temporary_));
  EXPECT_EQ(summary()["termination"], "completed");
  EXPECT_EQ(summary()["warnings"].back()["code"], "fmu-end-failed");
  EXPECT_EQ(summary()["warnings"].back()["values"]["function"], "fmi2FreeInstance");
  EXPECT_TRUE(test::text_of(folder_ / "out" / "results.csv").ends_with("\n1,1,1,1\n"));
}

/// A crash, and a call that exceeds its time.
TEST_F(WorkerCrash, is_followed_by_a_restart_and_the_same_results) {
  const auto fmu = write(test::scripted_description(""));
  write_system(fmu, Normal, "isolate = true");
  ASSERT_NE(run_here({"run", "s.toml", "--out", "whole"}).exit_code, 1);
  for (const auto& [mode, timeout] : {std::pair{CrashOnce, ""}, std::pair{HangOnce, "timeout = 0.3\n"}}) {
    SCOPED_TRACE(mode == CrashOnce ? "crash" : "hang");
    write_system(fmu, mode, fmt::format("{}isolate = true\nrestart = 1", timeout));
    EXPECT_NE(run_here({"run", "s.toml", "--out", "out", "--overwrite"}).exit_code, 1);
    EXPECT_EQ(summary()["termination"], "completed");
    EXPECT_EQ(test::text_of(folder_ / "out" / "results.csv"), test::text_of(folder_ / "whole" / "results.csv"));
    const auto warnings = summary()["warnings"];
    const auto restarted = std::find_if(warnings.begin(), warnings.end(),
                                        [](const auto& warning) { return warning["code"] == "worker-restarted"; });
    ASSERT_NE(restarted, warnings.end());
    EXPECT_EQ((*restarted)["subjects"][0], "part");
    EXPECT_EQ(workers_left(), 0);
  }
}

TEST_F(WorkerCrash, that_repeats_itself_ends_the_run_when_no_restart_is_left) {
  write_system(write(test::scripted_description("")), Segfault, "isolate = true\nrestart = 2");
  EXPECT_EQ(run_here({"run", "s.toml", "--out", "out"}).exit_code, 1);
  EXPECT_EQ(summary()["failure"]["code"], "code-fault");
  EXPECT_TRUE(test::text_of(folder_ / "out" / "results.csv").ends_with("\n0.5,1,1,1\n"));
  EXPECT_TRUE(fs::is_empty(temporary_));
}

TEST_F(WorkerCrash, killed_program_leaves_no_worker) {
  const auto program = hung_program();
  program->send(SIGKILL);
  program->wait();
  EXPECT_TRUE(test::eventually([&] { return workers_left() == 0; }));
}

TEST_F(WorkerCrash, hang_is_ended_by_the_user_with_all_rows) {
  const auto program = hung_program();
  const auto has_all_rows = [&] {
    const auto file = folder_ / "out" / "results.csv";
    return fs::exists(file) && test::text_of(file).ends_with("\n0.5,1,1,1\n");
  };
  ASSERT_TRUE(test::eventually(has_all_rows)) << "on the disk while it hangs";
  program->send(SIGINT);
  EXPECT_EQ(program->wait().exit_code, 1);
  EXPECT_EQ(summary()["termination"], "interrupted");
  EXPECT_TRUE(has_all_rows());
  EXPECT_TRUE(fs::is_empty(temporary_));
  EXPECT_EQ(workers_left(), 0);
}

/// In the process of the run, whose parent sees what the process itself cannot.
class SupervisedEnd : public WorkerCrash, public testing::WithParamInterface<End> {};

TEST_P(SupervisedEnd, in_process_ends_in_exit_code_1_and_a_failed_summary) {
  write_system(write(test::scripted_description("")), GetParam().mode, "");
  const auto result = run_here({"run", "s.toml", "--out", "out"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(summary()["termination"], "failed");
  EXPECT_EQ(summary()["failure"]["code"], "run-process-ended");
}
INSTANTIATE_TEST_SUITE_P(Every, SupervisedEnd,
                         testing::Values(End{EndQuietly, "end_quietly", ""}, End{Replace, "exec", ""},
                                         End{OwnHandler, "own_handler", ""}, End{KillItself, "kill", ""}),
                         [](const auto& test) { return test.param.name; });

TEST_F(WorkerCrash, fmu_for_one_instance_is_used_twice_in_processes_of_their_own) {
  const auto fmu = write(test::scripted_description("canBeInstantiatedOnlyOncePerProcess=\"true\""));
  write_system(fmu, Normal, "");
  EXPECT_NE(run_here({"run", "s.toml", "--out", "out"}).exit_code, 1);
  EXPECT_EQ(summary()["termination"], "completed");
  int unasked = 0;
  const auto notes = summary()["notes"];
  for (const auto& note : notes) unasked += note["code"] == "isolated-unasked" ? 1 : 0;
  EXPECT_EQ(unasked, 2);
  EXPECT_NE(run_here({"check", "s.toml"}).exit_code, 1);
}

}  // namespace worker_crash_test
}  // namespace entrain
