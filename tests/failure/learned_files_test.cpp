// Files that are no learned correction, or a damaged one; reports of files of others.
#include <gtest/gtest.h>

#include <limits>

#include "report/learned_json.hpp"
#include "report/page.hpp"
#include "support/places.hpp"
#include "support/program.hpp"

namespace entrain::test {
namespace learned_files_test {

constexpr const char* kCorrection =
    R"({"format": "entrain learned correction 3", "system": "s", "start": 0, "step": 0.1, "steps": STEPS,
        "error": null, "options": {}, "description": [], "corrections": {"a.u": [1.0, 2.0]}})";

std::string correction(const std::string& steps) {
  std::string text = kCorrection;
  return text.replace(text.find("STEPS"), 5, steps);
}

TEST(LearnedFile, count_of_steps_that_cannot_be_takes_no_memory) {
  const TemporaryFolder folder;
  for (const auto& [steps, why] : {std::pair{"1000000000000000000", "2 corrections of 'a.u' instead of"},
                                   std::pair{"-1", "steps = -1 is no number of macro steps"},
                                   std::pair{"2.5", "steps = 2.5 is no number of macro steps"}}) {
    write_text(folder / "learned.json", correction(steps));
    try {
      read_learned(folder / "learned.json");
      FAIL() << steps;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  }
}

TEST(LearnedFile, may_be_named_by_its_folder_and_an_error_of_runs_that_diverged_is_infinite) {
  const TemporaryFolder folder;
  write_text(folder / "learned.json", correction("2"));
  const auto learned = read_learned(folder.path());
  EXPECT_EQ(learned.corrections, (std::vector<double>{1.0, 2.0}));
  EXPECT_EQ(learned.error, std::numeric_limits<double>::infinity());
  std::filesystem::create_directory(folder / "empty");
  const auto result = run_program(folder, {"run", examples_folder() + "/learning", "--learned", "empty"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("no such file: 'empty/learned.json'"), std::string::npos) << result.err;
}

TEST(ReportFiles, steps_of_another_program_are_named) {
  if (reporting::page_template().empty()) return;  // built without Node: there are no reports
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(folder, {"run", examples_folder() + "/lotka_volterra", "--quiet", "--out", "out"}).exit_code,
            0);
  write_text(folder / "out/steps.json", R"({"channels": [{"low": "none"}, 7]})");
  const auto result = run_program(folder, {"report", "out"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("cannot read 'out/steps.json'"), std::string::npos) << result.err;
}

}  // namespace learned_files_test
}  // namespace entrain::test
