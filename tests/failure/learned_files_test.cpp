// Files that are no learned correction, or a damaged one; reports of files of others.
#include <gtest/gtest.h>

#include <limits>

#include "report/learned_json.hpp"
#include "report/page.hpp"
#include "support/facts.hpp"
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
  for (const auto& [steps, code] : {std::pair{"1000000000000000000", "learned-count"},
                                    std::pair{"-1", "learned-step-count"}, std::pair{"2.5", "learned-step-count"}}) {
    write_text(folder / "learned.json", correction(steps));
    const auto error = error_of([&] { read_learned(folder / "learned.json"); });
    ASSERT_TRUE(error) << steps;
    EXPECT_EQ(error->fact().code, FactCode::LearnedUnusable);
    EXPECT_EQ(error->fact().text("of"), code) << error->what();
  }
}

TEST(LearnedFile, may_be_named_by_its_folder_and_an_error_of_runs_that_diverged_is_infinite) {
  const TemporaryFolder folder;
  write_text(folder / "learned.json", correction("2"));
  const auto learned = read_learned(folder.path());
  EXPECT_EQ(learned.corrections, (std::vector<double>{1.0, 2.0}));
  EXPECT_EQ(learned.error, std::numeric_limits<double>::infinity());
  std::filesystem::create_directory(folder / "empty");
  const auto result = run_program(folder, {"run", examples_folder() + "/learning", "--learned", "empty", "--json"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(outline_of_failure(result.out), "no-such-file empty/learned.json");
}

TEST(ReportFiles, steps_of_another_program_are_named) {
  if (reporting::page_template().empty()) return;  // built without Node: there are no reports
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(folder, {"run", examples_folder() + "/lotka_volterra", "--quiet", "--out", "out"}).exit_code,
            0);
  write_text(folder / "out/steps.json", R"({"channels": [{"low": "none"}, 7]})");
  const auto result = run_program(folder, {"report", "out"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("'out/steps.json'"), std::string::npos) << result.err;
}

}  // namespace learned_files_test
}  // namespace entrain::test
