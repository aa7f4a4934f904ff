// `entrain new`: from bare FMUs to a system that runs.
#include <gtest/gtest.h>

#include "api/proposals.hpp"
#include "support/archives.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/scripted_descriptions.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace new_system_test {

namespace fs = std::filesystem;

std::string fmu(const std::string& name, int version = 2) {
  return test::fmu_folder() + "/test/strict/" + std::to_string(version) + "/" + name + ".fmu";
}

Variable port(const std::string& name, const std::string& unit = {}) {
  return {name, unit, "", ValueType::Real, 0.0};
}

/// "input <- output, output (reason)", with ! when it is sure.
std::vector<std::string> proposed(const std::vector<api::Part>& parts) {
  std::vector<std::string> lines;
  for (const auto& proposal : api::propose_connections(parts)) {
    std::string line = proposal.input + " <-";
    for (const auto& output : proposal.outputs) line += " " + output;
    lines.push_back(line + (proposal.outputs.empty() ? "" : " (" + proposal.reason + ")") + (proposal.sure ? "!" : ""));
  }
  return lines;
}

api::Part part(const std::string& name, std::vector<Variable> inputs, std::vector<Variable> outputs) {
  api::Part result{name, {}};
  result.variables.inputs = std::move(inputs);
  result.variables.outputs = std::move(outputs);
  return result;
}

using Lines = std::vector<std::string>;

TEST(Proposal, takes_the_same_name_first_and_never_the_own_output) {
  EXPECT_EQ(proposed({part("a", {port("x"), port("F")}, {port("v"), port("x")}),
                      part("b", {port("v")}, {port("F"), port("x")})}),
            (Lines{"a.x <- b.x (same name)!", "a.F <- b.F (same name)!", "b.v <- a.v (same name)!"}));
}

TEST(Proposal, sees_through_spelling_and_the_name_of_the_owner) {
  EXPECT_EQ(proposed({part("engine", {port("LoadIn")}, {port("speed_out")}),
                      part("gearbox", {port("engine.speed")}, {port("load")})}),
            (Lines{"engine.LoadIn <- gearbox.load (similar name)!",
                   "gearbox.engine.speed <- engine.speed_out (similar name)!"}));
}

TEST(Proposal, keeps_units_apart) {
  EXPECT_EQ(proposed({part("a", {port("u", "m")}, {}), part("b", {}, {port("u", "s"), port("y", "m"), port("z")})}),
            (Lines{"a.u <- b.y (same unit)!"}));
}

TEST(Proposal, is_not_sure_of_one_output_for_two_inputs_without_a_name) {
  EXPECT_EQ(proposed({part("a", {port("u1"), port("u2")}, {}), part("b", {port("w")}, {port("y")})}),
            (Lines{"a.u1 <- b.y (the type fits)", "a.u2 <- b.y (the type fits)", "b.w <-"}));
}

TEST(Proposal, is_not_sure_of_two_outputs_with_the_name) {
  EXPECT_EQ(proposed({part("a", {port("x")}, {}), part("b", {}, {port("x")}), part("c", {}, {port("x")})}),
            (Lines{"a.x <- b.x c.x (same name)"}));
}

struct Example {
  std::string name;
  std::vector<std::string> fmus;
  std::size_t connections;  ///< that are unambiguous
};

class NewSystem : public testing::TestWithParam<Example> {
 protected:
  test::TemporaryFolder folder_;
};

TEST_P(NewSystem, of_the_fmus_of_an_example_checks_and_runs) {
  for (const int version : {2, 3}) {
    const std::string name = "system" + std::to_string(version);
    std::vector<std::string> arguments{"new", name};
    for (const auto& each : GetParam().fmus) arguments.push_back(fmu(each, version));
    const auto made = test::run_program(folder_, arguments);
    ASSERT_EQ(made.exit_code, 0) << made.err;
    EXPECT_EQ(load(folder_ / name).connections.size(), GetParam().connections)
        << test::text_of(folder_ / name / "system.toml");
    const std::string none_open = std::to_string(GetParam().connections) + " connections, no input is open";
    EXPECT_NE(made.out.find(none_open) == std::string::npos, made.err.find(" open: ") == std::string::npos)
        << made.out << made.err;
    const auto checked = test::run_program(folder_, {"check", name});
    EXPECT_EQ(checked.exit_code, 0) << checked.err;
    const auto run = test::run_program(folder_, {"run", name, "--quiet", "--require", "any"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, NewSystem,
                         testing::Values(Example{"mechanical", {"mechanical_left", "mechanical_right"}, 3},
                                         Example{
                                             "lotka_volterra", {"lotka_volterra_prey", "lotka_volterra_predator"}, 2},
                                         Example{"oscillator", {"oscillator_force_side", "oscillator_motion_side"}, 3},
                                         Example{"two_mass", {"two_mass_left", "two_mass_right"}, 3},
                                         Example{"car", {"car_body", "car_controller"}, 2},
                                         Example{"chain", {"chain_mass", "chain_mass", "chain_mass"}, 0}),
                         [](const auto& each) { return each.param.name; });

TEST(NewFolder, overwrites_nothing) {
  const test::TemporaryFolder folder;
  const std::vector<std::string> arguments{"new", "lv", fmu("lotka_volterra_prey")};
  EXPECT_EQ(test::run_program(folder, arguments).exit_code, 0);
  const auto again = test::run_program(folder, arguments);
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.err.find("'lv/system.toml'"), std::string::npos) << again.err;
  fs::create_directories(folder / "other");
  test::write_text(folder / "other" / "lotka_volterra_prey.fmu", "precious");
  EXPECT_EQ(test::run_program(folder, {"new", "other", fmu("lotka_volterra_prey")}).exit_code, 1);
  EXPECT_EQ(test::text_of(folder / "other" / "lotka_volterra_prey.fmu"), "precious");
  EXPECT_FALSE(fs::exists(folder / "other" / "system.toml"));
}

/// Whether its step belongs to it, the FMU does not say.
TEST(NewFolder, proposes_sampled_for_a_fixed_step_without_continuous_states) {
  const test::TemporaryFolder folder;
  const auto text_of_new = [&](const std::string& name, bool variable_step) {
    auto description = test::scripted_description("");
    const std::string flag = "canHandleVariableCommunicationStepSize=\"true\"";
    if (!variable_step)
      description.replace(description.find(flag), flag.size(), "canHandleVariableCommunicationStepSize=\"false\"");
    description.insert(description.find("  <ModelVariables>"), "  <DefaultExperiment stepSize=\"0.01\"/>\n");
    test::write_archive(folder / (name + ".fmu"),
                        {{"modelDescription.xml", description},
                         {"binaries/linux64/scripted.so", test::text_of(test::scripted_fmu_library())}});
    EXPECT_EQ(test::run_program(folder, {"new", name, name + ".fmu"}).exit_code, 0);
    return test::text_of(folder / name / "system.toml");
  };
  const std::string line = "\n# sampled = true";
  EXPECT_NE(text_of_new("fixed", false).find(line), std::string::npos);
  EXPECT_EQ(text_of_new("variable", true).find(line), std::string::npos);
}

TEST(NewFolder, names_the_fault_of_an_fmu_and_leaves_nothing) {
  const test::TemporaryFolder folder;
  test::write_text(folder / "a.fmu", "no zip");
  const auto made = test::run_program(folder, {"new", "x", "a.fmu"});
  EXPECT_EQ(made.exit_code, 1);
  EXPECT_NE(made.err.find("'a.fmu'"), std::string::npos) << made.err;
  EXPECT_FALSE(fs::exists(folder / "x"));
}

}  // namespace new_system_test
}  // namespace entrain
