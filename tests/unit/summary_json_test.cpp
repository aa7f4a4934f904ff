#include "entrain/report.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/replace_file.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/run.hpp"
#include "support/facts.hpp"
#include "support/temporary_folder.hpp"

namespace entrain::test {
namespace summary_json_test {

RunSummary example() {
  RunSummary summary;
  summary.version = "0.1.0";
  summary.system = "pair";
  summary.method = "jacobi";
  summary.termination = Termination::Completed;
  summary.stop = summary.reached = 20.0;
  summary.step = 0.01;
  summary.macro_steps = 2000;
  summary.max_coupling_residual = 1.25e-9;
  summary.worst_connection = "left.x -> right.x";
  summary.loops = {{{"a.y", "b.u"}, 1e-12}};
  summary.notes = {{FactCode::LoopsDelayed, {}, {{"loops", 2}}}};
  SubsystemSummary left;
  left.name = "left";
  left.source = "model mechanical.left";
  left.steps = 2000;
  left.capabilities.rollback = true;
  left.capabilities.max_step = 0.5;
  left.capabilities.substeps = 4;
  left.capabilities.feedthrough = Feedthrough(2, 3);
  left.capabilities.feedthrough.set(1, 2, true);
  summary.subsystems = {left};
  summary.parameters = {{"degree", std::int64_t{2}},
                        {"loops", std::string("delay")},
                        {"gains", std::map<std::string, double>{{"left.F", 0.6}}},
                        {"sequence", std::vector<std::string>{"left"}}};
  return summary;
}

nlohmann::json parsed(const RunSummary& summary) {
  return nlohmann::json::parse(summary_json(summary));
}

TEST(SummaryJson, has_every_key_a_reader_may_rely_on) {
  const auto json = parsed(example());
  for (const auto* key : {"entrain",
                          "system",
                          "method",
                          "termination",
                          "message",
                          "start",
                          "stop",
                          "reached",
                          "step",
                          "macro_steps",
                          "smallest_step",
                          "largest_step",
                          "rejected_steps",
                          "iterations",
                          "linearizations",
                          "wall_seconds",
                          "max_coupling_residual",
                          "worst_connection",
                          "loops",
                          "notes",
                          "warnings",
                          "subsystems",
                          "parameters"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["entrain"], "0.1.0");
  EXPECT_EQ(json["termination"], "completed");
  EXPECT_EQ(json["macro_steps"], 2000);
  EXPECT_EQ(json["max_coupling_residual"], 1.25e-9);
  EXPECT_EQ(json["loops"][0]["variables"], nlohmann::json({"a.y", "b.u"}));
  EXPECT_EQ(json["warnings"], nlohmann::json::array());
}

TEST(SummaryJson, contains_the_capabilities_of_each_subsystem) {
  const auto capabilities = parsed(example())["subsystems"]["left"]["capabilities"];
  EXPECT_EQ(capabilities["rollback"], true);
  EXPECT_EQ(capabilities["max_step"], 0.5);
  EXPECT_EQ(capabilities["substeps"], 4);
  EXPECT_FALSE(capabilities.contains("imposed_step"));
  EXPECT_EQ(capabilities["feedthrough"], nlohmann::json::parse("[[1,2]]"));
}

TEST(SummaryJson, keeps_the_type_of_every_option) {
  const auto parameters = parsed(example())["parameters"];
  EXPECT_TRUE(parameters["degree"].is_number_integer());
  EXPECT_EQ(parameters["loops"], "delay");
  EXPECT_EQ(parameters["gains"]["left.F"], 0.6);
  EXPECT_EQ(parameters["sequence"], nlohmann::json::parse(R"(["left"])"));
}

TEST(SummaryJson, stays_valid_json_for_numbers_and_text_that_json_has_not) {
  auto summary = example();
  summary.max_coupling_residual = std::numeric_limits<double>::quiet_NaN();
  summary.reached = std::numeric_limits<double>::infinity();
  summary.message = "bad byte \xff here";
  const auto json = parsed(summary);
  EXPECT_TRUE(json["max_coupling_residual"].is_null());
  EXPECT_TRUE(json["reached"].is_null());
  EXPECT_TRUE(json["message"].get<std::string>().starts_with("bad byte "));
}

TEST(SummaryJson, empty_system_is_an_object_too) {
  const auto json = parsed({});
  EXPECT_TRUE(json["subsystems"].is_object());
  EXPECT_TRUE(json["parameters"].is_object());
}

TEST(ReplaceFile, leaves_nothing_but_the_new_content) {
  const TemporaryFolder folder;
  base::replace_file(folder / "run.json", summary_json({}));
  base::replace_file(folder / "run.json", summary_json(example()));
  EXPECT_EQ(text_of(folder / "run.json"), summary_json(example()));
  const std::filesystem::directory_iterator files(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(ReplaceFile, failure_keeps_the_old_content_and_leaves_no_temporary_file) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "run.json/occupied");
  EXPECT_THROW(base::replace_file(folder / "run.json", "x"), Error);
  EXPECT_THROW(base::replace_file(folder / "nowhere/run.json", "x"), Error);
  const std::filesystem::directory_iterator files(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(RunDirectory, is_the_one_asked_for_made_with_its_parents) {
  const TemporaryFolder folder;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(make_run_directory("pair", folder / "a/b"), folder / "a/b");
    EXPECT_TRUE(std::filesystem::is_directory(folder / "a/b"));
  }
}

TEST(RunDirectory, takes_the_first_free_number) {
  const TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  EXPECT_EQ(make_run_directory("pair", std::nullopt), "runs/pair-1");
  write_text("runs/pair-2", "a file has this name");
  EXPECT_EQ(make_run_directory("pair", std::nullopt), "runs/pair-3");
  EXPECT_EQ(make_run_directory("other", std::nullopt), "runs/other-1");
  std::filesystem::current_path(before);
}

TEST(RunDirectory, failure_names_the_folder_and_a_remedy) {
  const TemporaryFolder folder;
  write_text(folder / "file", "");
  try {
    make_run_directory("pair", folder / "file/out");
    FAIL() << "must throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::FileFailed);
    EXPECT_EQ(error.fact().code, FactCode::FileFailed);
    EXPECT_EQ(error.fact().subjects, std::vector<std::string>{(folder / "file/out").string()});
    EXPECT_NE(error.context().remedy.find("--out"), std::string::npos);
  }
}

}  // namespace summary_json_test
}  // namespace entrain::test
