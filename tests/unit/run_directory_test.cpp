// A run into a folder, as the program makes it: which files there are, and when the callbacks of a caller are called.
#include <gtest/gtest.h>

#include <stdexcept>

#include "entrain/entrain.hpp"
#include "support/places.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"

namespace entrain::test {
namespace run_directory_test {

namespace fs = std::filesystem;

SystemDescription prey_and_predators() {
  auto description = load(examples_folder() + "/lotka_volterra");
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
  EXPECT_EQ(text_of(folder / "out/run.json"), summary_json(result.summary, result.recorded));
  EXPECT_TRUE(fs::exists(folder / "out/steps.json"));
  EXPECT_TRUE(text_of(folder / "out/system.resolved.toml").starts_with("# made by a\\x1btest\n[run]\n"));
  EXPECT_FALSE(fs::exists(folder / "out/fmu.log")) << "no subsystem logged";
}

TEST(RunIntoAFolder, is_judged_from_its_files_as_it_was_at_its_end) {
  const TemporaryFolder folder;
  RunDirectoryOptions options;
  options.folder = folder / "out";
  const auto result = run(prey_and_predators(), options);
  const auto later = verdict(folder / "out");
  ASSERT_TRUE(result.verdict);
  EXPECT_EQ(later.headline, result.verdict->headline);
  EXPECT_EQ(later.reasons, result.verdict->reasons);
  EXPECT_EQ(later.level, result.verdict->level);
}

TEST(RunIntoAFolder, can_be_read_with_the_units_that_csv_does_not_hold) {
  const TemporaryFolder folder;
  RunDirectoryOptions options;
  options.folder = folder / "out";
  auto description = load(examples_folder() + "/two_mass");
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
    EXPECT_TRUE(result.verdict);
    EXPECT_FALSE(termination()) << "what happened is reported before the last file, which a full disk may refuse";
  };
  options.progress.written = [&](const RunResult&) {
    reported.push_back("written");
    EXPECT_TRUE(termination());
  };
  MemoryRecorder recorded;
  options.observers = {recorded};
  run(prey_and_predators(), options);
  EXPECT_EQ(reported, (std::vector<std::string>{"prepared", "ended", "written"}));
  EXPECT_EQ(recorded.times.size(), 101U);
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
