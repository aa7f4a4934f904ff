// `entrain sweep` by the real program: its table, wrong sweeps, crashes, kills, shards.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "base/csv.hpp"
#include "support/scripted_fmus.hpp"

namespace entrain {
namespace sweep_command_test {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class SweepCommand : public test::ScriptedFmus {
 protected:
  static Words with(Words first, const Words& more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
  }
  /// A short run of lotka_volterra.
  static Words sweep_words(const Words& more, const char* step = "0.1") {
    return with({"sweep", test::examples_folder() + "/lotka_volterra", "--method", "jacobi", "--step", step, "--stop",
                 "2", "--quantity", "prey.p"},
                more);
  }
  /// The same in cases of milliseconds, so that the sweep still goes on when a test has seen its first rows.
  static Words slow_sweep_words(const Words& more) { return sweep_words(more, "0.0005"); }
  test::ProgramResult sweep(const Words& more) const { return run_here(sweep_words(more)); }

  /// Rows without their seconds, which differ from run to run.
  std::vector<Words> rows(const std::string& folder) const {
    const std::string text = test::text_of(folder_ / folder / "cases.csv");
    std::string_view rest = text;
    std::vector<Words> found;
    while (auto record = base::take_csv_record(rest)) {
      if (!found.empty() && record->size() != found.front().size()) continue;  // being written
      found.push_back(std::move(*record));
    }
    if (found.empty()) return found;
    const auto seconds = std::find(found[0].begin(), found[0].end(), "seconds") - found[0].begin();
    for (auto& row : found) row[static_cast<std::size_t>(seconds)].clear();
    found.erase(found.begin());
    return found;
  }
  std::string cell(const std::string& folder, std::size_t row, const std::string& column) const {
    const std::string text = test::text_of(folder_ / folder / "cases.csv");
    std::string_view rest = text;
    const auto names = base::take_csv_record(rest).value_or(Words{});
    const auto place = std::find(names.begin(), names.end(), column) - names.begin();
    for (; row > 0; --row) base::take_csv_record(rest);
    const auto cells = base::take_csv_record(rest).value_or(Words{});
    return static_cast<std::size_t>(place) < cells.size() ? cells[static_cast<std::size_t>(place)] : "";
  }
  nlohmann::json note(const std::string& folder) const {
    return nlohmann::json::parse(test::text_of(folder_ / folder / "sweep.json"), nullptr, false);
  }
};

TEST_F(SweepCommand, table_has_the_values_of_single_runs_to_the_last_bit) {
  for (const char* estimate : {"", "--no-estimate"}) {
    SCOPED_TRACE(estimate);
    const std::string folder = fmt::format("s{}", estimate);
    Words more{"--vary", "prey.alpha=0.5..0.7/3", "--jobs", "1", "--out", folder};
    if (*estimate != 0) more.push_back(estimate);
    const auto swept = sweep(more);
    ASSERT_EQ(swept.exit_code, 0) << swept.err;
    ASSERT_EQ(rows(folder).size(), 3U);
    for (std::size_t row = 0; row < 3; ++row) {
      const auto results = test::results_of(folder_, test::examples_folder() + "/lotka_volterra", "one",
                                            {"--method", "jacobi", "--step", "0.1", "--stop", "2", "--set",
                                             "prey.alpha=" + cell(folder, row, "prey.alpha")});
      const std::string last_line = results.substr(results.rfind('\n', results.size() - 2) + 1);
      std::string_view rest = last_line;
      EXPECT_EQ(cell(folder, row, "last(prey.p)"), base::take_csv_record(rest).value()[1]);
      EXPECT_EQ(cell(folder, row, "grade") == "unknown", *estimate != 0);
      EXPECT_EQ(cell(folder, row, "error of last(prey.p)").empty(), *estimate != 0);
    }
    for (const char* file : {"cases.h5", "sweep.html", "sweep.json", "system.resolved.toml"})
      EXPECT_TRUE(fs::exists(folder_ / folder / file)) << file;
  }
}

// One instance of each FMU makes all runs: what a run before left in it must not be seen.
TEST_F(SweepCommand, of_fmus_that_are_reset_has_the_values_of_single_runs_to_the_last_bit) {
  test::write_text(folder_ / "s.toml", fmt::format(R"([run]
stop = 1
step = 0.01
method = "gauss-seidel"
[subsystems.prey]
fmu = "{0}/2/lotka_volterra_prey.fmu"
[subsystems.predator]
fmu = "{0}/3/lotka_volterra_predator.fmu"
[connections]
"prey.p" = "predator.u"
"predator.P" = "prey.u"
)",
                                                   test::fmu_folder()));
  const auto swept = run_here({"sweep", "s.toml", "--vary", "prey.p=0.8,1.2", "--vary", "predator.gamma=0.9,1.1",
                               "--quantity", "last(predator.P)", "--no-estimate", "--jobs", "1", "--out", "s"});
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  ASSERT_EQ(rows("s").size(), 4U);
  for (std::size_t row = 0; row < 4; ++row) {
    const auto results = test::results_of(folder_, "s.toml", "one",
                                          {"--no-estimate", "--set", "prey.p=" + cell("s", row, "prey.p"), "--set",
                                           "predator.gamma=" + cell("s", row, "predator.gamma")});
    const std::string last_line = results.substr(results.rfind('\n', results.size() - 2) + 1);
    std::string_view rest = last_line;
    EXPECT_EQ(cell("s", row, "last(predator.P)"), base::take_csv_record(rest).value()[2]);
  }
  EXPECT_TRUE(fs::is_empty(temporary_));  // the FMUs were unpacked there
}

TEST_F(SweepCommand, varies_methods_steps_options_and_states) {
  const auto result = run_here({"sweep", test::examples_folder() + "/lotka_volterra", "--stop", "1", "--vary",
                                "method=jacobi,gauss-seidel", "--vary", "step=0.1,0.05", "--vary", "option.degree=0,1",
                                "--vary", "prey.p=1,2", "--quantity", "last(prey.p)", "--no-estimate", "--out", "s"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto table = rows("s");
  ASSERT_EQ(table.size(), 16U);
  std::set<std::string> values;
  for (std::size_t row = 0; row < table.size(); ++row) {
    EXPECT_EQ(cell("s", row, "termination"), "completed") << cell("s", row, "message");
    values.insert(cell("s", row, "last(prey.p)"));
  }
  EXPECT_EQ(values.size(), 16U);  // each of them matters
  EXPECT_EQ(cell("s", 15, "method"), "gauss-seidel");
}

TEST_F(SweepCommand, that_makes_no_sense_is_refused_before_it_runs) {
  const auto unknown = sweep({"--vary", "prey.alfa=1,2", "--out", "s"});
  EXPECT_EQ(unknown.exit_code, 2);
  test::expect_text(unknown.err, "prey.alpha");
  EXPECT_EQ(sweep({"--out", "s"}).exit_code, 1);
  const auto empty = sweep({"--vary", "prey.alpha=", "--out", "s"});
  EXPECT_EQ(empty.exit_code, 2);
  const auto word = sweep({"--vary", "prey.alpha=one,two", "--out", "s"});
  EXPECT_EQ(word.exit_code, 2);
  test::expect_text(word.err, "'one'");
  const auto many = sweep({"--vary", "prey.alpha=0.5..0.7/1000", "--vary", "prey.beta=1..2/1000", "--out", "s"});
  EXPECT_EQ(many.exit_code, 1);
  test::expect_text(many.err, "--yes");
  const auto quantity = sweep({"--vary", "prey.alpha=1,2", "--quantity", "max(prey.w)", "--out", "s"});
  EXPECT_EQ(quantity.exit_code, 2);
  test::expect_text(quantity.err, "prey.w");
  for (const char* name : {"", "case", "grade", "error of y", "prey.alpha"}) {
    const auto named =
        sweep({"--vary", "prey.alpha=1,2", "--quantity", fmt::format("{} = max(prey.p)", name), "--out", "s"});
    EXPECT_EQ(named.exit_code, 2) << name;
    test::expect_text(named.err, "name");
  }
  EXPECT_EQ(run_here({"sweep"}).exit_code, 2);
  EXPECT_EQ(sweep({"--vary", "prey.alpha=1", "--shard", "4/3"}).exit_code, 2);
  EXPECT_FALSE(fs::exists(folder_ / "s" / "cases.csv"));
}

TEST_F(SweepCommand, overwrites_no_file_that_is_not_of_a_sweep) {
  const std::string list = "prey.alpha\n0.5\n0.6\n";
  test::write_text(folder_ / "cases.csv", list);
  const auto listed = sweep({"--list", "cases.csv", "--no-estimate", "--out", "."});
  EXPECT_EQ(listed.exit_code, 1);
  test::expect_text(listed.err, "cases.csv");
  EXPECT_EQ(test::text_of(folder_ / "cases.csv"), list);
  EXPECT_FALSE(fs::exists(folder_ / "sweep.json"));

  ASSERT_EQ(sweep({"--list", "cases.csv", "--no-estimate", "--out", "s"}).exit_code, 0);
  ASSERT_EQ(run_here({"run", test::examples_folder() + "/lotka_volterra", "--stop", "1", "--no-estimate", "--quiet",
                      "--out", "run"})
                .exit_code,
            0);
  const auto resolved = test::text_of(folder_ / "run" / "system.resolved.toml");
  for (const Words& more : {Words{}, Words{"--resume"}}) {
    EXPECT_EQ(sweep(with({"--list", "cases.csv", "--no-estimate", "--out", "run"}, more)).exit_code, 1);
  }
  EXPECT_EQ(run_here({"sweep", "--merge", "s", "--out", "run"}).exit_code, 1);
  EXPECT_EQ(run_here({"sweep", "--merge", "s", "--out", "."}).exit_code, 1);
  EXPECT_EQ(test::text_of(folder_ / "run" / "system.resolved.toml"), resolved);
  EXPECT_EQ(test::text_of(folder_ / "cases.csv"), list);
}

TEST_F(SweepCommand, crash_of_a_case_is_its_row) {
  const auto fmu = write(test::scripted_description(""));
  test::write_text(folder_ / "s.toml",
                   fmt::format("[run]\nstop = 1\nstep = 0.1\nmethod = \"jacobi\"\n[subsystems.part]\nfmu = \"{}\"\n",
                               fmu.filename().string()));
  const auto modes = fmt::format("part.mode=0,{},0,{},{},0", int{DivideByZero}, int{Throw}, int{ExitProcess});
  for (const char* jobs : {"1", "2"}) {
    for (const char* more : {"--no-estimate", "--courses"}) {
      const std::string folder = fmt::format("s{}{}", jobs, more);
      const auto result = run_here({"sweep", "s.toml", "--vary", modes, "--jobs", jobs, more, "--out", folder});
      ASSERT_EQ(result.exit_code, 0) << result.err;
      ASSERT_EQ(rows(folder).size(), 6U);
      for (const std::size_t good : {0U, 2U, 5U}) {
        EXPECT_EQ(cell(folder, good, "termination"), "completed") << folder << cell(folder, good, "message");
      }
      for (const std::size_t bad : {1U, 3U, 4U}) {
        EXPECT_EQ(cell(folder, bad, "termination"), "failed") << folder;
        EXPECT_NE(cell(folder, bad, "message").find("fmi2DoStep"), std::string::npos)
            << folder << " " << cell(folder, bad, "message");
      }
      EXPECT_EQ(note(folder)["failed"], 3);
    }
  }
  EXPECT_TRUE(fs::exists(folder_ / "s1--courses" / "cases" / "0" / "results.csv"));
  EXPECT_TRUE(fs::is_empty(temporary_));
}

/// The value of a run made anew, of one that was reset, and of a subsystem without all abilities.
TEST_F(SweepCommand, value_that_a_model_refuses_is_the_reason_in_its_row) {
  for (const char* taken : {"", "states = false\n"}) {
    test::write_text(folder_ / "s.toml",
                     fmt::format("[run]\nstop = 1\nstep = 0.1\nmethod = \"jacobi\"\n[subsystems.mass]\n"
                                 "model = \"chain.mass\"\n{}",
                                 taken));
    const std::string folder = fmt::format("s{}", *taken == 0 ? "" : "-restricted");
    const auto result =
        run_here({"sweep", "s.toml", "--vary", "mass.m=-1,1,-2,2", "--no-estimate", "--jobs", "1", "--out", folder});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    for (const std::size_t bad : {0U, 2U}) {
      EXPECT_EQ(cell(folder, bad, "termination"), "failed");
      EXPECT_NE(cell(folder, bad, "message").find("parameter 'm'"), std::string::npos) << cell(folder, bad, "message");
    }
    for (const std::size_t good : {1U, 3U}) EXPECT_EQ(cell(folder, good, "termination"), "completed");
  }
}

TEST_F(SweepCommand, without_a_completed_case_has_failed) {
  const auto fmu = write(test::scripted_description(""));
  test::write_text(folder_ / "s.toml",
                   fmt::format("[run]\nstop = 1\nstep = 0.1\nmethod = \"jacobi\"\n[subsystems.part]\nfmu = \"{}\"\n",
                               fmu.filename().string()));
  const auto modes = fmt::format("part.mode={},{}", int{DivideByZero}, int{Throw});
  EXPECT_EQ(run_here({"sweep", "s.toml", "--vary", modes, "--no-estimate", "--out", "s"}).exit_code, 1);
  EXPECT_EQ(rows("s").size(), 2U);
  EXPECT_EQ(run_here({"sweep", "--merge", "s", "--out", "all"}).exit_code, 1);
}

TEST_F(SweepCommand, hang_of_a_case_is_its_row) {
  const auto fmu = write(test::scripted_description(""));
  test::write_text(folder_ / "s.toml",
                   fmt::format("[run]\nstop = 1\nstep = 0.1\nmethod = \"jacobi\"\n[subsystems.part]\n"
                               "fmu = \"{}\"\ntimeout = 0.5\n",
                               fmu.filename().string()));
  const auto result = run_here({"sweep", "s.toml", "--vary", fmt::format("part.mode=0,{},0", int{Hang}),
                                "--no-estimate", "--jobs", "1", "--out", "s"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(cell("s", 0, "termination"), "completed");
  EXPECT_EQ(cell("s", 1, "termination"), "failed");
  EXPECT_NE(cell("s", 1, "message").find("fmi2DoStep"), std::string::npos) << cell("s", 1, "message");
  EXPECT_EQ(cell("s", 2, "termination"), "completed");
}

TEST_F(SweepCommand, of_an_fmu_for_one_instance_is_completed) {
  const auto fmu = write(test::scripted_description("canBeInstantiatedOnlyOncePerProcess=\"true\""));
  test::write_text(folder_ / "s.toml",
                   fmt::format("[run]\nstop = 1\nstep = 0.1\nmethod = \"jacobi\"\n[subsystems.part]\nfmu = \"{}\"\n",
                               fmu.filename().string()));
  for (const char* more : {"--no-estimate", "--quiet"}) {
    const std::string folder = fmt::format("s{}", more);
    const auto result = run_here({"sweep", "s.toml", "--vary", "part.u=1,2,3", "--jobs", "1", more, "--out", folder});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    ASSERT_EQ(rows(folder).size(), 3U);
    for (std::size_t row = 0; row < 3; ++row)
      EXPECT_EQ(cell(folder, row, "termination"), "completed") << cell(folder, row, "message");
    EXPECT_TRUE(fs::is_empty(temporary_));
  }
}

/// Processes below this one.
std::vector<pid_t> descendants(pid_t process) {
  std::vector<pid_t> found;
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", process));
  for (pid_t child = 0; children >> child;) {
    found.push_back(child);
    const auto below = descendants(child);
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

// Five kills, of the program or of one of the processes of its cases, by seed.
TEST_F(SweepCommand, killed_and_resumed_has_every_case_once) {
  const Words what{"--vary", "prey.alpha=0.5..0.7/1500", "--no-estimate", "--jobs", "2"};
  ASSERT_EQ(run_here(slow_sweep_words(with(what, {"--out", "whole"}))).exit_code, 0);
  const auto killed = slow_sweep_words(with(what, {"--out", "killed", "--resume"}));
  std::mt19937 random(24);
  int killed_programs = 0;
  for (int kills = 0; kills < 5;) {
    test::Program program(folder_, killed);
    const std::size_t before = rows("killed").size();
    ASSERT_TRUE(test::eventually([&] { return rows("killed").size() > before + 20; }));
    const bool worker = random() % 2 == 0 || killed_programs == 3;
    const auto all = descendants(::getpid());
    // The program, its working copy, then those of the cases.
    if (worker) {
      ASSERT_GT(all.size(), 2U);
      ::kill(all[2 + random() % (all.size() - 2)], SIGKILL);
    } else {
      program.send(SIGKILL);
    }
    killed_programs += worker ? 0 : 1;
    ++kills;
    if (worker) {
      ASSERT_TRUE(test::eventually([&] { return rows("killed").size() > before + 60; }));
    }
    program.send(SIGKILL);
    program.wait();
  }
  ASSERT_LT(rows("killed").size(), 1500U);
  ASSERT_EQ(run_here(killed).exit_code, 0);
  EXPECT_EQ(rows("killed"), rows("whole"));
  const auto other = run_here(
      slow_sweep_words({"--vary", "prey.alpha=0.5..0.7/1501", "--no-estimate", "--out", "killed", "--resume"}));
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_EQ(run_here(slow_sweep_words(with(what, {"--out", "killed"}))).exit_code, 1);  // not meant to go on
  EXPECT_EQ(rows("killed"), rows("whole"));
}

TEST_F(SweepCommand, interrupted_keeps_what_is_done) {
  const auto words = slow_sweep_words({"--vary", "prey.alpha=0.5..0.7/5000", "--no-estimate", "--out", "s"});
  test::Program program(folder_, words);
  ASSERT_TRUE(test::eventually([&] { return rows("s").size() > 50; }));
  program.send(SIGINT);
  const auto result = program.wait();
  EXPECT_EQ(result.exit_code, 1);
  test::expect_text(result.err, "--resume");
  EXPECT_GT(rows("s").size(), 50U);
  EXPECT_LT(rows("s").size(), 5000U);
  EXPECT_EQ(note("s")["done"], rows("s").size());
  EXPECT_TRUE(fs::exists(folder_ / "s" / "sweep.html"));
}

TEST_F(SweepCommand, on_a_full_disk_keeps_its_rows_and_goes_on_later) {
  const Words what{"--vary", "prey.alpha=0.5..0.7/2000", "--no-estimate", "--out", "s"};
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{100'000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  test::Program program(folder_, sweep_words(what));
  ::setrlimit(RLIMIT_FSIZE, &before);
  const auto result = program.wait();
  EXPECT_EQ(result.exit_code, 1);
  test::expect_text(result.err, "cannot write");
  EXPECT_GT(rows("s").size(), 50U);
  EXPECT_LT(rows("s").size(), 2000U);
  ASSERT_EQ(sweep(with(what, {"--resume"})).exit_code, 0);
  const auto table = rows("s");
  ASSERT_EQ(table.size(), 2000U);
  for (std::size_t i = 0; i < table.size(); ++i) EXPECT_EQ(table[i][0], std::to_string(i));
}

// The results of the second case are larger than a file may be.
TEST_F(SweepCommand, full_disk_in_a_case_is_no_row_and_ends_the_sweep) {
  const Words words{"sweep",         test::examples_folder() + "/lotka_volterra",
                    "--method",      "jacobi",
                    "--stop",        "2",
                    "--vary",        "step=0.1,0.0002,0.05",
                    "--quantity",    "last(prey.p)",
                    "--no-estimate", "--courses",
                    "--jobs",        "1",
                    "--out",         "s"};
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{200'000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  test::Program program(folder_, words);
  ::setrlimit(RLIMIT_FSIZE, &before);
  const auto result = program.wait();
  EXPECT_EQ(result.exit_code, 1);
  test::expect_text(result.err, "cannot write");
  ASSERT_EQ(rows("s").size(), 1U);
  EXPECT_EQ(cell("s", 0, "termination"), "completed");
  ASSERT_EQ(run_here(with(words, {"--resume"})).exit_code, 0);
  ASSERT_EQ(rows("s").size(), 3U);
  for (std::size_t row = 0; row < 3; ++row) EXPECT_EQ(cell("s", row, "termination"), "completed");
}

TEST_F(SweepCommand, repeats_cases_that_failed_where_that_is_asked_for) {
  const Words what{"--vary", "prey.alpha=0.5,0.6", "--no-estimate", "--out", "s"};
  ASSERT_EQ(sweep(what).exit_code, 0);
  const auto whole = rows("s");
  std::string table = test::text_of(folder_ / "s" / "cases.csv");
  table.replace(table.find("completed"), 9, "failed");
  test::write_text(folder_ / "s" / "cases.csv", table);
  ASSERT_EQ(sweep(with(what, {"--resume"})).exit_code, 0);
  EXPECT_EQ(cell("s", 0, "termination"), "failed");
  ASSERT_EQ(sweep(with(what, {"--resume", "--retry-failed"})).exit_code, 0);
  EXPECT_EQ(rows("s"), whole);
}

TEST_F(SweepCommand, with_another_tolerance_is_another_sweep) {
  const std::string system = test::text_of(test::examples_folder() + "/lotka_volterra/system.toml");
  test::write_text(folder_ / "s.toml", system + "\n[sweep.vary]\n\"prey.alpha\" = \"0.5, 0.6\"\n");
  const auto with_tolerance = [&](const std::string& words, const Words& more) {
    const std::string text = test::text_of(folder_ / "s.toml");
    test::write_text(folder_ / "changed.toml", text + "[run.tolerances]\n\"prey.p\" = " + words + "\n");
    return run_here(with({"sweep", "changed.toml", "--method", "jacobi", "--step", "0.1", "--stop", "1"}, more));
  };
  ASSERT_EQ(with_tolerance("0.01", {"--out", "s"}).exit_code, 0);
  EXPECT_EQ(with_tolerance("0.01", {"--out", "s", "--resume"}).exit_code, 0);
  EXPECT_EQ(with_tolerance("0.02", {"--out", "s", "--resume"}).exit_code, 1);
  ASSERT_EQ(with_tolerance("0.01", {"--out", "n", "--no-estimate"}).exit_code, 0);
  EXPECT_EQ(with_tolerance("0.02", {"--out", "n", "--no-estimate", "--resume"}).exit_code, 0);  // judges nothing
}

TEST_F(SweepCommand, shards_merge_to_the_whole) {
  const Words what{"--vary", "prey.alpha=uniform(0.5,0.7)", "--cases", "20", "--no-estimate"};
  const auto made = [&](const Words& more) { return sweep(with(what, more)).exit_code; };
  ASSERT_EQ(made({"--out", "whole"}), 0);
  ASSERT_EQ(made({"--out", "a", "--shard", "1/3"}), 0);
  ASSERT_EQ(made({"--out", "b", "--shard", "2/3"}), 0);
  EXPECT_EQ(run_here({"sweep", "--merge", "a", "b", "--out", "all"}).exit_code, 1);  // a third is missing
  ASSERT_EQ(made({"--out", "c", "--shard", "3/3"}), 0);
  const auto merged = run_here({"sweep", "--merge", "a", "b", "c", "--out", "all"});
  ASSERT_EQ(merged.exit_code, 0) << merged.err;
  EXPECT_EQ(rows("all"), rows("whole"));
  EXPECT_EQ(note("all")["uncertainty"], note("whole")["uncertainty"]);
  EXPECT_EQ(note("all")["hashes"], note("whole")["hashes"]);
  ASSERT_EQ(
      sweep({"--vary", "prey.alpha=uniform(0.5,0.8)", "--cases", "20", "--no-estimate", "--out", "d", "--shard", "1/3"})
          .exit_code,
      0);
  EXPECT_EQ(run_here({"sweep", "--merge", "d", "b", "c", "--out", "wrong"}).exit_code, 1);
}

TEST_F(SweepCommand, reads_the_table_of_the_system_file_and_measured_values) {
  test::write_text(folder_ / "list.csv", "prey.alpha,predator.delta\n0.6,1\n0.7,1.1\n");
  std::string system = test::text_of(test::examples_folder() + "/lotka_volterra/system.toml");
  test::write_text(folder_ / "list.toml",
                   system + "\n[sweep]\nlist = \"list.csv\"\nquantities = [\"peak = max(prey.p)\"]\n");
  const auto listed = run_here({"sweep", "list.toml", "--stop", "1", "--no-estimate", "--out", "s"});
  ASSERT_EQ(listed.exit_code, 0) << listed.err;
  ASSERT_EQ(rows("s").size(), 2U);
  EXPECT_EQ(cell("s", 1, "predator.delta"), "1.1");
  EXPECT_FALSE(cell("s", 1, "peak").empty());

  test::write_text(folder_ / "law.toml", system +
                                             "\n[sweep]\ncases = 8\nseed = 3\nquantities = [\"peak = max(prey.p)\"]\n"
                                             "[sweep.vary]\n\"prey.alpha\" = \"normal(0.6, 0.01)\"\n");
  test::write_text(folder_ / "measured.csv", "quantity,value,u\npeak,2.5,0.25\n");
  const auto judged = run_here({"sweep", "law.toml", "--stop", "1", "--reference", "measured.csv", "--out", "u"});
  ASSERT_EQ(judged.exit_code, 0) << judged.err;
  const auto of = note("u")["uncertainty"]["peak"];
  EXPECT_EQ(of["measured"], 2.5);
  EXPECT_GT(of["numerical"].get<double>(), 0.0);
  const double together = std::hypot(std::hypot(of["numerical"].get<double>(), of["input"].get<double>()), 0.25);
  EXPECT_NEAR(of["together"].get<double>(), together, 1e-12);
  EXPECT_EQ(of["unchecked"], 0);
  EXPECT_EQ(note("u")["hashes"]["reference"].get<std::string>().size(), 64U);
  test::write_text(folder_ / "measured.csv", "quantity,value,u\npeek,2.5,0.25\n");
  const auto wrong = run_here({"sweep", "law.toml", "--stop", "1", "--reference", "measured.csv", "--out", "w"});
  EXPECT_NE(wrong.exit_code, 0);
  test::expect_text(wrong.err, "peak");
}

}  // namespace sweep_command_test
}  // namespace entrain
