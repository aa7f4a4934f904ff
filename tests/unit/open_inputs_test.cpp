// Inputs of FMUs that nothing feeds and no value was given: found, listed, and part of the grade.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "entrain/entrain.hpp"
#include "support/facts.hpp"
#include "support/places.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"

namespace entrain::test {
namespace open_inputs_test {

std::string fmu(const std::string& name) {
  return fmt::format("fmu = \"{}/test/strict/2/lotka_volterra_{}.fmu\"\n", fmu_folder(), name);
}

/// Prey that feed predators; what comes back is left to `run` and `prey`.
std::vector<Fact> problems_of(const std::string& run, const std::string& prey = {},
                              const std::string& connections = {}) {
  const TemporaryFolder folder;
  write_text(folder / "system.toml", "[run]\nstop = 1.0\nstep = 0.01\n" + run + "[subsystems.prey]\n" + fmu("prey") +
                                         prey + "[subsystems.predator]\n" + fmu("predator") +
                                         "[connections]\n\"prey.p\" = \"predator.u\"\n" + connections);
  std::vector<Fact> facts;
  for (const auto& problem : check(folder / "system.toml")) facts.push_back(fact_of(problem));
  return facts;
}

TEST(OpenInputs, of_fmus_are_listed_with_the_number_of_those_that_are_connected) {
  const auto problems = problems_of("");
  const auto* open = find_fact(problems, FactCode::InputsOpen);
  ASSERT_NE(open, nullptr);
  EXPECT_EQ(open->subjects, std::vector<std::string>{"prey.u"});
  EXPECT_EQ(open->number("connected"), 1.0);
  EXPECT_EQ(open->number("open"), 1.0);
}

TEST(OpenInputs, are_those_alone_that_have_neither_a_connection_nor_a_value_nor_are_meant_so) {
  EXPECT_FALSE(has_fact(problems_of("", "", "\"predator.P\" = \"prey.u\"\n"), FactCode::InputsOpen)) << "connected";
  EXPECT_FALSE(has_fact(problems_of("", "start = { u = 0.5 }\n"), FactCode::InputsOpen)) << "given a value";
  EXPECT_FALSE(has_fact(problems_of("", "optional_start = { u = 0.5 }\n"), FactCode::InputsOpen)) << "by a set";
  EXPECT_FALSE(has_fact(problems_of("open = [\"prey.u\"]\n"), FactCode::InputsOpen)) << "listed";
  EXPECT_FALSE(has_fact(problems_of("open = [\"prey.*\"]\n"), FactCode::InputsOpen)) << "listed by a pattern";
  EXPECT_TRUE(has_fact(problems_of("open = []\n"), FactCode::InputsOpen));
}

TEST(OpenInputs, that_are_listed_must_exist) {
  const auto problems = problems_of("open = [\"prey.u\", \"prey.uu\"]\n");
  EXPECT_TRUE(has_fact(problems, FactCode::NoSuchInput, "prey.uu"));
  EXPECT_FALSE(has_fact(problems, FactCode::NoSuchInput, "prey.u"));
}

TEST(OpenInputs, of_native_models_have_defaults_that_are_meant) {
  auto system = system_from(
      "[run]\nstop = 1.0\n[subsystems.prey]\nmodel = \"lotka_volterra.prey\"\n"
      "[subsystems.predator]\nmodel = \"lotka_volterra.predator\"\nstart = { u = 1.0 }\n"
      "[connections]\n\"predator.P\" = \"prey.u\"\n");
  const Simulation simulation(system);
  EXPECT_FALSE(has_fact(simulation.summary().warnings, FactCode::InputsOpen));
  EXPECT_FALSE(has_fact(simulation.summary().warnings, FactCode::NothingConnected));
}

TEST(OpenInputs, of_a_run_keep_its_grade_at_check) {
  const TemporaryFolder folder;
  const auto grade = [&](const std::string& run, const std::string& out) {
    write_text(folder / "system.toml", "[run]\nstop = 1.0\nstep = 0.001\nmethod = \"missiles\"\n" + run +
                                           "[subsystems.prey]\n" + fmu("prey") + "[subsystems.predator]\n" +
                                           fmu("predator") + "[connections]\n\"prey.p\" = \"predator.u\"\n");
    RunDirectoryOptions options;
    options.folder = folder / out;
    return entrain::run(load(folder / "system.toml"), options).verdict;
  };
  const auto limited = grade("", "open");
  EXPECT_EQ(limited.grade, Grade::Check) << limited.headline();
  EXPECT_EQ(limited.reasons.front().code, FactCode::InputsOpen);
  const auto meant = grade("open = [\"prey.u\"]\n", "meant");
  EXPECT_EQ(meant.grade, Grade::Trusted) << meant.headline();
}

TEST(NothingConnected, is_a_warning_and_no_ground_for_trust) {
  const TemporaryFolder folder;
  const auto system = system_from(
      "[run]\nstop = 1.0\n[subsystems.prey]\nmodel = \"lotka_volterra.prey\"\n"
      "start = { u = 0.5 }\n[subsystems.predator]\nmodel = \"lotka_volterra.predator\"\n"
      "start = { u = 1.0 }\n");
  RunDirectoryOptions options;
  options.folder = folder / "out";
  const auto result = entrain::run(system, options);
  EXPECT_TRUE(has_fact(result.summary.warnings, FactCode::NothingConnected));
  EXPECT_NE(result.verdict.grade, Grade::Trusted) << result.verdict.headline();
}

TEST(Tolerances, of_single_outputs_must_name_one) {
  const auto problems = problems_of("open = [\"prey.u\"]\n[run.tolerances]\n\"prey.p\" = 0.1\n\"prey.u\" = 0.1\n");
  EXPECT_TRUE(has_fact(problems, FactCode::NoSuchOutput, "prey.u"));
  EXPECT_FALSE(has_fact(problems, FactCode::NoSuchOutput, "prey.p"));
}

TEST(Tolerances, survive_writing_and_reading) {
  auto written = system_from(
      "[run]\nstop = 1.0\ntolerance = 0.05\nopen = [\"prey.*\"]\n[run.tolerances]\n\"prey.p\" = 0.1\n"
      "[subsystems.prey]\nmodel = \"lotka_volterra.prey\"\n");
  const auto read = system_from(system_text(written));
  EXPECT_EQ(read.tolerance->value, 0.05);
  EXPECT_EQ(read.tolerances.at("prey.p").value, 0.1);
  ASSERT_TRUE(read.open);
  EXPECT_EQ(read.open->front().value, "prey.*");
}

}  // namespace open_inputs_test
}  // namespace entrain::test
