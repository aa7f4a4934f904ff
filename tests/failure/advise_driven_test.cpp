// advise and method = "auto" on externally driven systems, or with options in the file that were not judged.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/facts.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace advise_driven_test {

using test::run_program;
using test::TemporaryFolder;

/// A sine of csv pulls the second of two masses.
std::filesystem::path driven_in(const TemporaryFolder& folder) {
  std::ofstream csv(folder.path() / "f.csv");
  csv << "time,F\n";
  for (int k = 0; k <= 400; ++k) csv << 0.1 * k << ',' << std::sin(0.3 * k) << '\n';
  std::ofstream(folder.path() / "system.toml") << R"(
[run]
stop = 40.0
step = 0.05
method = "auto"
[subsystems.src]
csv = "f.csv"
[subsystems.m1]
model = "chain.mass"
start = { x = 0.0 }
[subsystems.m2]
model = "chain.mass"
[connections]
"src.F" = "m2.right_F"
"m1.x" = "m2.left_x"
"m1.v" = "m2.left_v"
"m2.F_left" = "m1.right_F"
)";
  return folder.path() / "system.toml";
}

TEST(AdviseDriven, errors_are_measured_and_the_driving_subsystem_is_named) {
  const TemporaryFolder folder;
  const auto advice = run_program(folder, {"advise", driven_in(folder).string(), "--json"});
  ASSERT_EQ(advice.exit_code, 0) << advice.err;
  const auto json = nlohmann::json::parse(advice.out);
  const auto driven = test::json_fact(json["remarks"], FactCode::StabilityOnly, "src");
  ASSERT_FALSE(driven.is_null()) << json["remarks"];
  EXPECT_EQ(driven["values"]["of"], name_of(FactCode::DependsOnTime));
  EXPECT_FALSE(test::has_fact(json["remarks"], FactCode::StabilityOnly, "m1")) << json["remarks"];
  EXPECT_TRUE(json["candidates"][0]["error"].is_null());
  for (const auto& of : json["candidates"]) {
    const bool chosen = of["method"] == json["method"] && of.value("degree", nlohmann::json()) == json["degree"];
    if (chosen) {
      EXPECT_NE(of["stable"], false) << json["reason"];
      EXPECT_TRUE(of.contains("tried")) << of;
    }
  }
}

TEST(AutoDriven, takes_a_method_that_does_not_grow) {
  const TemporaryFolder folder;
  const auto run = run_program(folder, {"run", driven_in(folder).string(), "--json", "--out", "out"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["method"], "missiles");
  EXPECT_TRUE(test::has_fact(json["notes"], FactCode::MethodChosen, "missiles")) << json["notes"];
}

TEST(Auto, options_that_were_not_judged_are_left_out_with_a_note) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "system.toml") << R"(
[run]
stop = 4.0
step = 0.1
method = "auto"
[method.missiles]
adaptive = true
relative_tolerance = 0.5
[subsystems.force_side]
model = "oscillator.force_side"
[subsystems.motion_side]
model = "oscillator.motion_side"
start = { x = 1.0 }
[connections]
"force_side.F" = "motion_side.F"
"motion_side.x" = "force_side.x"
"motion_side.v" = "force_side.v"
)";
  const auto run = run_program(folder, {"run", "system.toml", "--json", "--out", "out"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  ASSERT_EQ(json["method"], "missiles");
  EXPECT_EQ(test::json_fact(json["notes"], FactCode::MethodChosen)["values"]["options_of"], "missiles")
      << json["notes"];
  EXPECT_EQ(test::text_of(folder / "out/system.resolved.toml").find("tolerance = 0.5"), std::string::npos);
}

}  // namespace advise_driven_test
}  // namespace entrain
