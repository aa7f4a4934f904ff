// Rows reach the disk, whatever ends or stops the run: real processes, and the files that they leave.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "entrain/results.hpp"
#include "record/run_folder.hpp"
#include "support/long_run.hpp"
#include "support/trap_fmus.hpp"

namespace entrain::test {
namespace rows_test {

namespace fs = std::filesystem;

struct Format {
  const char* name;
  const char* file;
};
constexpr Format kFormats[] = {{"csv", "results.csv"}, {"hdf5", "results.h5"}, {"mat", "results.mat"}};

/// The times, which must rise; every value must be one of a run of masses: finite, and not all zero.
std::vector<double> sound_times(const fs::path& run) {
  const auto results = read_results(run);
  if (results.axes.empty()) return {};
  for (const auto& axis : results.axes) {
    for (std::size_t k = 1; k < axis.size(); ++k) EXPECT_LT(axis[k - 1], axis[k]);
  }
  for (const auto& column : results.columns) {
    EXPECT_EQ(column.values.size(), results.axes[column.axis].size());
    for (const double value : column.values) EXPECT_TRUE(std::isfinite(value));
  }
  return results.axes.front();
}

class Rows : public TrappedRun, public testing::WithParamInterface<Format> {
 protected:
  /// Starts the run whose FMU does not return from the step that ends at 0.5 s; the rows before have their time.
  std::unique_ptr<Program> hung_run() {
    write_system("hangs", GetParam().name);
    auto program = std::make_unique<Program>(folder_, arguments());
    EXPECT_TRUE(eventually([&] { return fs::exists(folder_ / "out/run.json"); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(1000));
    return program;
  }
  void expect_rows_before_the_hang() {
    const auto times = sound_times(folder_ / "out");
    ASSERT_EQ(times.size(), 5U) << "t = 0, 0.1 .. 0.4 s";
    EXPECT_DOUBLE_EQ(times.back(), 0.4);
    EXPECT_TRUE(fs::exists(folder_ / "out" / GetParam().file));
  }
};

TEST_P(Rows, of_a_hung_run_that_is_killed_are_there_up_to_the_hang) {
  const auto program = hung_run();
  program->send(SIGKILL);
  EXPECT_EQ(program->wait().end_signal, SIGKILL);
  // The process of the run is a child of the program, and ends with it.
  EXPECT_TRUE(eventually([&] { return !recording::RunFolderLock::is_held(folder_ / "out"); }));
  EXPECT_EQ(summary()["termination"], "running");
  expect_rows_before_the_hang();
}

TEST_P(Rows, of_a_run_under_way_can_be_read_and_are_left_alone) {
  const auto program = hung_run();
  EXPECT_TRUE(recording::RunFolderLock::is_held(folder_ / "out"));
  const auto times = sound_times(folder_ / "out");
  EXPECT_EQ(times.size(), 5U);
  if (std::string(GetParam().name) != "csv") {
    EXPECT_FALSE(fs::exists(folder_ / "out" / GetParam().file)) << "the run makes it itself";
  }
}

TEST_P(Rows, are_completed_by_a_second_control_c_in_a_call_that_does_not_return) {
  const auto program = hung_run();
  program->send(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  program->send(SIGINT);
  const auto result = program->wait();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(summary()["termination"], "interrupted");
  EXPECT_EQ(summary()["failure"]["code"], "ended-at-once");
  EXPECT_EQ(summary()["failure"]["values"]["function"], "fmi2DoStep");
  EXPECT_EQ(summary()["failure"]["subsystem"], "part");
  EXPECT_NE(result.err.find("results up to t = 0.4 s are in out"), std::string::npos) << result.err;
  expect_rows_before_the_hang();
}

/// In the child, before the program begins: no file may grow beyond so many bytes.
ProgramResult run_with_small_files(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
                                   rlim_t bytes) {
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{bytes, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  Program program(folder, arguments);
  ::setrlimit(RLIMIT_FSIZE, &before);
  return program.wait();
}

TEST_P(Rows, beyond_a_full_disk_are_not_invented_and_the_message_names_the_last_one) {
  write_text(folder_ / "system.toml", long_run(1e-4, GetParam().name));
  const auto began = std::chrono::steady_clock::now();
  const auto result = run_with_small_files(folder_, arguments(), 200'000);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20)) << "it is reported at once";
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(summary()["termination"], "failed");
  EXPECT_EQ(summary()["failure"]["code"], "file-failed");
  const auto times = sound_times(folder_ / "out");
  ASSERT_GT(times.size(), 100U);
  const auto results = read_results(folder_ / "out");
  for (const auto& column : results.columns) {
    for (const double value : column.values) ASSERT_GT(value, 0.0) << column.name;  // both populations live
  }
  EXPECT_NE(result.err.find(fmt::format("the results up to t = {:.6g} s are in out", times.back())), std::string::npos)
      << result.err << times.back();
}

INSTANTIATE_TEST_SUITE_P(, Rows, testing::ValuesIn(kFormats),
                         [](const auto& format) { return std::string(format.param.name); });

/// A file system of 2 MiB for the program alone.
TEST(FullDisk, is_written_into_run_json_all_the_same) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "disk");
  const pid_t child = ::fork();
  if (child == 0) {
    const bool made = ::unshare(CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER)) == 0 &&
                      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                      ::mount("tmpfs", (folder / "disk").c_str(), "tmpfs", 0, "size=2m") == 0;
    if (!made) ::_exit(77);
    const auto result = run_program(folder, {"run", examples_folder() + "/mechanical", "--method", "jacobi", "--step",
                                             "1e-5", "--stop", "20", "--out", "disk/out", "--no-estimate"});
    std::error_code missing;  // what is not there, the parent sees; an exception would go on with the other tests here
    fs::copy(folder / "disk/out", folder / "kept", fs::copy_options::recursive, missing);
    ::_exit(result.exit_code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) {
    const char* ci = std::getenv("CI");
    ASSERT_FALSE(ci != nullptr && std::string_view(ci) == "true") << "there it must be tested";
    GTEST_SKIP() << "no user may mount a file system here, and a disk of known size needs one";
  }
  EXPECT_EQ(WEXITSTATUS(status), 1);
  const auto summary = nlohmann::json::parse(text_of(folder / "kept/run.json"));
  EXPECT_EQ(summary["termination"], "failed");
  EXPECT_EQ(summary["failure"]["values"]["why"], "no space left on device");
  EXPECT_GT(sound_times(folder / "kept").size(), 1000U);
  for (const auto& entry : fs::directory_iterator(folder / "kept")) {
    EXPECT_EQ(entry.path().string().find("reserve"), std::string::npos) << entry.path();
  }
}

class EndingSignal : public testing::TestWithParam<int> {};

/// How the program finds SIGHUP when it starts.
class Hangup {
 public:
  explicit Hangup(void (*handler)(int)) : before_(std::signal(SIGHUP, handler)) {}
  ~Hangup() { std::signal(SIGHUP, before_); }
  Hangup(const Hangup&) = delete;
  Hangup& operator=(const Hangup&) = delete;

 private:
  void (*before_)(int);
};

void wait_for_rows(const TemporaryFolder& folder, std::uintmax_t bytes = 10'000) {
  ASSERT_TRUE(eventually([&] {
    std::error_code missing;
    return fs::file_size(folder / "out/results.csv", missing) > bytes && !missing;
  }));
}

TEST_P(EndingSignal, ends_the_run_in_order_with_a_summary) {
  const TemporaryFolder folder;
  const Hangup usual(SIG_DFL);
  Program program(folder, endless_run());
  wait_for_rows(folder);
  program.send(GetParam());
  const auto result = program.wait();
  EXPECT_EQ(result.exit_code, 1);
  const auto summary = nlohmann::json::parse(text_of(folder / "out/run.json"));
  EXPECT_EQ(summary["termination"], "interrupted");
  EXPECT_EQ(sound_times(folder / "out").back(), summary["reached"]);
}

INSTANTIATE_TEST_SUITE_P(, EndingSignal, testing::Values(SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGUSR1, SIGALRM),
                         [](const auto& signal) { return std::string("SIG") + ::sigabbrev_np(signal.param); });

TEST(HangupUnderNohup, leaves_the_run_alone) {
  const TemporaryFolder folder;
  const Hangup ignored(SIG_IGN);
  Program program(folder, endless_run());
  wait_for_rows(folder);
  program.send(SIGHUP);
  wait_for_rows(folder, 2 * fs::file_size(folder / "out/results.csv"));
  program.send(SIGTERM);
  const auto result = program.wait();
  EXPECT_EQ(result.err.find("SIGHUP"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("SIGTERM"), std::string::npos) << result.err;
}

TEST(ProcessorLimit, ends_the_run_in_order_though_the_signal_comes_again) {
  const TemporaryFolder folder;
  rlimit before{};
  ::getrlimit(RLIMIT_CPU, &before);
  const rlimit limit{1, before.rlim_max};
  const auto handler =
      std::signal(SIGXCPU, [](int) {});  // this process may have used more; the program gets the default
  ::setrlimit(RLIMIT_CPU, &limit);
  Program program(folder, endless_run());
  ::setrlimit(RLIMIT_CPU, &before);
  std::signal(SIGXCPU, handler);
  EXPECT_EQ(program.wait().exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(text_of(folder / "out/run.json"))["termination"], "interrupted");
}

class RunFolder : public TrappedRun {
 protected:
  std::string code_of_refusal(const std::vector<std::string>& more) const {
    auto all = more;
    all.insert(all.begin(), "--json");
    const auto result = run(all);
    EXPECT_EQ(result.exit_code, 1);
    return nlohmann::json::parse(result.out)["failure"]["code"];
  }
};

TEST_F(RunFolder, of_a_run_under_way_is_refused_to_a_second_one) {
  write_system("hangs");
  const Program first(folder_, arguments());
  ASSERT_TRUE(eventually([&] { return fs::exists(folder_ / "out/run.json"); }));
  EXPECT_EQ(code_of_refusal({"--overwrite"}), "run-folder-locked");
}

TEST_F(RunFolder, with_a_run_is_overwritten_on_request_only_and_nothing_of_it_stays) {
  write_system("once", "hdf5");
  ASSERT_EQ(run({"--require", "any"}).exit_code, 0);
  for (const char* file :
       {"report.html", "fmu.log", "results.mat.journal", "run.json.1.reserve", "results.h5.1.tmp", "mine.txt"}) {
    write_text(folder_ / "out" / file, "old");
  }
  const auto before = text_of(folder_ / "out/run.json");
  EXPECT_EQ(code_of_refusal({}), "run-folder-taken");
  EXPECT_EQ(text_of(folder_ / "out/run.json"), before);

  write_system("once", "csv");
  ASSERT_EQ(run({"--overwrite", "--require", "any"}).exit_code, 0);
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder_ / "out")) files.push_back(entry.path().filename());
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files, (std::vector<std::string>{"mine.txt", "results.csv", "run.json", "steps.json",
                                             "system.resolved.toml", "timeline.json"}));
}

}  // namespace rows_test
}  // namespace entrain::test
