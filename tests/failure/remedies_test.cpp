// Remedies that can be followed: what the program proposes helps.
#include <gtest/gtest.h>

#include "support/facts.hpp"
#include "support/program.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace remedies_test {

constexpr const char* kRun = "[run]\nstop = 1.0\n";

TEST(EmptySource, is_an_error_of_check_run_and_inspect) {
  for (const std::string key : {"fmu", "model", "csv"}) {
    const test::TemporaryFolder folder;
    test::write_text(folder / "s.toml", kRun + ("[subsystems.a]\n" + key + " = \"\"\n"));
    for (const char* command : {"check", "run", "inspect"}) {
      const auto result = test::run_program(folder, {command, "s.toml"});
      EXPECT_EQ(result.exit_code, 1) << command << key;
      EXPECT_NE(result.err.find("s.toml:4: subsystems.a." + key + " is empty; name one"), std::string::npos)
          << command << ": " << result.err;
    }
  }
}

TEST(EmptySource, of_a_description_made_by_a_program_is_named) {
  auto system = test::system_from(std::string(kRun) + "[subsystems.a]\nmodel = \"car.body\"\n");
  system.subsystems[0].model.clear();
  try {
    const Simulation simulation(system);
    FAIL() << "accepted";
  } catch (const Error& error) {
    ASSERT_EQ(error.problems().size(), 1U);
    EXPECT_EQ(error.problems()[0].fact, (Fact{FactCode::NoSource, {"a"}}));
  }
}

TEST(KeysThatAreThereTwice, are_reported_with_the_list_that_was_meant) {
  const test::TemporaryFolder folder;
  test::write_text(folder / "s.toml", std::string(kRun) + "[connections]\n\"a.y\" = \"b.u\"\n\"a.y\" = \"b.w\"\n");
  const auto result = test::run_program(folder, {"check", "s.toml"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("s.toml:5: "), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("\"a.y\" = [\"b.u\", \"c.u\"]"), std::string::npos) << result.err;
}

TEST(MissingFolder, of_a_file_to_write_is_to_be_made) {
  const test::TemporaryFolder folder;
  test::write_text(folder / "s.toml",
                   std::string(kRun) + "[subsystems.a]\nmodel = \"lotka_volterra.prey\"\nstart = { u = 1.0 }\n");
  const auto result = test::run_program(folder, {"convert", "s.toml", "absent/x.toml"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("Make its folder first"), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("--out"), std::string::npos) << result.err;
}

TEST(EmptySsd, is_reported_with_the_remedy_to_add_a_component) {
  const test::TemporaryFolder folder;
  test::write_text(
      folder / "s.ssd",
      R"(<SystemStructureDescription xmlns="http://ssp-standard.org/SSP1/SystemStructureDescription" version="1.0" name="s">
<System name="root"/></SystemStructureDescription>)");
  const auto result = test::run_program(folder, {"check", "s.ssd"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("add a Component with an FMU as its source"), std::string::npos) << result.err;
}

}  // namespace remedies_test
}  // namespace entrain
