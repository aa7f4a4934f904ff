// advise, verify and method = "auto" from the command line: messages, exit codes, files.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/facts.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace advise_test {

using test::run_program;
using test::TemporaryFolder;

constexpr const char* kPair = R"(
[run]
stop = 2.0
step = 0.01
method = "auto"
[subsystems.prey]
model = "lotka_volterra.prey"
EXTRA
[subsystems.predator]
model = "lotka_volterra.predator"
[connections]
"prey.p" = "predator.u"
"predator.P" = "prey.u"
)";

std::filesystem::path pair_in(const TemporaryFolder& folder, const std::string& extra) {
  std::string text = kPair;
  text.replace(text.find("EXTRA"), 5, extra);
  std::ofstream(folder.path() / "pair.toml") << text;
  return folder.path() / "pair.toml";
}

nlohmann::json json_of(const test::ProgramResult& run) {
  return nlohmann::json::parse(run.out);
}

TEST(Advise, choice_has_a_reason_and_can_be_applied_and_run) {
  const TemporaryFolder folder;
  const auto file = pair_in(folder, "");
  const auto advice = run_program(folder, {"advise", file.string(), "--json", "--apply"});
  ASSERT_EQ(advice.exit_code, 0) << advice.err;
  const auto json = json_of(advice);
  EXPECT_FALSE(json["reason"].get<std::string>().empty());
  EXPECT_EQ(json["candidates"].size(), 12U);
  const auto run = run_program(
      folder, {"run", (folder / "pair.advised.toml").string(), "--json", "--out", (folder / "out").string()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json_of(run)["method"], json["method"]);
  EXPECT_EQ(json_of(run)["step"], json["recommended_step"]);
}

TEST(Advise, without_linearization_reports_it_and_probes) {
  const TemporaryFolder folder;
  const auto advice = run_program(folder, {"advise", pair_in(folder, "linearization = false").string(), "--json"});
  ASSERT_EQ(advice.exit_code, 0) << advice.err;
  const auto json = json_of(advice);
  EXPECT_TRUE(test::has_fact(json["remarks"], FactCode::NoStepMatrix, "prey")) << json["remarks"];
  EXPECT_TRUE(test::has_fact(json["missing"], FactCode::LinearizationMissing, "prey")) << json["missing"];
  EXPECT_TRUE(json["reasons"][0]["values"].contains("length")) << json["reason"];
  EXPECT_TRUE(json["candidates"][0]["error"].is_null());
}

TEST(Advise, imposed_step_that_fits_no_grid_leaves_f3ornits_with_the_reason) {
  const TemporaryFolder folder;
  const auto advice = run_program(folder, {"advise", pair_in(folder, "step = 0.013").string(), "--json"});
  ASSERT_EQ(advice.exit_code, 0) << advice.err;
  EXPECT_EQ(json_of(advice)["method"], "f3ornits");
  EXPECT_FALSE(json_of(advice)["reason"].get<std::string>().empty());
  EXPECT_TRUE(test::has_fact(json_of(advice)["candidates"][0]["obstacles"], FactCode::ImposedStepDoesNotFit, "prey"));
}

TEST(Advise, given_step_whose_parts_fit_no_imposed_one_is_kept_and_not_confirmed) {
  const TemporaryFolder folder;
  const auto file = pair_in(folder, "step = 0.001").string();
  const auto advice = run_program(folder, {"advise", file, "--step", "0.003", "--verify", "--json"});
  ASSERT_EQ(advice.exit_code, 3) << advice.err;
  EXPECT_EQ(json_of(advice)["recommended_step"], 0.003);
  EXPECT_TRUE(test::has_fact(json_of(advice)["remarks"], FactCode::NotVerified));
}

TEST(Verify, exit_code_shows_whether_the_tolerance_is_kept) {
  const TemporaryFolder folder;
  const auto verified = [&](const std::string& option, const std::string& value) {
    std::vector<std::string> arguments{"verify", test::examples_folder() + "/oscillator", "--stop", "4", option};
    if (!value.empty()) arguments.push_back(value);
    return run_program(folder, arguments);
  };
  EXPECT_EQ(verified("--tolerance", "0.5").exit_code, 0);
  EXPECT_EQ(verified("--tolerance", "1e-9").exit_code, 3);
  EXPECT_NEAR(json_of(verified("--json", ""))["outputs"]["motion_side.x"]["order"].get<double>(), 1.0, 0.2);
}

TEST(Advise, and_verify_take_the_changes_that_run_takes) {
  const TemporaryFolder folder;
  const auto file = pair_in(folder, "").string();
  const auto verified = json_of(run_program(
      folder, {"verify", file, "--set", "prey.p=2.0", "--method", "jacobi", "--option", "degree=1", "--json"}));
  const auto plain =
      json_of(run_program(folder, {"verify", file, "--method", "jacobi", "--option", "degree=1", "--json"}));
  EXPECT_NE(verified["outputs"]["prey.p"], plain["outputs"]["prey.p"]);
  const auto unknown = run_program(folder, {"advise", file, "--set", "prey.q=2.0"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("'q'"), std::string::npos) << unknown.err;
  const auto alone = run_program(folder, {"advise", file, "--gain", "prey.u"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_NE(alone.err.find("--gain requires --search"), std::string::npos) << alone.err;
}

TEST(Auto, runs_a_real_method_with_the_reason) {
  const TemporaryFolder folder;
  const auto run = run_program(folder, {"run", pair_in(folder, "").string(), "--json", "--out", "out"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = json_of(run);
  EXPECT_EQ(json["method"], "missiles");
  EXPECT_EQ(test::json_fact(json["notes"], FactCode::MethodChosen, "missiles")["values"]["reasons"],
            name_of(FactCode::TrialMeasured))
      << json["notes"];
  // What was really run can be run again, to the same bits.
  const auto again = run_program(folder, {"run", "out/system.resolved.toml", "--quiet", "--out", "again"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(test::text_of(folder / "out/results.csv"), test::text_of(folder / "again/results.csv"));
}

TEST(Auto, falls_back_to_capabilities) {
  const auto note = [&](const std::string& extra, const std::vector<std::string>& words = {}) {
    const TemporaryFolder folder;
    std::vector<std::string> command{"run", pair_in(folder, extra).string(), "--json", "--out", "out"};
    command.insert(command.end(), words.begin(), words.end());
    const auto run = run_program(folder, command);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(json_of(run)["verdict"]["grade"], "trusted") << extra;
    return test::json_fact(json_of(run)["notes"], FactCode::MethodChosen);
  };
  for (const auto* extra : {"linearization = false", "linearization = false\nrollback = false"}) {
    const auto chosen = note(extra);
    EXPECT_EQ(chosen["values"]["reasons"], name_of(FactCode::TrialMeasured)) << extra;
    EXPECT_EQ(chosen["subjects"][0], "missiles") << extra;  // without linearizations it continues states
    EXPECT_EQ(note(extra, {"--exclude", "missiles"})["subjects"][0], "gauss-seidel of degree 1") << extra;
  }
  const auto odd = note("step = 0.013", {"--exclude", "waveform"});  // the other one that can
  EXPECT_EQ(odd["subjects"][0], "f3ornits");
  EXPECT_TRUE(odd["values"]["reasons"].get<std::string>().ends_with(name_of(FactCode::NoOtherMethod)));
}

TEST(Auto, names_a_declared_patent_and_leaves_out_what_is_excluded) {
  const TemporaryFolder folder;
  const auto file = pair_in(folder, "").string();
  const auto first = run_program(folder, {"run", file, "--out", "a"});
  EXPECT_NE(first.out.find("pending patent"), std::string::npos) << first.out;
  const auto second = run_program(folder, {"run", file, "--exclude", "missiles", "--json", "--out", "b"});
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_NE(json_of(second)["method"], "missiles");
  const auto wrong = run_program(folder, {"advise", file, "--exclude", "misiles"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("did you mean 'missiles'?"), std::string::npos) << wrong.err;
}

TEST(Auto, is_the_default_and_continues_with_what_it_chose) {
  const TemporaryFolder folder;
  auto text = std::string(kPair);
  for (const char* line : {"method = \"auto\"\n", "step = 0.01\n"})
    text.erase(text.find(line), std::string(line).size());
  text.replace(text.find("EXTRA"), 5, "");
  std::ofstream(folder.path() / "pair.toml") << text;
  const auto whole = run_program(folder, {"run", "pair.toml", "--json", "--out", "whole"});
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_TRUE(test::has_fact(json_of(whole)["notes"], FactCode::MethodChosen));
  ASSERT_EQ(run_program(folder, {"run", "pair.toml", "--quiet", "--stop", "1", "--checkpoint", "c", "--out", "half"})
                .exit_code,
            0);
  const auto resumed =
      run_program(folder, {"run", "pair.toml", "--resume", "c", "--stop", "1", "--json", "--out", "resumed"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_FALSE(test::has_fact(json_of(resumed)["notes"], FactCode::MethodChosen)) << "no second search";
}

TEST(Auto, is_checked_without_a_run_and_suggested_when_mistyped) {
  const TemporaryFolder folder;
  const auto file = pair_in(folder, "");
  EXPECT_EQ(run_program(folder, {"check", file.string()}).exit_code, 0);
  const auto wrong = run_program(folder, {"run", file.string(), "--method", "aut"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("did you mean 'auto'?"), std::string::npos) << wrong.err;
}

}  // namespace advise_test
}  // namespace entrain
