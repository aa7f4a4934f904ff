// FMUs of strangers: what they reach for in a sandbox, and what they get.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "entrain/results.hpp"
#include "entrain/system.hpp"
#include "support/archives.hpp"
#include "support/facts.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/scripted_fmus.hpp"
#include "worker/mailbox.hpp"

namespace entrain {
namespace sandbox_test {

namespace fs = std::filesystem;

/// The outputs of tests/support/grasping_fmu.c.
constexpr std::array kTries{"socket",    "process", "program", "read_outside", "write_outside", "read_own",
                            "write_own", "scratch", "thread",  "environment",  "memory",        "cut",
                            "files",     "shared",  "memfd",   "zero",         "longer",        "descriptors"};

std::string grasping_description() {
  std::string variables;
  std::string outputs;
  for (std::size_t i = 0; i < kTries.size(); ++i) {
    variables +=
        fmt::format(R"(<ScalarVariable name="{}" valueReference="{}" causality="output"><Real/></ScalarVariable>)",
                    kTries[i], i + 1);
    outputs += fmt::format(R"(<Unknown index="{}" dependencies=""/>)", i + 1);
  }
  return fmt::format(R"(<fmiModelDescription fmiVersion="2.0" modelName="grasping" guid="grasping">
  <CoSimulation modelIdentifier="grasping" canHandleVariableCommunicationStepSize="true"/>
  <ModelVariables>{}</ModelVariables>
  <ModelStructure><Outputs>{}</Outputs></ModelStructure>
</fmiModelDescription>)",
                     variables, outputs);
}

class Sandbox : public test::ScriptedFmus {
 protected:
  static void SetUpTestSuite() { ::setenv("ENTRAIN_TEST_SECRET", "secret", 1); }
  static void TearDownTestSuite() { ::unsetenv("ENTRAIN_TEST_SECRET"); }

  void write_grasping(const std::string& keys, const std::vector<test::ArchiveEntry>& more = {}) const {
    std::vector<test::ArchiveEntry> entries{
        {"modelDescription.xml", grasping_description()},
        {"binaries/linux64/grasping.so", test::text_of(test::grasping_fmu_library())},
        {"resources/own.txt", (folder_ / "others.txt").string()}};
    test::write_text(folder_ / "others.txt", "secret");
    entries.insert(entries.end(), more.begin(), more.end());
    test::write_archive(folder_ / "stranger.fmu", entries);
    test::write_text(folder_ / "s.toml", fmt::format("[run]\nstop = 0.2\nstep = 0.1\nmethod = \"jacobi\"\n"
                                                     "[subsystems.stranger]\nfmu = \"stranger.fmu\"\n{}\n",
                                                     keys));
  }
  test::ProgramResult run(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"run", "s.toml", "--out", "out", "--overwrite", "--no-estimate", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto result = run_here(arguments);
    EXPECT_TRUE(fs::is_empty(temporary_));
    return result;
  }
  double got(const std::string& what) const {
    const auto results = read_results(folder_ / "out");
    const auto* column = results.find("stranger." + what);
    return column == nullptr || column->values.empty() ? 0.0 : column->values.back();
  }
  /// The code of the problem that it was refused for.
  static std::string refusal(const test::ProgramResult& result) {
    const auto failure = test::failure_in(result.out);
    return failure["values"].value("of", failure.value("code", ""));
  }
};

TEST_F(Sandbox, gives_an_fmu_its_own_files_a_scratch_folder_and_threads_and_nothing_else) {
  write_grasping("sandbox = true\nmemory_limit = 300");
  const auto result = run();
  ASSERT_EQ(result.exit_code, 0) << result.err << result.out;
  EXPECT_EQ(got("socket"), -EPERM);
  EXPECT_EQ(got("process"), -EPERM);
  EXPECT_EQ(got("program"), -EPERM);
  EXPECT_EQ(got("read_outside"), -ENOENT);
  EXPECT_LT(got("write_outside"), 0.0);
  EXPECT_EQ(got("read_own"), 1.0);
  EXPECT_EQ(got("write_own"), -EROFS);
  EXPECT_EQ(got("scratch"), 1.0);
  EXPECT_EQ(got("thread"), 1.0);
  EXPECT_EQ(got("environment"), -ENOENT);
  EXPECT_GT(got("memory"), 100.0);
  EXPECT_LT(got("memory"), 300.0);
  EXPECT_EQ(got("cut"), -EPERM);
}

/// RLIMIT_DATA counts none of it.
TEST_F(Sandbox, limits_memory_that_is_no_data) {
  write_grasping("sandbox = true\nmemory_limit = 300");
  ASSERT_EQ(run().exit_code, 0);
  EXPECT_GT(got("files"), 200.0);
  EXPECT_LE(got("files"), 300.0);
  for (const char* what : {"shared", "memfd", "zero", "longer"}) EXPECT_EQ(got(what), 0.0) << what;
  EXPECT_GT(got("descriptors"), 900.0);
  EXPECT_LE(got("descriptors"), 1024.0);
}

/// A library can do its worst when it is loaded.
TEST_F(Sandbox, can_be_asked_for_by_every_verb_that_loads_an_fmu) {
  const std::vector<std::vector<std::string>> verbs{{"check", "s.toml"},
                                                    {"check", "stranger.fmu"},
                                                    {"inspect", "s.toml"},
                                                    {"inspect", "stranger.fmu"},
                                                    {"inspect", "stranger.fmu", "--initial"},
                                                    {"run", "s.toml", "--out", "out", "--overwrite"},
                                                    {"verify", "s.toml"},
                                                    {"advise", "s.toml"},
                                                    {"advise", "s.toml", "--verify"},
                                                    {"learn", "s.toml", "--out", "learned"},
                                                    {"new", "made", "stranger.fmu"},
                                                    {"run", "wrong.toml"},
                                                    {"convert", "wrong.toml", "converted.ssp"}};
  const auto marked = [&](std::vector<std::string> verb, bool sandbox) {
    write_grasping("");
    test::write_text(folder_ / "wrong.toml", test::text_of(folder_ / "s.toml") + "mistyped = 1\n");
    fs::remove_all(folder_ / "made");
    if (sandbox) verb.emplace_back("--sandbox");
    const auto result = run_here(verb);
    EXPECT_NE(result.exit_code, 2) << result.err;
    return test::text_of(folder_ / "others.txt") != "secret";
  };
  for (const auto& verb : verbs) {
    EXPECT_TRUE(marked(verb, false)) << verb[0] << ' ' << verb[1] << ": this verb loads nothing";
    EXPECT_FALSE(marked(verb, true)) << verb[0] << ' ' << verb[1];
  }
}

/// Variables are in the description: no code is needed to know them.
TEST_F(Sandbox, is_not_needed_to_convert) {
  write_grasping("");
  ASSERT_EQ(run_here({"convert", "s.toml", "system.ssp"}).exit_code, 0);
  EXPECT_EQ(test::text_of(folder_ / "others.txt"), "secret");
}

TEST_F(Sandbox, is_written_by_new) {
  write_grasping("");
  ASSERT_EQ(run_here({"new", "made", "stranger.fmu", "--sandbox"}).exit_code, 0);
  const auto made = load(folder_ / "made");
  ASSERT_TRUE(made.sandbox);
  EXPECT_TRUE(made.sandbox->value);
}

/// What the worker shares with the run is read by a process without a sandbox.
TEST_F(Sandbox, damage_of_the_shared_memory_is_a_fault_of_the_fmu) {
  const auto memory = [](std::size_t offset, std::uint64_t value) { return fmt::format("\n{} {}", offset, value); };
  const std::string box = fmt::format("memory {}", offsetof(worker::Mailbox, from));
  constexpr std::size_t kThrew = offsetof(worker::Mailbox, readings);  // and the byte of `threw`, to 1
  static_assert(offsetof(worker::Mailbox, threw) == kThrew + 3);
  constexpr std::uint64_t kSet = 1 << 24;
  const std::string used = memory(offsetof(worker::Mailbox, bytes_used), std::uint64_t{1} << 40);
  const std::string offset = memory(offsetof(worker::Mailbox, bytes), 0);
  const std::string size = memory(offsetof(worker::Mailbox, bytes) + 8, std::uint64_t{1} << 40);
  const std::string threw = memory(kThrew, kSet);
  for (const auto& damage : {box + used + threw, box + offset + size + used + threw, std::string("frame")}) {
    write_grasping("sandbox = true", {{"resources/damage.txt", damage}});
    const auto result = run();
    EXPECT_EQ(result.exit_code, 1) << damage << result.err;
    const auto failure = summary()["failure"];
    EXPECT_EQ(failure["code"], "code-fault") << damage;
    EXPECT_EQ(failure["values"]["fault"], "damage") << damage;
    EXPECT_TRUE(failure["values"].value("function", "").starts_with("fmi2")) << damage;  // the latest one
    EXPECT_EQ(failure["subsystem"], "stranger") << damage;
  }
}

/// 139 is also what a shell says of a crash.
TEST_F(Sandbox, exit_code_is_no_crash) {
  write_grasping("sandbox = true", {{"resources/damage.txt", "exit 139"}});
  EXPECT_EQ(run().exit_code, 1);
  EXPECT_EQ(summary()["failure"]["values"]["fault"], "ended");
}

TEST_F(Sandbox, is_what_keeps_these_things_from_it) {
  write_grasping("isolate = true");
  ASSERT_EQ(run().exit_code, 0);
  for (const char* what : {"socket", "process", "program", "read_outside", "write_outside", "write_own", "environment"})
    EXPECT_EQ(got(what), 1.0) << what;
  EXPECT_EQ(got("memory"), 512.0);
}

TEST_F(Sandbox, for_all_fmus_of_a_run) {
  write_grasping("");
  ASSERT_EQ(run({"--sandbox"}).exit_code, 0);
  EXPECT_EQ(got("socket"), -EPERM);
  write_grasping("sandbox = false");
  ASSERT_EQ(run({"--sandbox"}).exit_code, 0);
  EXPECT_EQ(got("socket"), -EPERM) << "the command line comes first";
  test::write_text(folder_ / "s.toml",
                   "[run]\nstop = 0.2\nstep = 0.1\nmethod = \"jacobi\"\nsandbox = true\n"
                   "[subsystems.stranger]\nfmu = \"stranger.fmu\"\n"
                   "[subsystems.left]\nmodel = \"mechanical.left\"\nstart = { F = 1.0 }\n");
  const auto result = run();
  ASSERT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(got("socket"), -EPERM);
}

TEST_F(Sandbox, memory_is_limited_without_one_too) {
  write_grasping("isolate = true\nmemory_limit = 200");
  ASSERT_EQ(run().exit_code, 0);
  EXPECT_LT(got("memory"), 200.0);
  EXPECT_EQ(got("socket"), 1.0);
}

TEST_F(Sandbox, crash_in_it_is_reported_as_in_any_worker) {
  const auto fmu = write(test::scripted_description(""));
  for (const int mode : {Segfault, KillItself, EndQuietly}) {
    test::write_text(folder_ / "s.toml", fmt::format("[run]\nstop = 1\nstep = 0.1\n[subsystems.part]\nfmu = \"{}\"\n"
                                                     "start = {{ mode = {} }}\nsandbox = true\n",
                                                     fmu.filename().string(), mode));
    EXPECT_EQ(run().exit_code, 1);
    const auto failure = summary()["failure"];
    EXPECT_EQ(failure["code"], "code-fault");
    EXPECT_EQ(failure["values"]["fault"], mode == Segfault ? "memory" : mode == KillItself ? "killed" : "ended");
    EXPECT_EQ(failure["values"]["function"], "fmi2DoStep");
    EXPECT_EQ(failure["subsystem"], "part");
    EXPECT_TRUE(test::text_of(folder_ / "out" / "results.csv").ends_with("\n0.5,1\n"));
  }
}

TEST_F(Sandbox, refuses_fmus_that_need_processes_by_name) {
  write_grasping("sandbox = true", {{"resources/launch.toml", "[command]\nlinux = [\"python3\", \"backend.py\"]\n"}});
  const auto result = run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(refusal(result), "sandbox-refused");
  EXPECT_EQ(test::failure_in(result.out)["subjects"][0], "stranger");
}

TEST_F(Sandbox, is_a_process_of_its_own) {
  write_grasping("sandbox = true\nisolate = false");
  EXPECT_EQ(refusal(run()), "sandbox-in-process");
}

/// A machine without bubblewrap, and one whose kernel forbids what it does.
TEST_F(Sandbox, that_cannot_be_made_is_an_error_that_names_the_reason) {
  write_grasping("sandbox = true");
  const std::string path = ::getenv("PATH");
  fs::create_directory(folder_ / "bin");
  ::setenv("PATH", (folder_ / "bin").c_str(), 1);
  auto result = run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(refusal(result), "sandbox-unavailable");
  test::expect_text(result.err, "bubblewrap");

  test::write_text(folder_ / "bin" / "bwrap",
                   "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n");
  ::chmod((folder_ / "bin" / "bwrap").c_str(), 0700);
  result = run();
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(refusal(result), "sandbox-unavailable");
  test::expect_text(result.err, "No permissions to create new namespace");
}

TEST_F(Sandbox, that_is_killed_while_it_starts_is_not_blamed_on_the_machine) {
  write_grasping("sandbox = true");
  const std::string path = ::getenv("PATH");
  fs::create_directory(folder_ / "bin");
  test::write_text(folder_ / "bin" / "bwrap", "#!/bin/sh\nkill -ABRT $$\n");
  ::chmod((folder_ / "bin" / "bwrap").c_str(), 0700);
  ::setenv("PATH", ((folder_ / "bin").string() + ":" + path).c_str(), 1);
  const auto result = run();
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(refusal(result), "code-fault");
  test::expect_text(result.err, "SIGABRT");
}

TEST_F(Sandbox, memory_limit_without_a_process_is_a_warning) {
  test::write_text(folder_ / "s.toml",
                   "[run]\nstop = 1\nstep = 0.1\n[subsystems.left]\nmodel = \"mechanical.left\"\n"
                   "start = { F = 1.0 }\nmemory_limit = 200\n");
  ASSERT_EQ(run().exit_code, 0);
  const auto warnings = summary()["warnings"];
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0]["code"], "memory-limit-not-isolated");
  EXPECT_EQ(warnings[0]["subjects"][0], "left");
}

}  // namespace sandbox_test
}  // namespace entrain
