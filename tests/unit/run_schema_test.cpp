// run.json is valid for docs/run.schema.json.
#include <gtest/gtest.h>

#include "entrain/report.hpp"
#include "entrain/run.hpp"
#include "methods/registry.hpp"
#include "support/facts.hpp"
#include "support/json_schema.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace run_schema_test {

test::JsonSchema schema() {
  return test::JsonSchema(nlohmann::json::parse(test::text_of(test::examples_folder() + "/../docs/run.schema.json")));
}

nlohmann::json json_of_run(const SystemDescription& description) {
  Simulation simulation(description);
  simulation.run();
  return nlohmann::json::parse(summary_json(simulation.summary()));
}

void expect_valid(const nlohmann::json& json) {
  EXPECT_EQ(schema().faults(json), std::vector<std::string>{}) << json.dump(2);
}

TEST(RunSchema, holds_for_every_method_and_kind_of_system) {
  for (const auto& method : method::built_in_methods().names()) {
    SCOPED_TRACE(method);
    expect_valid(
        json_of_run(test::changed(test::example("lotka_volterra"), {.method = method, .step = 0.1, .stop = 1.0})));
  }
  expect_valid(json_of_run(test::changed(test::example("mechanical"), {.step = 1e-3, .stop = 0.01})));
}

TEST(RunSchema, holds_for_facts_with_subjects_numbers_units_and_a_position) {
  auto description = test::changed(test::example("lotka_volterra"), {.method = "missiles", .step = 0.1, .stop = 1.0});
  apply_option(description, "max_step=0.2");
  description.subsystems[0].input_degree = {0, {}};
  const auto json = json_of_run(description);
  expect_valid(json);
  const auto lowered = test::json_fact(json["notes"], FactCode::InputDegreeLowered, description.subsystems[0].name);
  ASSERT_FALSE(lowered.is_null()) << json["notes"];
  EXPECT_EQ(lowered["kind"], "note");
  EXPECT_EQ(lowered["values"]["to"], 0.0);
  const auto idle = test::json_fact(json["warnings"], FactCode::OptionWithoutEffect, "method.missiles.max_step");
  ASSERT_FALSE(idle.is_null()) << json["warnings"];
  EXPECT_EQ(idle["kind"], "warning");
  EXPECT_TRUE(idle.contains("where") && idle.contains("remedy")) << idle;
}

TEST(RunSchema, holds_for_a_failure_with_its_place_and_remedy) {
  auto description = test::changed(test::example("lotka_volterra"), {.method = "missiles", .step = 1.0});
  description.subsystems[0].start["alpha"] = {1e300, {}};
  const auto json = json_of_run(description);
  expect_valid(json);
  ASSERT_TRUE(json.contains("failure"));
  EXPECT_EQ(json["failure"]["code"], "estimate-overflows");
  EXPECT_EQ(json["failure"]["kind"], "error");
  EXPECT_EQ(json["failure"]["subjects"], nlohmann::json({"prey.p"}));
  EXPECT_EQ(json["failure"]["values"]["step"], 0.0625);
  EXPECT_EQ(json["failure"]["time"], 0.0);
  EXPECT_FALSE(json["failure"]["remedy"].get<std::string>().empty());
}

TEST(RunSchema, holds_for_the_file_that_the_program_writes) {
  const test::TemporaryFolder folder;
  const auto example = test::examples_folder() + "/mechanical";
  const auto run = test::run_program(folder, {"run", example, "--stop", "0.1", "--out", "out", "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  expect_valid(nlohmann::json::parse(test::text_of(folder / "out/run.json")));
}

TEST(RunSchema, sees_what_does_not_fit) {
  auto json = json_of_run(test::changed(test::example("lotka_volterra"), {.step = 0.1, .stop = 0.2}));
  json["format"] = 1;
  json["warnings"] = {"a sentence"};
  json["surprise"] = true;
  json.erase("method");
  EXPECT_EQ(schema().faults(json).size(), 4U);
}

}  // namespace run_schema_test
}  // namespace entrain
