#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "models/registry.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "subsystem/native/native_subsystem.hpp"
#include "support/places.hpp"
#include "support/systems.hpp"

// State events that the input polynomial alone brings about. A ball lies on the floor while an outer acceleration rises
// through g = 9.81 m/s^2 inside a step; then it is lifted: with a = slope * t, h = slope (t - t0)^3 / 6 from t0 on.

namespace entrain {
namespace driven_events_test {

constexpr double kGravity = 9.81;

struct Case {
  const char* name;
  const char* folder;  ///< of the FMU; empty = the native model
  FmuInterface interface;
};
void PrintTo(const Case& of, std::ostream* out) {
  *out << of.name;
}

class DrivenBall : public testing::TestWithParam<Case> {
 protected:
  static std::unique_ptr<Subsystem> make() {
    const auto& [name, folder, interface] = GetParam();
    std::unique_ptr<Subsystem> ball;
    if (*folder == '\0') {
      ball = subsystem::make_native_subsystem("ball", models::make_built_in_model("ball.bounce"));
    } else {
      subsystem::FmuChoice choice;
      choice.interface = interface;
      ball = subsystem::make_fmu_subsystem("ball", fmt::format("{}/{}/ball_bounce.fmu", test::fmu_folder(), folder),
                                           choice);
    }
    ball->set_start({Causality::State, 0}, 0.0);  // the height
    ball->capabilities();
    return ball;
  }
};
INSTANTIATE_TEST_SUITE_P(All, DrivenBall,
                         testing::Values(Case{"native", "", {}},
                                         Case{"fmi2_co_simulation", "test/strict/2", FmuInterface::CoSimulation},
                                         Case{"fmi3_co_simulation", "test/strict/3", FmuInterface::CoSimulation},
                                         Case{"fmi2_model_exchange", "test/strict/2", FmuInterface::ModelExchange},
                                         Case{"fmi3_model_exchange", "test/strict/3", FmuInterface::ModelExchange}),
                         [](const auto& of) { return of.param.name; });

TEST_P(DrivenBall, is_lifted_inside_the_step_in_which_the_force_passes_gravity) {
  for (const double start : {0.0, 100.0}) {          // at large times a sum of times is rounded
    for (const double slope : {10.0, 7.3, 19.62}) {  // the last: at a round time
      const auto ball = make();
      ball->initialize(start, start + 2.0);
      const double u[] = {0.0, slope};
      std::vector<double> y(2);
      const auto report = ball->step({start, 2.0, {u, 1, 1}}, y);
      EXPECT_EQ(report.outcome, StepOutcome::Completed);
      const double flight = 2.0 - kGravity / slope;
      EXPECT_NEAR(y[0], slope * std::pow(flight, 3) / 6.0, 1e-8) << "slope " << slope << " from " << start;
      EXPECT_NEAR(y[1], slope * flight * flight / 2.0, 1e-8) << "slope " << slope << " from " << start;
    }
  }
}

/// The same through a connection: a mass on a spring pulls, a = spring * position of the mass.
TEST(DrivenBallInMonolithic, is_lifted_when_the_signal_passes_gravity) {
  for (const char* source : {"model = \"ball.bounce\"", "fmu"}) {
    const std::string ball =
        source == std::string("fmu")
            ? fmt::format("fmu = \"{}/test/strict/2/ball_bounce.fmu\"\ninterface = \"model-exchange\"",
                          test::fmu_folder())
            : source;
    // Under the force 19.62 N a mass of 1 kg without spring moves by 9.81 t^2: it passes 9.81 at 1 s.
    const auto system = test::system_from(fmt::format(R"(
run = {{ stop = 2.0, step = 0.5, method = "monolithic" }}
[subsystems.mass]
model = "mechanical.left"
start = {{ F = 19.62, m1 = 1.0, c1 = 0.0, d1 = 0.0, x = 0.0 }}
[subsystems.ball]
{}
start = {{ h = 0.0 }}
[connections]
"mass.x" = {{ to = "ball.a", factor = 1.0 }}
)",
                                                      ball));
    Simulation simulation(system);
    ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
    // h'' = 9.81 (t^2 - 1) from 1 s on: h = 9.81 (t^4 / 12 - t^2 / 2 + 2 t / 3 - 1 / 4).
    EXPECT_NEAR(simulation.value("ball.h"), kGravity * (16.0 / 12.0 - 2.0 + 4.0 / 3.0 - 0.25), 1e-8) << source;
  }
}

}  // namespace driven_events_test
}  // namespace entrain
