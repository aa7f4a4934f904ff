// What sub-steps do inside one macro step, against closed forms; tests/convergence/substeps_test.cpp has whole runs.
#include <gtest/gtest.h>

#include <cmath>

#include "coupling/engine.hpp"
#include "entrain/coupled_system.hpp"
#include "subsystem/native/native_subsystem.hpp"
#include "subsystem/restricted.hpp"
#include "support/ode_model.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace substeps_test {

constexpr Duration kStep = 0.8;

/// x' = u - x from 0 over one macro step under u(s) = s, by a subsystem that takes constants only.
double lag_after(int substeps) {
  SubsystemDescription restrictions;
  restrictions.input_degree = {0, {}};
  restrictions.substeps = {substeps, {}};
  const auto f = [](double x, double u) { return u - x; };
  const auto g = [](double x, double) { return x; };
  std::vector<std::unique_ptr<Subsystem>> subsystems;
  subsystems.push_back(subsystem::restricted(
      subsystem::make_native_subsystem("lag", std::make_unique<test::OdeModel>(test::OdeModel::Equation{f, g})),
      restrictions));
  CoupledSystem system(std::make_unique<coupling::Engine>(coupling::Engine::Setup{
      std::move(subsystems), Graph({{"lag", {"u"}, {"y"}, Feedthrough(1, 1, false)}}, {}), {0.0}}));
  system.engine().initialize(0.0, 10.0);
  system.coefficients(SubsystemId{0}, 1, 0)[0] = 0.0;
  system.coefficients(SubsystemId{0}, 1, 1)[0] = 1.0;
  const StepTask task{SubsystemId{0}, 0.0, kStep, 1, 1, kStep};
  system.commit_all({&task, 1});
  return system.outputs()[0];
}

/// Every part of length p decays by e = exp(-p) towards the mean of u over it: x <- e x + (1 - e) mean.
double closed_form(int substeps) {
  const double part = kStep / substeps;
  const double decay = std::exp(-part);
  double x = 0.0;
  for (int k = 0; k < substeps; ++k) x = decay * x + (1.0 - decay) * (k + 0.5) * part;
  return x;
}

TEST(Substep, is_made_under_the_mean_of_the_polynomial_over_it) {
  for (const int substeps : {1, 2, 4, 16}) EXPECT_NEAR(lag_after(substeps), closed_form(substeps), 1e-12) << substeps;
}

// Against x = s - 1 + exp(-s). The error of a part is that of a constant with the right impulse, its third power.
TEST(Substep, error_falls_with_the_square_of_their_number) {
  const double exact = kStep - 1.0 + std::exp(-kStep);
  const double one = std::abs(lag_after(1) - exact);
  EXPECT_NEAR(one / std::abs(lag_after(4) - exact), 16.0, 0.5);
  EXPECT_NEAR(one / std::abs(lag_after(16) - exact), 256.0, 8.0);
}

double left_position(const std::string& left) {
  Simulation simulation(test::changed(test::system_from(left + R"(
input_degree = 0
substeps = 4
[subsystems.right]
model = "mechanical.right"
[run]
stop = 0.5
step = 0.01
[connections]
"left.v" = "right.v"
"left.x" = "right.x"
"right.F" = "left.F"
)"),
                                      {.method = "jacobi", .options = {"degree=2"}}));
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  return simulation.value("left.x");
}

TEST(Substep, of_an_fmu_that_takes_constants_only_has_the_bits_of_the_model) {
  const std::string fmu = test::fmu_folder() + "/test/bare/2/mechanical_left.fmu";
  EXPECT_EQ(left_position("[subsystems.left]\nfmu = \"" + fmu + "\""),
            left_position("[subsystems.left]\nmodel = \"mechanical.left\""));
}

}  // namespace substeps_test
}  // namespace entrain
