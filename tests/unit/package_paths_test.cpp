// Paths that lead into a package, on the command line: an FMU or an SSP in it is used like one that lies on disk.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/archive.hpp"
#include "base/open_archives.hpp"
#include "support/archives.hpp"
#include "support/facts.hpp"
#include "support/program.hpp"
#include "support/systems.hpp"
#include "support/typed_fmus.hpp"

namespace entrain {
namespace package_paths_test {

namespace fs = std::filesystem;

constexpr const char* kDocument = R"(<SystemStructureDescription version="1.0" name="x"><System name="s"><Elements>
  <Component name="a" source="resources/prey.fmu"/></Elements></System><DefaultExperiment stopTime="1"/>
  </SystemStructureDescription>)";

class PackagePath : public testing::Test {
 protected:
  void SetUp() override {
    const std::string prey = test::text_of(test::fmu_folder() + "/2/lotka_volterra_prey.fmu");
    const std::string predator = test::text_of(test::fmu_folder() + "/3/lotka_volterra_predator.fmu");
    test::write_archive(folder_ / "inner.ssp", {{"SystemStructure.ssd", kDocument},
                                                {"resources/prey.fmu", prey},
                                                {"resources/predator.fmu", predator},
                                                {"notes.toml", "[run]\n"}});
    test::write_archive(folder_ / "outer.ssp", {{"deep/inner.ssp", test::text_of(folder_ / "inner.ssp")}});
  }
  test::ProgramResult program(const std::vector<std::string>& arguments) const {
    return test::run_program(folder_, arguments);
  }
  test::TemporaryFolder folder_;
};

TEST_F(PackagePath, of_an_fmu_is_inspected_run_and_taken_into_a_new_system) {
  for (const std::string package : {"inner.ssp", "outer.ssp/deep/inner.ssp"}) {
    const std::string prey = package + "/resources/prey.fmu";
    const auto inspected = program({"inspect", prey});
    EXPECT_EQ(inspected.exit_code, 0) << inspected.err;
    EXPECT_NE(inspected.out.find("fmu: prey.fmu (FMI 2.0"), std::string::npos) << inspected.out;
    EXPECT_EQ(test::results_of(folder_, prey, "inside", {"--stop", "1"}),
              test::results_of(folder_, test::fmu_folder() + "/2/lotka_volterra_prey.fmu", "outside", {"--stop", "1"}));
    const auto made = program({"new", "made", prey, package + "/resources/predator.fmu"});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    EXPECT_EQ(program({"run", "made", "--quiet"}).exit_code, 0);
    fs::remove_all(folder_ / "made");
  }
}

TEST_F(PackagePath, of_a_package_in_it_is_a_system) {
  const auto results = test::results_of(folder_, "inner.ssp", "alone");
  EXPECT_GT(results.size(), 1000U);
  EXPECT_EQ(results, test::results_of(folder_, "outer.ssp/deep/inner.ssp", "nested"));
  EXPECT_EQ(results, test::results_of(folder_, "inner.ssp/SystemStructure.ssd", "document"));
}

TEST_F(PackagePath, of_anything_else_is_refused_with_what_can_be_named) {
  EXPECT_EQ(test::outline_of_failure(program({"run", "inner.ssp/notes.toml", "--json"}).out),
            "not-read-in-archive inner.ssp/notes.toml, inner.ssp");
  EXPECT_EQ(test::outline_of_failure(program({"inspect", "inner.ssp/resources/pray.fmu", "--json"}).out),
            "no-such-file inner.ssp/resources/pray.fmu");
}

TEST_F(PackagePath, into_a_package_in_a_package_takes_the_inner_one_out_once) {
  const test::TemporaryFolder temporary;
  const char* before = std::getenv("TMPDIR");
  const std::string restored = before == nullptr ? "/tmp" : before;
  ::setenv("TMPDIR", temporary.path().c_str(), 1);
  {
    const base::OpenArchives kept;
    const base::LocatedFile prey(folder_ / "outer.ssp/deep/inner.ssp/resources/prey.fmu");
    const base::LocatedFile predator(folder_ / "outer.ssp/deep/inner.ssp/resources/predator.fmu");
    EXPECT_TRUE(fs::exists(prey.path()) && fs::exists(predator.path()));
    const auto folders = std::distance(fs::directory_iterator(temporary.path()), fs::directory_iterator());
    EXPECT_EQ(folders, 3) << "one for each FMU, one for the package around them";
  }
  EXPECT_TRUE(fs::is_empty(temporary.path()));
  ::setenv("TMPDIR", restored.c_str(), 1);
}

TEST(InitialInputs, are_reported_with_start_values_of_the_command_line_and_numbers_as_numbers) {
  const test::TemporaryFolder folder;
  test::write_typed2(folder);
  test::write_text(folder / "a.toml", "[subsystems.a]\nfmu = \"typed2.fmu\"\n");
  const auto shown = test::run_program(folder, {"inspect", "a.toml", "--initial", "--json", "--set", "a.x=20.5",
                                                "--set", "a.i=-7", "--set", "a.b=true", "--set", "a.s=word"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const auto inputs = nlohmann::json::parse(shown.out)["initial_inputs"];
  std::map<std::string, nlohmann::json> values;
  for (const auto& input : inputs) values[input["input"]] = input["value"];
  EXPECT_EQ(values["a.x"], 20.5);
  EXPECT_TRUE(values["a.x"].is_number_float());
  EXPECT_EQ(values["a.i"], -7);
  EXPECT_TRUE(values["a.i"].is_number_integer());
  EXPECT_EQ(values["a.b"], true);
  EXPECT_EQ(values["a.s"], "word");
}

}  // namespace package_paths_test
}  // namespace entrain
