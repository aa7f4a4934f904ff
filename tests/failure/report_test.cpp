#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/page.hpp"
#include "support/program.hpp"

namespace entrain::test {
namespace report_test {

class ReportTest : public testing::Test {
 protected:
  ProgramResult run(const std::vector<std::string>& arguments) { return run_program(folder_, arguments); }
  ProgramResult run_example(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{
        "run",        examples_folder() + "/lotka_volterra", "--method", "jacobi", "--step", "0.01", "--out", "out",
        "--overwrite"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  TemporaryFolder folder_;
};

TEST_F(ReportTest, of_a_folder_without_a_run_names_what_is_missing) {
  if (reporting::page_template().empty()) return;  // then without_node_page_is_refused tests what happens
  const auto result = run({"report", "nowhere"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("nowhere/run.json"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("runs/NAME-1"), std::string::npos) << "the remedy";
}

TEST_F(ReportTest, of_files_that_are_no_run_is_an_error_and_writes_nothing) {
  if (reporting::page_template().empty()) return;  // then without_node_page_is_refused tests what happens
  std::filesystem::create_directory(folder_ / "out");
  write_text(folder_ / "out/run.json", "[1, 2");
  EXPECT_EQ(run({"report", "out"}).exit_code, 1);
  write_text(folder_ / "out/run.json", R"({"subsystems": {}})");
  EXPECT_EQ(run({"report", "out"}).exit_code, 1) << "no results";
  write_text(folder_ / "out/results.csv", "time,a.y\n0,zero\n");
  const auto result = run({"report", "out"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("results.csv:2"), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out/report.html"));
}

TEST_F(ReportTest, without_a_run_is_refused) {
  EXPECT_EQ(run({"report"}).exit_code, 2);
}

TEST_F(ReportTest, comes_with_the_run_and_again_from_its_folder) {
  if (reporting::page_template().empty()) return;  // then without_node_page_is_refused tests what happens
  const auto result = run_example({"--report"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("report: out/report.html"), std::string::npos) << result.out;
  const auto page = text_of(folder_ / "out/report.html");
  EXPECT_EQ(run({"report", "out", "--out", "again.html"}).exit_code, 0);
  EXPECT_EQ(text_of(folder_ / "again.html"), page);
  EXPECT_LT(page.size(), 2'000'000U);
}

TEST_F(ReportTest, lists_the_capabilities_that_the_system_file_takes_away_and_no_other_key) {
  if (reporting::page_template().empty()) return;  // then without_node_page_is_refused tests what happens
  const std::string system =
      "[run]\nstop = 1\nstep = 0.5\nmethod = \"jacobi\"\n[subsystems.a]\nmodel = \"lotka_volterra.prey\"\nstart = { u "
      "= 1.0 }\n"
      "side_effects = false\n";
  write_text(folder_ / "system.toml", system);
  ASSERT_EQ(run({"run", "system.toml", "--out", "all", "--report", "--require", "any"}).exit_code, 0);
  EXPECT_EQ(text_of(folder_ / "all/report.html").find("capabilities-taken-away"), std::string::npos);
  write_text(folder_ / "system.toml", system + "rollback = false\n");
  ASSERT_EQ(run({"run", "system.toml", "--out", "some", "--report", "--require", "any"}).exit_code, 0);
  EXPECT_NE(text_of(folder_ / "some/report.html").find("capabilities-taken-away"), std::string::npos);
}

TEST_F(ReportTest, without_node_page_is_refused) {
  const auto result = run_example({"--report"});
  const bool included = !reporting::page_template().empty();
  EXPECT_EQ(result.exit_code, included ? 0 : 1);
  EXPECT_EQ(result.err.find("reports are not included") == std::string::npos, included) << result.err;
  EXPECT_EQ(std::filesystem::exists(folder_ / "out"), included) << "refused before the run";
}

TEST_F(ReportTest, needs_what_every_run_leaves) {
  ASSERT_EQ(run_example({"--quiet"}).exit_code, 0);
  const auto summary = nlohmann::json::parse(text_of(folder_ / "out/run.json"));
  EXPECT_EQ(summary["connections"][0]["output"], "prey.p");
  EXPECT_EQ(summary["connections"][0]["input"], "predator.u");
  EXPECT_EQ(summary["sequence"], (nlohmann::json{"prey", "predator"}));
  EXPECT_TRUE(summary["signals"].contains("prey.p"));
  const auto steps = nlohmann::json::parse(text_of(folder_ / "out/steps.json"));
  EXPECT_EQ(steps["steps"], 2000);
  // The history agrees with the summary: its highest residual is the one of the run, to the four digits it keeps.
  const auto& residual = steps["channels"].back();
  ASSERT_EQ(residual["name"], "residual");
  double highest = 0.0;
  for (const auto& value : residual.value("high", residual["low"])) highest = std::max(highest, value.get<double>());
  const double reported = summary["max_coupling_residual"];
  EXPECT_NEAR(highest, reported, 1e-3 * reported);
}

}  // namespace report_test
}  // namespace entrain::test
