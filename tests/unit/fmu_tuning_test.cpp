// Parameters of our own FMUs that change during a run: the same as the native models, with both versions and both ways
// of integrating.
#include <gtest/gtest.h>

#include <cmath>

#include "support/facts.hpp"
#include "support/problems_of.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"
#include "support/typed_fmus.hpp"

namespace entrain {
namespace fmu_tuning_test {

constexpr double kStop = 2.0;

/// `how`: "model", or the folder of FMUs; p' = alpha p without predation, so ln p is the integral of alpha.
SystemDescription prey(const std::string& how, const std::string& interface = "co-simulation") {
  const auto part = [&](const std::string& name) {
    if (how == "model") return "model = \"lotka_volterra." + name + "\"\n";
    return "fmu = \"" + test::fmu_folder() + "/" + how + "/lotka_volterra_" + name + ".fmu\"\ninterface = \"" +
           interface + "\"\n";
  };
  return test::system_from("[run]\nstop = 2.0\nstep = 0.125\n[subsystems.prey]\n" + part("prey") +
                           "start = { p = 1.0, alpha = 1.0, beta = 0.0 }\n[subsystems.predator]\n" + part("predator") +
                           "[connections]\n\"prey.p\" = \"predator.u\"\n\"predator.P\" = \"prey.u\"\n[schedule]\n"
                           "\"prey.alpha\" = [[0.375, -1.0], [1.0, 0.5]]\n");
}

double prey_at_the_end(const SystemDescription& system) {
  Simulation simulation(system);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  EXPECT_EQ(simulation.summary().reached, kStop);
  return simulation.value("prey.p");
}

class TunedFmu : public testing::TestWithParam<std::string> {};

TEST_P(TunedFmu, follows_its_schedule_as_the_model_does) {
  const double native = prey_at_the_end(prey("model"));
  EXPECT_NEAR(std::log(native), 0.375 * 1.0 + 0.625 * -1.0 + 1.0 * 0.5, 1e-9);
  EXPECT_EQ(prey_at_the_end(prey(GetParam())), native) << "co-simulation makes the steps of the model itself";
  // Model exchange is integrated with the tolerance 1e-10.
  EXPECT_NEAR(prey_at_the_end(prey(GetParam(), "model-exchange")), native, 1e-8);
}

INSTANTIATE_TEST_SUITE_P(Versions, TunedFmu, testing::Values("test/strict/2", "test/strict/3"), [](const auto& each) {
  std::string name = "fmi_" + each.param;
  for (char& c : name) c = c == '/' ? '_' : c;
  return name;
});

/// The pump of the cooling is on or off: a memory that a new parameter must not empty.
SystemDescription cooling(const std::string& part) {
  return test::system_from("[run]\nstop = 40.0\nstep = 0.5\n[subsystems.cooling]\n" + part +
                           "start = { heat = 4000.0 }\n[schedule]\n\"cooling.T_air\" = [[20.0, 300.0]]\n");
}

TEST(TunedFmuWithMemory, keeps_it) {
  for (const int version : {2, 3}) {
    Simulation native(cooling("model = \"drivetrain.cooling\"\n"));
    Simulation fmu(cooling("fmu = \"" + test::fmu_folder() + "/test/strict/" + std::to_string(version) +
                           "/drivetrain_cooling.fmu\"\ninterface = \"co-simulation\"\n"));
    ASSERT_EQ(native.run().termination, Termination::Completed) << native.summary().message;
    ASSERT_EQ(fmu.run().termination, Termination::Completed) << fmu.summary().message;
    EXPECT_EQ(native.value("cooling.I"), 5.0) << "the pump runs";
    EXPECT_EQ(fmu.value("cooling.I"), 5.0);
    EXPECT_NEAR(fmu.value("cooling.T_coolant"), native.value("cooling.T_coolant"), 1e-9);
  }
}

TEST(StartValueOfAnFmu, that_did_not_arrive_is_an_error_with_both_values) {
  const test::TemporaryFolder folder;
  test::write_typed2(folder);
  auto system =
      test::system_in(folder, "[run]\nstop = 1.0\n[subsystems.a]\nfmu = \"typed2.fmu\"\nstart = { fixed = 2.5 }\n");
  EXPECT_EQ(test::problems_of(system),
            "test.toml:5: subsystem-refused a, fixed (of = fmu-start-not-taken, read = 1, set = 2.5)");
  system.subsystems[0].start["fixed"].value = 1.0;
  EXPECT_EQ(test::problems_of(system), "accepted");
}

}  // namespace fmu_tuning_test
}  // namespace entrain
