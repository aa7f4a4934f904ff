#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "support/places.hpp"
#include "support/scripted_fmus.hpp"

// FMUs that take the process with them, run by the real program: its message, its end, its files.

namespace entrain {
namespace fmu_crash_test {

namespace fs = std::filesystem;
using test::expect_text;

struct Crash {
  int mode;  ///< ScriptedMode or Fault
  const char* name;
  const char* message;
};
std::ostream& operator<<(std::ostream& out, const Crash& crash) {
  return out << crash.name;
}

class FmuCrash : public test::ScriptedFmus {
 protected:
  void write_system(const fs::path& fmu, int mode, const std::string& keys = "") const {
    test::write_text(folder_ / "s.toml", fmt::format(R"([run]
stop = 1
step = 0.1
[subsystems.part]
fmu = "{0}"
start = {{ mode = {1} }}
{2}
[subsystems.second]
fmu = "{0}"
[subsystems.third]
fmu = "{0}"
)",
                                                     fmu.filename().string(), mode, keys));
  }
  nlohmann::json summary() const { return nlohmann::json::parse(test::text_of(folder_ / "out" / "run.json")); }
};

class FmuCrashInAStep : public FmuCrash, public testing::WithParamInterface<std::tuple<Crash, int>> {};

TEST_P(FmuCrashInAStep, ends_the_run_in_order) {
  const auto& [crash, threads] = GetParam();
  write_system(write(test::scripted_description("")), crash.mode, crash.mode == Hang ? "timeout = 0.3" : "");
  const auto result = run_here({"run", "s.toml", "--out", "out", "--threads", std::to_string(threads)});
  EXPECT_EQ(result.exit_code, 1);
  const std::string where = fmt::format("subsystem 'part', at t = 0.5 s: FMU '{}' ", (folder_ / "part 1.fmu").string());
  expect_text(result.err, "entrain: " + where + crash.message);
  expect_text(result.err, "entrain: failed; the results up to t = 0.5 s are in out");
  EXPECT_TRUE(fs::is_empty(temporary_));

  const std::string table = test::text_of(folder_ / "out" / "results.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 7);  // the header, and t = 0, 0.1 .. 0.5 s
  EXPECT_TRUE(table.ends_with("\n0.5,1,1,1\n")) << table;
  EXPECT_EQ(summary()["termination"], "failed");
  EXPECT_EQ(summary()["macro_steps"], 5);
  expect_text(summary()["message"], where + crash.message);
}

INSTANTIATE_TEST_SUITE_P(
    Every, FmuCrashInAStep,
    testing::Combine(
        testing::Values(
            Crash{Segfault, "segfault",
                  "crashed in fmi2DoStep (SIGSEGV: it used memory that is not there); its log: '[logStatusError] close "
                  "to "
                  "the edge'. The fault is its own: report it to its vendor"},
            Crash{Abort, "abort",
                  "gave up in fmi2DoStep (SIGABRT: it called abort(), as a failed assertion does). The fault"},
            Crash{DivideByZero, "division", "crashed in fmi2DoStep (SIGFPE: it divided an integer by zero"},
            Crash{Overflow, "overflow",
                  "crashed in fmi2DoStep (SIGSEGV: it ran out of stack, as endless recursion does). Raise"},
            Crash{ExitProcess, "exit", "ended the process in fmi2DoStep: it called exit(). No library may do that"},
            Crash{Throw, "exception", "threw a C++ exception in fmi2DoStep: 'a C++ exception'. No exception may leave"},
            Crash{Hang, "hang", "did not return from fmi2DoStep within 0.3 s. Raise 'timeout' of the subsystem"}),
        testing::Values(1, 4)),
    [](const auto& test) {
      return fmt::format("{}_with_{}_threads", std::get<0>(test.param).name, std::get<1>(test.param));
    });

TEST_F(FmuCrash, before_the_run_is_reported_by_every_command) {
  write_system(write(test::scripted_description("", "crash")), Normal);
  for (const char* command : {"run", "check", "inspect"}) {
    const auto result = run_here({command, "s.toml"});
    EXPECT_EQ(result.exit_code, 1) << command;
    expect_text(result.err, fmt::format("entrain: subsystem 'part': FMU '{}' crashed in fmi2Instantiate (SIGSEGV",
                                        (folder_ / "part 1.fmu").string()));
    EXPECT_TRUE(fs::is_empty(temporary_)) << command;
  }
}

TEST_F(FmuCrash, hang_before_the_run_is_reported) {
  write_system(write(test::scripted_description("", "hang")), Normal, "timeout = 0.2");
  const auto result = run_here({"check", "s.toml"});
  EXPECT_EQ(result.exit_code, 1);
  expect_text(result.err, "did not return from fmi2Instantiate within 0.2 s");
  EXPECT_TRUE(fs::is_empty(temporary_));
}

TEST_F(FmuCrash, after_the_run_leaves_its_results_complete) {
  write_system(write(test::scripted_description("")), CrashWhenFreed);
  const auto result = run_here({"run", "s.toml", "--out", "out"});
  EXPECT_EQ(result.exit_code, 1);
  expect_text(result.err, "crashed in fmi2FreeInstance");
  EXPECT_TRUE(fs::is_empty(temporary_));
  EXPECT_EQ(summary()["termination"], "completed");
  EXPECT_TRUE(test::text_of(folder_ / "out" / "results.csv").ends_with("\n1,1,1,1\n"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which catch signals themselves
TEST_F(FmuCrash, fault_outside_of_fmus_ends_the_process_as_ever) {
  test::Program program(
      folder_, {"run", test::examples_folder() + "/mechanical", "--step", "1e-8", "--stop", "2", "--out", "out"});
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
