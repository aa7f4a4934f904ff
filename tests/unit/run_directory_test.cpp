// A run into a folder, as the program makes it: which files there are, and when the callbacks of a caller are called.
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "entrain/entrain.hpp"
#include "entrain/fact_codes.hpp"
#include "methods/registry.hpp"
#include "support/places.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"

namespace entrain::test {
namespace run_directory_test {

namespace fs = std::filesystem;

SystemDescription prey_and_predators() {
  auto description = load(examples_folder() + "/lotka_volterra");
  description.method.value = "jacobi";
  description.step = {0.01, {}};
  description.stop = {1.0, {}};
  return description;
}

TEST(RunIntoAFolder, leaves_everything_that_the_program_leaves) {
  const TemporaryFolder folder;
  RunDirectoryOptions options;
  options.folder = folder / "out";
  options.note = "made by a\x1btest";
  const auto result = run(prey_and_predators(), options);
  EXPECT_EQ(result.summary.termination, Termination::Completed);
  EXPECT_EQ(result.results, folder / "out/results.csv");
  EXPECT_TRUE(result.report.empty());
  EXPECT_EQ(text_of(folder / "out/run.json"),
            summary_json(result.summary, result.recorded, &result.verdict, &result.estimate));
  EXPECT_TRUE(fs::exists(folder / "out/steps.json"));
  EXPECT_TRUE(text_of(folder / "out/system.resolved.toml").starts_with("# made by a\\x1btest\n[run]\n"));
  EXPECT_FALSE(fs::exists(folder / "out/fmu.log")) << "no subsystem logged";
}

TEST(RunIntoAFolder, has_the_first_calls_by_the_wall_clock_and_no_more) {
  const TemporaryFolder folder;
  RunDirectoryOptions options;
  options.folder = folder / "out";
  options.estimate = false;
  auto description = prey_and_predators();
  description.stop = {10.0, {}};
  ASSERT_EQ(run(description, options).summary.termination, Termination::Completed);
  const auto json = nlohmann::json::parse(text_of(folder / "out/timeline.json"));
  EXPECT_EQ(json["subsystems"], nlohmann::json::parse(R"(["prey","predator"])"));
  const auto& calls = json["calls"];
  ASSERT_EQ(calls.size(), 512U) << "of 2000";
  double before = 0.0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto& call = calls[i];
    EXPECT_EQ(call[0], i % 2) << "one thread makes them in their order";
    EXPECT_EQ(call[1], 1 + i / 2) << "both of a step are one batch";
    EXPECT_EQ(call[2], 0) << "no trial";
    EXPECT_DOUBLE_EQ(call[3].get<double>(), 0.01 * static_cast<double>(i / 2));
    EXPECT_EQ(call[4], 0.01);
    EXPECT_LE(before, call[5].get<double>()) << "none begins before the one before has ended";
    EXPECT_LE(call[5].get<double>(), call[6].get<double>());
    before = call[6];
  }
}

TEST(RunIntoAFolder, has_a_page_only_of_calls_that_the_program_wrote) {
  const TemporaryFolder folder;
  RunDirectoryOptions options;
  options.folder = folder / "out";
  options.estimate = false;
  ASSERT_EQ(run(prey_and_predators(), options).summary.termination, Termination::Completed);
  EXPECT_NO_THROW(static_cast<void>(report_json(folder / "out")));
  for (const auto* bad :
       {R"({"subsystems": ["prey"], "calls": [[1, 1, 0, 0, 0, 0, 0]]})", R"({"subsystems": ["prey"]})",
        R"({"subsystems": 3, "calls": []})", R"({"subsystems": ["prey"], "calls": [["0"]]})"}) {
    write_text(folder / "out/timeline.json", bad);
    EXPECT_THROW(static_cast<void>(report_json(folder / "out")), Error) << bad;
  }
  write_text(folder / "out/timeline.json", "cut off");
  EXPECT_NO_THROW(static_cast<void>(report_json(folder / "out"))) << "as a killed run leaves it";
}

TEST(RunIntoAFolder, is_judged_from_its_files_as_it_was_at_its_end) {
  const TemporaryFolder folder;
  RunDirectoryOptions options;
  options.folder = folder / "out";
  const auto result = run(prey_and_predators(), options);
  const auto later = verdict(folder / "out");
  EXPECT_NE(later.grade, Grade::Unknown) << later.headline();
  EXPECT_EQ(later.headline(), result.verdict.headline());
  EXPECT_EQ(later.reasons, result.verdict.reasons);
  EXPECT_EQ(later.grade, result.verdict.grade);
}

TEST(RunIntoAFolder, can_be_read_with_the_units_that_csv_does_not_hold) {
  const TemporaryFolder folder;
  RunDirectoryOptions options;
  options.folder = folder / "out";
  auto description = load(examples_folder() + "/two_mass");
  description.method.value = "jacobi";
  description.stop = {1.0, {}};
  run(description, options);
  const auto results = read_results(folder / "out");
  ASSERT_NE(results.find("left.v"), nullptr);
  EXPECT_EQ(results.find("left.v")->unit, "m/s");
  EXPECT_EQ(results.times(*results.find("left.v")).back(), 1.0);
  EXPECT_EQ(read_results(folder / "out/results.csv").find("left.v")->unit, "");
}

TEST(RunIntoAFolder, calls_back_before_anything_is_written_at_the_end_and_when_all_is_there) {
  const TemporaryFolder folder;
  const auto out = folder / "out";
  std::vector<std::string> reported;
  const auto termination = [&] { return text_of(out / "run.json").find("\"completed\"") != std::string::npos; };
  RunDirectoryOptions options;
  options.folder = out;
  options.progress.prepared = [&](const Simulation& simulation) {
    reported.push_back("prepared");
    EXPECT_FALSE(simulation.signals().empty());
    EXPECT_FALSE(fs::exists(out));
  };
  options.progress.ended = [&](const RunResult& result) {
    reported.push_back("ended");
    EXPECT_FALSE(result.abandoned);
    EXPECT_TRUE(result.verdict.reasons.empty()) << "nothing is judged yet";
    EXPECT_FALSE(termination()) << "what happened is reported before the last file, which a full disk may refuse";
  };
  options.progress.estimating = [&](double) {
    if (reported.back() == "ended") reported.push_back("estimating");
    EXPECT_TRUE(termination());
    EXPECT_TRUE(fs::exists(out / "steps.json"));
    EXPECT_NE(text_of(out / "run.json").find("\"pending\""), std::string::npos);
  };
  options.progress.written = [&](const RunResult& result) {
    reported.push_back("written");
    EXPECT_TRUE(termination());
    EXPECT_EQ(text_of(out / "run.json").find("\"pending\""), std::string::npos);
    EXPECT_EQ(result.verdict.output, verdict(out).output);
  };
  MemoryRecorder recorded;
  options.observers = {recorded};
  run(prey_and_predators(), options);
  EXPECT_EQ(reported, (std::vector<std::string>{"prepared", "ended", "estimating", "written"}));
  EXPECT_EQ(recorded.times.size(), 101U);
}

TEST(RunIntoAFolder, without_an_estimate_is_of_unknown_grade_for_that_reason) {
  const TemporaryFolder folder;
  RunDirectoryOptions options;
  options.folder = folder / "out";
  options.estimate = false;
  options.progress.estimating = [](double) { ADD_FAILURE() << "nothing is to be run again"; };
  const auto result = run(prey_and_predators(), options);
  EXPECT_EQ(result.verdict.grade, Grade::Unknown);
  EXPECT_EQ(result.verdict.reasons.front().code, FactCode::EstimateOff);
  EXPECT_EQ(result.estimate.extra_steps, 0U);
  EXPECT_EQ(verdict(folder / "out").grade, Grade::Unknown);
}

TEST(RunIntoAFolder, that_failed_is_unreliable_and_nothing_is_run_again) {
  const TemporaryFolder folder;
  RunDirectoryOptions options;
  options.folder = folder / "out";
  std::atomic<bool> interrupt = true;
  options.run.interrupt = &interrupt;
  const auto result = run(prey_and_predators(), options);
  EXPECT_EQ(result.summary.termination, Termination::Interrupted);
  EXPECT_EQ(result.verdict.grade, Grade::Unreliable);
  EXPECT_EQ(result.verdict.reasons.front().code, FactCode::RunInterrupted);
  EXPECT_EQ(verdict(folder / "out").reasons.front().code, FactCode::RunInterrupted);
}

/// The adviser has nothing to offer.
std::vector<Written<std::string>> without_another_method() {
  std::vector<Written<std::string>> excluded;
  for (const auto& [traits, make] : method::built_in_methods().entries()) excluded.push_back({traits.name, {}});
  return excluded;
}

TEST(RunUntilTrusted, takes_the_method_that_the_adviser_offers_where_smaller_steps_cost_more) {
  const TemporaryFolder folder;
  auto description = prey_and_predators();
  description.method.value = "jacobi";
  description.step = {0.05, {}};
  description.tolerance = {1e-5, {}};  // held inputs would need 100 000 steps and more
  RunDirectoryOptions options;
  options.folder = folder / "out";
  std::vector<std::string> methods;
  MeetOptions meet;
  meet.attempt = [&](const RunAttempt& attempt) { methods.push_back(attempt.method); };
  const auto result = run_until_trusted(description, options, meet);
  EXPECT_EQ(result.verdict.grade, Grade::Trusted) << result.verdict.headline();
  ASSERT_GE(methods.size(), 2U);
  EXPECT_EQ(methods.front(), "");
  EXPECT_EQ(methods[1], result.summary.method);
  EXPECT_NE(result.summary.method, "jacobi");
  ASSERT_FALSE(result.summary.notes.empty());
  EXPECT_EQ(result.summary.notes.front().code, FactCode::MethodChosen);
  EXPECT_NE(text_of(folder / "out" / "run.json").find("method-chosen"), std::string::npos);
}

/// Held inputs at a step of 0.05 s: the populations have an error of several per cent.
TEST(RunUntilTrusted, refines_the_step_in_one_folder_until_the_bound_is_within_the_tolerance) {
  const TemporaryFolder folder;
  auto description = prey_and_predators();
  description.method.value = "jacobi";
  description.step = {0.05, {}};
  description.exclude = without_another_method();
  RunDirectoryOptions options;
  options.folder = folder / "out";
  std::vector<double> steps;
  MeetOptions meet;
  meet.attempt = [&](const RunAttempt& attempt) {
    EXPECT_EQ(attempt.number, static_cast<int>(steps.size()) + 1);
    steps.push_back(attempt.refinement.step.value_or(0.05));
  };
  const auto result = run_until_trusted(description, options, meet);
  EXPECT_EQ(result.verdict.grade, Grade::Trusted) << result.verdict.headline();
  EXPECT_GE(steps.size(), 2U);
  EXPECT_LT(steps.back(), 0.05);
  EXPECT_EQ(result.summary.step, steps.back());
  EXPECT_EQ(result.folder, folder / "out");
  EXPECT_EQ(verdict(folder / "out").grade, Grade::Trusted);
}

TEST(RunUntilTrusted, ends_with_the_reason_when_the_budget_is_spent) {
  const TemporaryFolder folder;
  auto description = prey_and_predators();
  description.method.value = "jacobi";
  description.step = {0.05, {}};
  description.tolerance = {1e-6, {}};
  description.exclude = without_another_method();
  RunDirectoryOptions options;
  options.folder = folder / "out";
  MeetOptions meet;
  meet.budget = 2.0;
  const auto result = run_until_trusted(description, options, meet);
  EXPECT_NE(result.verdict.grade, Grade::Trusted);
  EXPECT_EQ(result.verdict.reasons.back().code, FactCode::MeetBudget);
  EXPECT_EQ(verdict(folder / "out").reasons.back().code, FactCode::MeetBudget);
}

TEST(RunIntoAFolder, that_is_refused_before_it_began_leaves_nothing) {
  const TemporaryFolder folder;
  RunDirectoryOptions options;
  options.folder = folder / "out";
  options.progress.prepared = [](const Simulation&) { throw std::invalid_argument("no"); };
  EXPECT_THROW(run(prey_and_predators(), options), std::invalid_argument);
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST(MemoryRecorder, of_a_run_that_is_made_again_holds_the_last_one) {
  auto description = prey_and_predators();
  MemoryRecorder recorded({"prey.p"});
  for (int i = 0; i < 2; ++i) {
    Simulation simulation(description);
    simulation.observe(recorded);
    simulation.run();
    EXPECT_EQ(recorded.names.size(), 1U);
    EXPECT_EQ(recorded.column("prey.p").size(), 101U);
  }
}

}  // namespace run_directory_test
}  // namespace entrain::test
