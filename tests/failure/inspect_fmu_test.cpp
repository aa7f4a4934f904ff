// What `entrain inspect` reports of an FMU: what it is, its variables, what it can do and what each method makes of it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/facts.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/scripted_fmus.hpp"
#include "support/trap_fmus.hpp"

namespace entrain {
namespace inspect_fmu_test {

using test::expect_text;

std::string inspected(const std::string& fmu) {
  const test::TemporaryFolder folder;
  const auto result = test::run_program(folder, {"inspect", test::fmu_folder() + "/" + fmu});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.out;
}

TEST(InspectedFmu, is_reported_with_its_variables) {
  const std::string text = inspected("test/strict/2/mechanical_left.fmu");
  EXPECT_TRUE(text.starts_with("fmu: mechanical_left.fmu (FMI 2.0 co-simulation; offers model exchange)\n")) << text;
  expect_text(text, "mechanical.left");
  expect_text(text, "; made by Entrain fmukit\n");
  expect_text(text, "  F             input      N          0  force of the coupling spring and damper on this mass\n");
  expect_text(text, "  x             output     m          1  position\n");
  expect_text(text, "  m1            parameter  kg         5  mass\n");
}

TEST(InspectedFmu, that_can_do_everything_is_reported_in_plain_words) {
  const std::string text = inspected("test/strict/2/mechanical_left.fmu");
  for (const char* line :
       {"  can be rolled back: yes\n", "  inputs inside a step: cubics\n", "  provides its linearization: yes\n",
        "  ifosmondi: can run it\n", "  monolithic: can run it\n"}) {
    expect_text(text, line);
  }
}

TEST(InspectedFmu, that_can_do_nothing_has_a_line_for_each_method) {
  const std::string text = inspected("test/bare/2/mechanical_left.fmu");
  for (const char* line :
       {"  can be rolled back: no\n", "  inputs inside a step: constant\n", "  provides its linearization: no\n",
        "  jacobi: can run it\n", "  missiles: can run it\n", "  ifosmondi: can run it\n"}) {
    expect_text(text, line);
  }
  expect_text(text, "    " + render({FactCode::OutputsContinued, {"fmu"}}) + "\n");
  expect_text(text, "  monolithic: " + render({FactCode::NeedsEquations, {"fmu"}, {{"method", "monolithic"}}}) + "\n");
}

TEST(InspectedFmu, is_reported_in_json_as_well) {
  const test::TemporaryFolder folder;
  const auto result =
      test::run_program(folder, {"inspect", test::fmu_folder() + "/test/strict/3/mechanical_left.fmu", "--json"});
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["subsystems"]["fmu"]["capabilities"]["rollback"], true);
  expect_text(json["subsystems"]["fmu"]["about"], "made by Entrain fmukit");
  EXPECT_TRUE(json["obstacles_by_method"]["ifosmondi"].empty());
  EXPECT_TRUE(json["notes_by_method"].contains("missiles"));
}

/// What does not return from its initialization is not begun a second time, in another process or in the worker itself.
TEST(HangingFmu, is_reported_after_one_attempt) {
  const test::TemporaryFolder folder;
  test::write_trap(folder / "part.fmu", "early_hangs", "canGetAndSetFMUstate=\"true\"");
  test::write_text(folder / "system.toml",
                   "[run]\nstop = 1.0\nstep = 0.1\nmethod = \"jacobi\"\n"
                   "[subsystems.part]\nfmu = \"part.fmu\"\ntimeout = 0.5\n");
  const std::string counted = (folder / "instances").string();
  ::setenv("ENTRAIN_TEST_INSTANCES", counted.c_str(), 1);
  for (const char* verb : {"inspect", "check"}) {
    std::filesystem::remove(counted);
    const auto result = test::run_program(folder, {verb, "system.toml"});
    EXPECT_NE(result.exit_code, 0) << verb;
    expect_text(result.err, "did not return from fmi2EnterInitializationMode within 0.5 s");
    EXPECT_EQ(std::filesystem::file_size(counted), 1U) << verb;
  }
  ::unsetenv("ENTRAIN_TEST_INSTANCES");
}

}  // namespace inspect_fmu_test
}  // namespace entrain
