#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "report/page.hpp"
#include "support/facts.hpp"
#include "support/program.hpp"

namespace entrain::test {
namespace compare_test {

class CompareTest : public testing::Test {
 protected:
  ProgramResult run(const std::vector<std::string>& arguments) { return run_program(folder_, arguments); }
  void make(const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{
        "run", examples_folder() + "/lotka_volterra", "--step", "0.02", "--quiet", "--overwrite", "--out", name};
    if (std::find(more.begin(), more.end(), "--method") == more.end()) {
      arguments.insert(arguments.end(), {"--method", "jacobi"});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    ASSERT_EQ(run(arguments).exit_code, 0);
  }
  TemporaryFolder folder_;
};

TEST_F(CompareTest, takes_the_monolithic_run_as_reference_and_ranks_the_methods) {
  make("held", {});
  make("exact", {"--method", "monolithic"});
  make("degree2", {"--option", "degree=2"});
  const auto result = run({"compare", "held", "exact", "degree2", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["reference"], 1);
  EXPECT_EQ(json["differences"][0]["run"], 0) << "held inputs are worst";
  EXPECT_TRUE(json["runs"][1]["error"].is_null());
  // Orders 1 and 3 at the same step; the ratio at this step is above 50.
  EXPECT_GT(json["runs"][0]["error"].get<double>(), 50.0 * json["runs"][2]["error"].get<double>());
  const auto text = run({"compare", "held", "exact", "degree2"}).out;
  EXPECT_LT(text.find("held"), text.find("degree2"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << "no colour in a pipe";
}

TEST_F(CompareTest, finds_no_difference_between_the_formats_of_one_run) {
  for (const std::string format : {"csv", "hdf5", "mat"}) {
    write_text(folder_ / (format + ".toml"),
               "[run]\nstop = 1.0\nstep = 0.01\n[subsystems.m]\nmodel = \"mechanical.left\"\nstart = { F = 3.0 }\n"
               "[record]\nformat = \"" +
                   format + "\"\n");
    ASSERT_EQ(run({"run", format + ".toml", "--out", format, "--quiet"}).exit_code, 0);
  }
  const auto result = run({"compare", "csv/results.csv", "hdf5", "mat/results.mat", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  ASSERT_FALSE(json["differences"].empty());
  for (const auto& difference : json["differences"]) EXPECT_EQ(difference["max"], 0.0) << difference;
}

TEST_F(CompareTest, names_the_file_without_rows) {
  write_text(folder_ / "empty.csv", "time,a.x\n");
  write_text(folder_ / "good.csv", "time,a.x\n0,1\n2,3\n");
  for (const auto& files : {std::pair("empty.csv", "good.csv"), std::pair("good.csv", "empty.csv")}) {
    const auto result = run({"compare", files.first, files.second});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.err.find("empty.csv has no rows"), std::string::npos) << result.err;
    EXPECT_EQ(result.err.find("inf"), std::string::npos) << result.err;
  }
}

TEST_F(CompareTest, writes_a_page_on_request) {
  if (reporting::page_template().empty()) return;  // built without Node: refused, as a report is
  make("held", {});
  make("exact", {"--method", "monolithic"});
  const auto result = run({"compare", "held", "--reference", "exact", "--report", "page.html"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("report: page.html"), std::string::npos);
  EXPECT_GT(text_of(folder_ / "page.html").size(), 100'000U);
}

TEST_F(CompareTest, of_wrong_input_names_the_fault) {
  make("held", {});
  EXPECT_EQ(run({"compare", "held"}).exit_code, 2);
  EXPECT_EQ(run({"compare"}).exit_code, 2);
  const auto missing = run({"compare", "held", "nowhere"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("nowhere"), std::string::npos) << missing.err;
  write_text(folder_ / "other.csv", "time,x\n0,1\n");
  const auto nothing = run({"compare", "held", "other.csv", "--json"});
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_EQ(failure_in(nothing.out)["code"], "nothing-in-common") << nothing.err;
}

TEST_F(CompareTest, watched_signals_are_shown_as_a_line) {
  const auto result = run({"run", examples_folder() + "/lotka_volterra", "--out", "out", "--watch", "prey.p"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto at = result.out.find("prey.p  ");
  ASSERT_NE(at, std::string::npos) << result.out;
  EXPECT_NE(result.out.find("▁", at), std::string::npos);
  EXPECT_NE(result.out.find("█", at), std::string::npos);
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
}

}  // namespace compare_test
}  // namespace entrain::test
