// The bench from the command line: rig, run and control as processes, and what is left when one of them ends.
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <numeric>

#include "entrain/control.hpp"
#include "entrain/results.hpp"
#include "support/bench.hpp"
#include "support/facts.hpp"
#include "support/program.hpp"

namespace entrain {
namespace real_time_test {

nlohmann::json json_in(const std::filesystem::path& file) {
  return nlohmann::json::parse(test::text_of(file));
}

/// A system file of the bench in the folder, and the two commands.
struct Bench {
  explicit Bench(const std::string& link = test::udp_link("timeout = 5.0"),
                 const std::string& run = "stop = 0.5\nstep = 0.01\nreal_time = 1.0") {
    test::write_text(folder / "bench.toml", test::bench_text(link, run));
    std::filesystem::create_directories(rig_folder.path());
  }
  std::string file() const { return (folder / "bench.toml").string(); }
  std::vector<std::string> run_arguments(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"run", file(), "--out", "out", "--require", "any"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::vector<std::string> rig_arguments(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"rig", file(), "--subsystem", "right", "--patience", "60"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  bool rig_listens() const {
    return test::eventually(
        [&] { return test::text_of(rig_folder / "stdout.txt").find("listens") != std::string::npos; });
  }
  /// The run has written rows.
  bool run_goes_on() const {
    return test::eventually([&] {
      std::error_code unknown;
      return std::filesystem::exists(folder / "out" / kControlSocket, unknown) &&
             std::filesystem::file_size(folder / "out/results.csv", unknown) > 200 && !unknown;
    });
  }

  test::TemporaryFolder folder;
  test::TemporaryFolder rig_folder;
};

TEST(BenchCommands, rig_and_run_meet_and_count_the_same_datagrams) {
  const Bench bench;
  test::Program rig(bench.rig_folder,
                    bench.rig_arguments({"--loss", "0.1", "--delay", "0.1ms", "--log", "arrivals.csv"}));
  ASSERT_TRUE(bench.rig_listens());
  const auto run = test::run_program(bench.folder, bench.run_arguments());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto played = rig.wait();
  EXPECT_EQ(played.exit_code, 0) << played.err;
  const auto json = json_in(bench.folder / "out/run.json");
  EXPECT_EQ(json["verdict"]["grade"], "unknown");
  EXPECT_EQ(json["pacing"]["steps"], 50);
  const auto& counted = json["subsystems"]["right"]["datagrams"];
  EXPECT_NE(played.out.find("sent " + std::to_string(counted["received"].get<int>()) + ","), std::string::npos)
      << played.out << counted;
  const std::string arrivals = test::text_of(bench.rig_folder / "arrivals.csv");
  EXPECT_EQ(std::count(arrivals.begin(), arrivals.end(), '\n'), 51);  // a header and 50 steps
}

TEST(BenchCommands, stand_in_needs_no_rig) {
  const Bench bench(test::udp_link("timeout = 0.5"));
  const auto run = test::run_program(bench.folder, bench.run_arguments({"--stand-in", "--real-time=100"}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json_in(bench.folder / "out/run.json")["pacing"]["factor"], 100.0);
}

TEST(BenchCommands, killed_rig_ends_the_run_with_its_rows) {
  const Bench bench(test::udp_link("timeout = 0.3"), "stop = 1000.0\nstep = 0.01\nreal_time = 1.0");
  test::Program rig(bench.rig_folder, bench.rig_arguments());
  ASSERT_TRUE(bench.rig_listens());
  test::Program run(bench.folder, bench.run_arguments());
  ASSERT_TRUE(bench.run_goes_on());
  rig.send(SIGKILL);
  rig.wait();
  const auto ended = run.wait();
  EXPECT_EQ(ended.exit_code, 1);
  const auto json = json_in(bench.folder / "out/run.json");
  EXPECT_EQ(json["termination"], "failed");
  EXPECT_EQ(json["failure"]["code"], "rig-silent");
  const auto results = read_results(bench.folder / "out");
  EXPECT_GT(results.axes[0].size(), 5U);
  EXPECT_NEAR(results.axes[0].back(), json["reached"].get<double>(), 0.011);
  EXPECT_FALSE(std::filesystem::exists(bench.folder / "out" / kControlSocket));
}

TEST(BenchCommands, killed_run_keeps_its_rows_and_its_folder_can_be_used_again) {
  const Bench bench(test::udp_link("timeout = 5.0"), "stop = 1000.0\nstep = 0.01\nreal_time = 1.0");
  {
    test::Program rig(bench.rig_folder, bench.rig_arguments());
    ASSERT_TRUE(bench.rig_listens());
    test::Program run(bench.folder, bench.run_arguments());
    ASSERT_TRUE(bench.run_goes_on());
    run.send(SIGKILL);
    run.wait();
  }
  EXPECT_GT(read_results(bench.folder / "out").axes[0].size(), 5U);
  const auto refused = test::run_program(bench.folder, {"control", "out", "status"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("no run goes on there"), std::string::npos) << refused.err;
  const auto again = test::run_program(
      bench.folder, bench.run_arguments({"--overwrite", "--stand-in", "--real-time=1e6", "--stop", "0.5"}));
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST(BenchCommands, control_pauses_changes_watches_and_stops_a_run) {
  const Bench bench(test::udp_link("timeout = 5.0"), "stop = 1000.0\nstep = 0.01\nreal_time = 1.0");
  test::Program run(bench.folder, bench.run_arguments({"--stand-in", "--quiet"}));
  ASSERT_TRUE(bench.run_goes_on());
  const auto control = [&](const std::vector<std::string>& words) {
    std::vector<std::string> arguments{"control", (bench.folder / "out").string()};
    arguments.insert(arguments.end(), words.begin(), words.end());
    return test::run_program(bench.rig_folder, arguments);
  };
  EXPECT_EQ(control({"pause"}).out.substr(0, 6), "paused");
  EXPECT_EQ(control({"step", "2"}).exit_code, 0);
  EXPECT_EQ(control({"set", "left.c1=20", "left.d1=0.5"}).exit_code, 0);
  EXPECT_EQ(control({"set", "left.c1"}).exit_code, 2);
  EXPECT_EQ(control({"set", "left.c9=1"}).exit_code, 1);
  EXPECT_EQ(control({"dance"}).exit_code, 2);
  EXPECT_EQ(control({"step", "x"}).exit_code, 2);
  EXPECT_EQ(control({"resume"}).out.substr(0, 7), "running");
  EXPECT_EQ(control({"stop"}).out, "stopped\n");
  EXPECT_EQ(run.wait().exit_code, 1);
  const auto json = json_in(bench.folder / "out/run.json");
  EXPECT_EQ(json["termination"], "interrupted");
  ASSERT_EQ(json["changes"].size(), 2U);
  EXPECT_EQ(json["changes"][1]["variable"], "left.d1");
}

TEST(BenchCommands, interruption_in_a_pause_keeps_the_rows) {
  const Bench bench(test::udp_link("timeout = 5.0"), "stop = 1000.0\nstep = 0.01\nreal_time = 1.0");
  test::Program run(bench.folder, bench.run_arguments({"--stand-in"}));
  ASSERT_TRUE(bench.run_goes_on());
  const auto at = RunControl(bench.folder / "out").pause();
  run.send(SIGINT);
  EXPECT_EQ(run.wait().exit_code, 1);
  const auto results = read_results(bench.folder / "out");
  EXPECT_NEAR(results.axes[0].back(), at.time, 1e-9);
  EXPECT_EQ(json_in(bench.folder / "out/run.json")["termination"], "interrupted");
}

TEST(BenchCommands, wrong_arguments_are_wrong_usage) {
  const Bench bench;
  const auto code = [&](const std::vector<std::string>& arguments) {
    return test::run_program(bench.folder, arguments).exit_code;
  };
  EXPECT_EQ(code({"run", bench.file(), "--real-time=0"}), 2);
  EXPECT_EQ(code({"run", bench.file(), "--real-time=fast"}), 2);
  EXPECT_EQ(code({"run", bench.file(), "--overrun", "later"}), 2);
  EXPECT_EQ(code({"rig", bench.file()}), 2);
  EXPECT_EQ(code({"rig", bench.file(), "--subsystem", "right", "--loss", "1.5"}), 2);
  EXPECT_EQ(code({"rig", bench.file(), "--subsystem", "left"}), 1);
  EXPECT_EQ(code({"control", "nowhere", "status"}), 1);
  EXPECT_EQ(code({"verify", bench.file()}), 1);
}

}  // namespace real_time_test
}  // namespace entrain
