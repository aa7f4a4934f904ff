// The options of advise from the command line: search, parameters, the page; what is mistyped.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/places.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace advise_options_test {

using test::run_program;
using test::TemporaryFolder;

std::vector<std::string> advise_oscillator(std::vector<std::string> options) {
  options.insert(options.begin(), {"advise", test::examples_folder() + "/oscillator", "--step", "1", "--stop", "40"});
  return options;
}

TEST(AdviseOptions, sentences_contain_the_measures) {
  const TemporaryFolder folder;
  const auto run = run_program(
      folder, advise_oscillator({"--parameter", "force_side.c_k=0.1..10", "--parameter", "force_side.d_k"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const char* part : {"a disturbance falls to a half in", "stable with steps from", "(relative consistency)",
                           "structured stability radius", "conditions (50), (51)", "force_side.c_k, now 1: stable from",
                           "any of them, up or down, may change by a factor of", "recommended: ", "because: "}) {
    EXPECT_NE(run.out.find(part), std::string::npos) << part << "\n" << run.out;
  }
}

TEST(AdviseOptions, search_reports_a_front_and_the_page_has_its_data) {
  const TemporaryFolder folder;
  const auto run = run_program(folder, advise_oscillator({"--search", "--gain", "motion_side.F", "--threads", "2",
                                                          "--json", "--report", (folder / "advice.html").string()}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  ASSERT_FALSE(json["front"]["points"].empty());
  EXPECT_LT(json["front"]["knee"].get<std::size_t>(), json["front"]["points"].size());
  const auto page = test::text_of(folder / "advice.html");
  EXPECT_NE(page.find(R"("kind":"advice")"), std::string::npos);
  EXPECT_NE(page.find(R"("heat":)"), std::string::npos);
}

TEST(AdviseOptions, mistyped_names_and_ranges_are_reported) {
  const TemporaryFolder folder;
  const auto range = run_program(folder, advise_oscillator({"--parameter", "force_side.c_k=1..x"}));
  EXPECT_EQ(range.exit_code, 2);
  EXPECT_NE(range.err.find("SUB.VAR=LOW..HIGH"), std::string::npos) << range.err;
  const auto parameter = run_program(folder, advise_oscillator({"--parameter", "force_side.c_kk"}));
  EXPECT_EQ(parameter.exit_code, 2);
  EXPECT_NE(parameter.err.find("'force_side.c_kk'"), std::string::npos) << parameter.err;
  EXPECT_NE(parameter.err.find("force_side.c_k"), std::string::npos) << parameter.err;
  const auto gain = run_program(folder, advise_oscillator({"--search", "--gain", "motion_side.f"}));
  EXPECT_EQ(gain.exit_code, 2);
  EXPECT_NE(gain.err.find("'motion_side.f'"), std::string::npos) << gain.err;
}

}  // namespace advise_options_test
}  // namespace entrain
