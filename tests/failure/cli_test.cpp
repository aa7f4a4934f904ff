#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "read/csv_reader.hpp"
#include "support/facts.hpp"
#include "support/places.hpp"
#include "support/program.hpp"

namespace entrain::test {
namespace cli_test {

using Json = nlohmann::json;

const std::string kMechanical = test::examples_folder() + "/mechanical";

// Small enough a step that the run takes minutes: it is always ended from outside.
const std::vector<std::string> kLongRun = {"run",  kMechanical, "--method", "jacobi", "--step",
                                           "1e-8", "--stop",    "2",        "--out",  "out"};

Json run_json(const std::filesystem::path& folder) {
  return Json::parse(text_of(folder / "run.json"));
}

constexpr int kWrongUsage = 2;  // what is wrong was written on the command line

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The results of a folder, which must be complete to the last row and not empty.
reading::CsvResults complete_results(const std::filesystem::path& folder) {
  auto results = reading::read_csv(folder / "results.csv");
  EXPECT_FALSE(results.cut);
  if (results.times.empty() || results.names.empty()) throw std::runtime_error("results.csv is empty");
  return results;
}

void expect_refused(const std::vector<std::string>& arguments, const std::string& part_of_message, int exit_code = 1) {
  const TemporaryFolder folder;
  const auto result = run_program(folder, arguments);
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(result.err.starts_with("entrain: ")) << result.err;
  EXPECT_TRUE(contains(result.err, part_of_message)) << result.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "runs")) << "nothing was run, so there is no run folder";
}

TEST(CommandLine, stderr_is_empty_when_a_quick_run_succeeds) {
  const TemporaryFolder folder;
  const auto result = run_program(folder, {"run", kMechanical, "--method", "jacobi", "--require", "any"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(contains(result.out, "runs/mechanical-1/results.csv")) << result.out;
  const auto json = run_json(folder / "runs/mechanical-1");
  EXPECT_EQ(json["termination"], "completed");
  const auto results = complete_results(folder / "runs/mechanical-1");
  EXPECT_EQ(results.times.back(), 2.0);
  EXPECT_EQ(results.times.size(), json["macro_steps"].get<std::size_t>() + 1);
  EXPECT_TRUE(std::filesystem::exists(folder / "runs/mechanical-1/system.resolved.toml"));
}

TEST(CommandLine, counts_run_folders_up_and_reuses_the_one_given_on_request) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_program(folder, {"run", kMechanical, "--method", "jacobi", "--require", "any", "--quiet"}).exit_code,
            0);
  EXPECT_EQ(run_program(folder, {"run", kMechanical, "--method", "jacobi", "--require", "any", "--quiet"}).exit_code,
            0);
  EXPECT_TRUE(std::filesystem::exists(folder / "runs/mechanical-2/run.json"));
  const std::vector<std::string> given{"run", kMechanical, "--method", "jacobi", "--require",
                                       "any", "--quiet",   "--out",    "a/b"};
  EXPECT_EQ(run_program(folder, given).exit_code, 0);
  EXPECT_EQ(run_program(folder, given).exit_code, 1);
  auto overwriting = given;
  overwriting.emplace_back("--overwrite");
  EXPECT_EQ(run_program(folder, overwriting).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "a/b/results.csv"));
}

TEST(CommandLine, runs_its_resolved_system_again_to_the_same_results) {
  const TemporaryFolder folder;
  const auto first = run_program(folder, {"run", kMechanical, "--method", "jacobi", "--require", "any", "--quiet",
                                          "--step", "2e-3", "--stop", "1", "--out", "a"});
  const auto second =
      run_program(folder, {"run", "a/system.resolved.toml", "--require", "any", "--quiet", "--out", "b"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(text_of(folder / "a/results.csv"), text_of(folder / "b/results.csv"));
}

TEST(CommandLine, prints_run_json_and_nothing_else_when_asked) {
  const TemporaryFolder folder;
  const auto result =
      run_program(folder, {"run", kMechanical, "--method", "jacobi", "--require", "any", "--json", "--out", "out"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, text_of(folder / "out/run.json"));
  EXPECT_EQ(result.err, "");
}

TEST(CommandLine, quiet_prints_nothing) {
  const TemporaryFolder folder;
  const auto result = run_program(folder, {"run", kMechanical, "--method", "jacobi", "--require", "any", "--quiet"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out + result.err, "");
}

TEST(CommandLine, ends_with_2_for_wrong_usage) {
  const TemporaryFolder folder;
  const std::vector<std::vector<std::string>> wrong = {{},
                                                       {"rnu"},
                                                       {"run"},
                                                       {"run", kMechanical, "--method", "jacobi", "--nonsense"},
                                                       {"run", kMechanical, "--method", "jacobi", "--step", "small"},
                                                       {"run", kMechanical, "--method", "jacobi", "--threads", "0"},
                                                       {"run", kMechanical, "--method", "jacobi", "--set", "left.x"},
                                                       {"completion", "tcsh"},
                                                       {"reproduce", "no.such.table"}};
  for (const auto& arguments : wrong) {
    const auto result = run_program(folder, arguments);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_TRUE(result.err.starts_with("entrain: ")) << result.err;
    EXPECT_EQ(result.out, "");
  }
  EXPECT_TRUE(contains(run_program(folder, {"rnu"}).err, "did you mean 'run'?"));
  EXPECT_FALSE(std::filesystem::exists(folder / "runs"));
}

TEST(CommandLine, gives_help_with_an_example_for_every_command) {
  const TemporaryFolder folder;
  for (const auto* command : {"run", "check", "inspect", "methods", "reproduce", "version", "completion"}) {
    const auto result = run_program(folder, {command, "--help"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(contains(result.out, "Example:")) << result.out;
  }
}

TEST(CommandLine, help_and_version_are_there_under_the_usual_words) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_program(folder, {"--version"}).out, run_program(folder, {"version"}).out);
  EXPECT_EQ(run_program(folder, {"help"}).out, run_program(folder, {"--help"}).out);
  const auto help = run_program(folder, {"help", "verify"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.out, run_program(folder, {"verify", "--help"}).out);
}

struct Mistake {
  std::vector<std::string> arguments;
  std::string answer;
};

TEST(CommandLine, mistakes_are_answered_with_what_was_meant_and_the_help_of_the_command) {
  const std::vector<Mistake> mistakes = {
      {{"simulate", "x.toml"}, "did you mean 'run'?"},
      {{"runn", "x.toml"}, "did you mean 'run'?"},
      {{"plot", "x"}, "did you mean 'report'?"},
      {{"run", kMechanical, "--stepp", "0.1"}, "unknown option '--stepp' of 'entrain run'; did you mean '--step'?"},
      {{"run", kMechanical, "--stepp=0.1"}, "unknown option '--stepp' of 'entrain run'; did you mean '--step'?"},
      {{"verify", kMechanical, "--treads", "2"}, "did you mean '--threads'?"},
      {{"run", kMechanical, "--step", "abc"}, "--step: 'abc' is not a time"},
      {{"run", kMechanical, "--step", "1 lightyear"}, "--step: '1 lightyear' is not a time"},
      {{"run", kMechanical, "again"}, "'entrain run' does not take 'again'"},
      {{"methods", "jacoby"}, "did you mean 'jacobi'?"},
  };
  const TemporaryFolder folder;
  for (const auto& mistake : mistakes) {
    const auto result = run_program(folder, mistake.arguments);
    EXPECT_EQ(result.exit_code, kWrongUsage) << mistake.answer;
    EXPECT_TRUE(contains(result.err, mistake.answer)) << result.err;
    EXPECT_EQ(result.out, "");
  }
  const auto wrong = run_program(folder, {"run", kMechanical, "--stepp", "0.1"});
  EXPECT_TRUE(contains(wrong.err, "see 'entrain run --help'")) << wrong.err;
}

TEST(CommandLine, times_have_units_and_are_the_numbers_that_seconds_are) {
  const TemporaryFolder folder;
  for (const auto& [written, seconds] : std::vector<std::pair<std::string, double>>{
           {"9ms", 0.009}, {"9 ms", 0.009}, {"700us", 0.0007}, {"1e1ms", 0.01}, {"0.003", 0.003}, {"0.003s", 0.003}}) {
    const auto run =
        run_program(folder, {"run", kMechanical, "--method", "jacobi", "--step", written, "--stop", "18ms",
                             "--no-estimate", "--require", "any", "--out", "out", "--overwrite", "--quiet"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto json = run_json(folder / "out");
    EXPECT_EQ(json["step"].get<double>(), seconds) << written;
    EXPECT_EQ(json["stop"].get<double>(), 0.018);
  }
}

TEST(CommandLine, inspects_checks_and_lists_without_running) {
  const TemporaryFolder folder;
  const auto inspected = run_program(folder, {"inspect", kMechanical, "--json"});
  EXPECT_EQ(inspected.exit_code, 0) << inspected.err;
  const auto json = Json::parse(inspected.out);
  EXPECT_EQ(json["components"], Json::parse(R"([["left","right"]])"));
  EXPECT_EQ(json["subsystems"]["left"]["capabilities"]["rollback"], true);
  EXPECT_TRUE(contains(run_program(folder, {"inspect", kMechanical}).out, "can be rolled back: yes"));
  EXPECT_EQ(run_program(folder, {"check", kMechanical}).exit_code, 0);
  const auto methods = run_program(folder, {"methods"}).out;
  EXPECT_TRUE(contains(methods, "\nauto  ")) << methods;
  EXPECT_TRUE(contains(methods, "\njacobi  ")) << methods;
  EXPECT_FALSE(contains(methods, "relative_tolerance")) << methods;
  const auto jacobi = run_program(folder, {"methods", "jacobi"}).out;
  EXPECT_TRUE(contains(jacobi, "explicit, order 1 + degree; 1 call of each subsystem per macro step")) << jacobi;
  EXPECT_TRUE(contains(jacobi, "\n  relative_tolerance: number, default ")) << jacobi;
  const auto missiles = run_program(folder, {"methods", "missiles"}).out;
  EXPECT_TRUE(
      contains(missiles, "implicit, order 4; about 1.5 calls of each subsystem per macro step; its authors declare"))
      << missiles;
  EXPECT_TRUE(contains(run_program(folder, {"reproduce"}).out, "missiles.table4"));
  EXPECT_FALSE(std::filesystem::exists(folder / "runs"));
}

TEST(CommandLine, check_takes_the_changes_that_run_takes) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_program(folder, {"check", kMechanical, "--method", "jacobi", "--step", "1ms"}).exit_code, 0);
  const auto wrong = run_program(folder, {"check", kMechanical, "--method", "jacobi", "--step", "3"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_TRUE(contains(wrong.err, "step")) << wrong.err;
  const auto unknown = run_program(folder, {"check", kMechanical, "--set", "left.xx=1"});
  EXPECT_TRUE(contains(unknown.err, "did you mean 'x'?")) << unknown.err;
}

TEST(CommandLine, reports_that_its_own_output_cannot_be_written) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/full", folder / "stdout.txt");
  const auto result = run_program(folder, {"version"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.err, "cannot write to the standard output")) << result.err;
}

TEST(BadInput, missing_file_is_named) {
  expect_refused({"run", "nowhere.toml"}, "nowhere.toml");
}

TEST(BadInput, unreadable_toml_is_reported_with_its_line) {
  const TemporaryFolder other;
  write_text(other / "broken.toml", "[run]\nstop = 1.0\nstep = = 2\n");
  expect_refused({"run", (other / "broken.toml").string()}, "broken.toml:3");
  expect_refused({"check", (other / "broken.toml").string()}, "broken.toml:3");
}

TEST(BadInput, step_that_is_zero_negative_or_no_number_is_refused) {
  for (const auto* step : {"0", "-1e-3", "nan", "inf"})
    expect_refused({"run", kMechanical, "--method", "jacobi", "--step", step}, "step", kWrongUsage);
}

TEST(BadInput, start_that_is_no_number_is_refused) {
  expect_refused({"run", kMechanical, "--method", "jacobi", "--start", "nan"}, "start", kWrongUsage);
  expect_refused({"run", kMechanical, "--method", "jacobi", "--set", "left.x=nan"}, "left.x", kWrongUsage);
}

TEST(BadInput, stop_before_start_is_refused) {
  expect_refused({"run", kMechanical, "--method", "jacobi", "--stop", "-1"}, "stop", kWrongUsage);
}

TEST(BadInput, step_larger_than_the_run_is_refused) {
  expect_refused({"run", kMechanical, "--method", "jacobi", "--step", "3"}, "step", kWrongUsage);
}

TEST(BadInput, unknown_subsystem_and_option_get_a_suggestion) {
  expect_refused({"run", kMechanical, "--method", "jacobi", "--set", "lefd.x=1"}, "did you mean 'left'?", kWrongUsage);
  expect_refused({"run", kMechanical, "--method", "jacobi", "--option", "degre=1"}, "did you mean 'degree'?",
                 kWrongUsage);
  expect_refused({"run", kMechanical, "--method", "jakobi"}, "did you mean 'jacobi'?", kWrongUsage);
}

// Below a regular file, because root may write everywhere else.
TEST(BadInput, folder_that_cannot_be_made_is_named_with_a_remedy) {
  const TemporaryFolder folder;
  write_text(folder / "file", "");
  const auto result = run_program(folder, {"run", kMechanical, "--method", "jacobi", "--out", "file/out"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.err, "'file/out'")) << result.err;
  EXPECT_TRUE(contains(result.err, "--out")) << result.err;
  EXPECT_EQ(result.out, "");
}

TEST(BadInput, fmus_that_were_not_built_are_reported_with_the_remedy) {
  const TemporaryFolder folder;
  ::setenv("ENTRAIN_FMUS", folder.path().c_str(), 1);
  ::setenv("ENTRAIN_EXAMPLES", test::examples_folder().c_str(), 1);
  const auto result = run_program(folder, {"reproduce", "missiles.table6", "--fmu"});
  ::unsetenv("ENTRAIN_FMUS");
  ::unsetenv("ENTRAIN_EXAMPLES");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.err, "lotka_volterra_prey.fmu'") && contains(result.err, "make build")) << result.err;
}

TEST(BrokenRun, full_disk_fails_the_run_and_run_json_contains_it) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "out");
  std::filesystem::create_symlink("/dev/full", folder / "out/results.csv");
  const auto result = run_program(folder, {"run", kMechanical, "--method", "jacobi", "--out", "out"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.err, "no space left on device")) << result.err;
  EXPECT_TRUE(contains(result.err, "results.csv")) << result.err;
  const auto json = run_json(folder / "out");
  EXPECT_EQ(json["termination"], "failed");
  EXPECT_EQ(json["failure"]["code"], "file-failed");
  EXPECT_EQ(json["failure"]["values"]["why"], "no space left on device");
}

// Held forces and a step of 0.05 s are far beyond the stability limit of this pair: the motion grows until it
// overflows.
TEST(BrokenRun, divergence_names_subsystem_and_time_and_keeps_the_results) {
  const TemporaryFolder folder;
  const auto result = run_program(
      folder, {"run", kMechanical, "--method", "jacobi", "--step", "0.05", "--stop", "200", "--out", "out"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.err, "subsystem '")) << result.err;
  EXPECT_TRUE(contains(result.err, "at t = ")) << result.err;
  EXPECT_TRUE(contains(result.err, "are in out")) << result.err;
  const auto json = run_json(folder / "out");
  EXPECT_EQ(json["termination"], "failed");
  EXPECT_FALSE(json["failure"]["subsystem"].get<std::string>().empty());
  EXPECT_LT(json["reached"], 200.0);
  const auto results = complete_results(folder / "out");
  EXPECT_EQ(results.times.back(), json["reached"]);
  for (const auto& column : results.columns) EXPECT_TRUE(std::isfinite(column.back()));
}

/// Starts the long run and waits until some of its rows are on the disk.
std::unique_ptr<Program> started_long_run(const TemporaryFolder& folder) {
  auto program = std::make_unique<Program>(folder, kLongRun);
  EXPECT_TRUE(eventually([&] {
    std::error_code missing;
    return std::filesystem::file_size(folder / "out/results.csv", missing) > 10'000 && !missing;
  }));
  return program;
}

TEST(BrokenRun, kill_leaves_results_readable_to_the_last_row) {
  const TemporaryFolder folder;
  const auto program = started_long_run(folder);
  program->send(SIGKILL);
  EXPECT_EQ(program->wait().end_signal, SIGKILL);
  EXPECT_EQ(run_json(folder / "out")["termination"], "running");
  const auto results = reading::read_csv(folder / "out/results.csv");
  EXPECT_GT(results.times.size(), 100U);
}

void expect_interrupted_by(int signal) {
  const TemporaryFolder folder;
  const auto program = started_long_run(folder);
  program->send(signal);
  const auto result = program->wait();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.err, "interrupted")) << result.err;
  EXPECT_TRUE(contains(result.err, "are in out")) << result.err;
  const auto json = run_json(folder / "out");
  EXPECT_EQ(json["termination"], "interrupted");
  EXPECT_EQ(complete_results(folder / "out").times.back(), json["reached"]);
}

TEST(BrokenRun, control_c_ends_it_cleanly_and_keeps_the_results) {
  expect_interrupted_by(SIGINT);
}

TEST(BrokenRun, termination_request_ends_it_cleanly_and_keeps_the_results) {
  expect_interrupted_by(SIGTERM);
}

}  // namespace cli_test
}  // namespace entrain::test
