// advise and method = "auto" on systems in which nothing is connected.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/facts.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace advise_uncoupled_test {

using test::run_program;
using test::TemporaryFolder;

constexpr const char* kRun = "[run]\nstop = 1.0\nstep = 0.01\nmethod = \"auto\"\n";

struct Uncoupled {
  const char* name;
  const char* subsystems;
};

const Uncoupled kSystems[] = {
    {"two models",
     "[subsystems.a]\nmodel = \"oscillator.motion_side\"\nstart = { F = 0.0, x = 1.0 }\n"
     "[subsystems.b]\nmodel = \"lotka_volterra.prey\"\nstart = { u = 0.0 }\n"},
    {"no states", "[subsystems.source]\ncsv = \"f.csv\"\n"},
};

std::filesystem::path file_in(const TemporaryFolder& folder, const Uncoupled& system) {
  std::ofstream(folder.path() / "f.csv") << "time,F\n0,1\n1,2\n2,0\n";
  std::ofstream(folder.path() / "system.toml") << kRun << system.subsystems << "[connections]\n";
  return folder.path() / "system.toml";
}

TEST(AdviseUncoupled, advice_is_given) {
  for (const auto& system : kSystems) {
    const TemporaryFolder folder;
    const auto advice = run_program(folder, {"advise", file_in(folder, system).string(), "--json", "--verify"});
    ASSERT_EQ(advice.exit_code, 0) << system.name << ": " << advice.err;
    const auto json = nlohmann::json::parse(advice.out);
    EXPECT_EQ(json["method"], "jacobi") << system.name << ": " << json["reason"];
    EXPECT_TRUE(test::has_fact(json["reasons"], FactCode::NothingCoupled)) << system.name;
  }
}

TEST(AutoUncoupled, plainest_method_runs_with_the_reason) {
  for (const auto& system : kSystems) {
    const TemporaryFolder folder;
    const auto run = run_program(folder, {"run", file_in(folder, system).string(), "--json", "--out", "out"});
    ASSERT_EQ(run.exit_code, 0) << system.name << ": " << run.err;
    const auto json = nlohmann::json::parse(run.out);
    EXPECT_EQ(json["method"], "jacobi") << system.name;
    EXPECT_EQ(test::json_fact(json["notes"], FactCode::MethodChosen)["values"]["reasons"],
              name_of(FactCode::NothingCoupled))
        << json["notes"];
  }
}

}  // namespace advise_uncoupled_test
}  // namespace entrain
