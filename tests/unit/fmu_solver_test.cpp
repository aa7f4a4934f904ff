#include <gtest/gtest.h>

#include <cmath>

#include "models/registry.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "subsystem/native/native_subsystem.hpp"
#include "support/places.hpp"

// FMUs exported with a solver of their own (entrain_add_fmu SOLVER, TOLERANCE 1e-9) beside the exact native models.

namespace entrain {
namespace fmu_solver_test {

constexpr double kTolerance = 1e-9;

class ExportedSolver : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  static std::unique_ptr<Subsystem> fmu(const std::string& name) {
    const auto& [solver, version] = GetParam();
    return subsystem::make_fmu_subsystem("s",
                                         test::fmu_folder() + "/test/" + solver + "/" + version + "/" + name + ".fmu");
  }
};
INSTANTIATE_TEST_SUITE_P(All, ExportedSolver,
                         testing::Combine(testing::Values("erk", "cvode"), testing::Values("2", "3")),
                         [](const auto& each) { return std::get<0>(each.param) + "_fmi" + std::get<1>(each.param); });

TEST_P(ExportedSolver, keeps_its_tolerance_and_is_not_the_exact_step) {
  const auto ours = fmu("mechanical_left");
  const auto exact = subsystem::make_native_subsystem("s", models::make_built_in_model("mechanical.left"));
  ours->capabilities();
  std::vector<double> y(2);
  std::vector<double> reference(2);
  for (auto* subsystem : {ours.get(), exact.get()}) subsystem->initialize(0.0, 1.0);
  bool differs = false;
  for (int k = 0; k < 10; ++k) {
    const double force[] = {3.0 * k, -40.0, 100.0};
    static_cast<void>(ours->step({0.1 * k, 0.1, {force, 1, 2}}, y));
    static_cast<void>(exact->step({0.1 * k, 0.1, {force, 1, 2}}, reference));
    differs = differs || y != reference;
    const double bound = 100.0 * (k + 1) * kTolerance;   // what the steps leave adds up
    EXPECT_NEAR(y[0], reference[0], bound * 45.0) << k;  // velocities reach 45 m/s
    EXPECT_NEAR(y[1], reference[1], bound) << k;
  }
  EXPECT_TRUE(differs);
}

/// The force that acts from 0.53 s on is a step: an integrator that runs across it loses its order.
TEST_P(ExportedSolver, stops_at_announced_discontinuities) {
  const auto ours = fmu("two_mass_right");
  const auto exact = subsystem::make_native_subsystem("s", models::make_built_in_model("two_mass.right"));
  std::vector<double> y(1);
  std::vector<double> reference(1);
  for (auto* subsystem : {ours.get(), exact.get()}) {
    subsystem->set_start(*subsystem->variables().find("change_time"), 0.53);
    subsystem->set_start(*subsystem->variables().find("change_force"), 1e5);
    subsystem->capabilities();
    subsystem->initialize(0.0, 1.0);
  }
  const std::vector<double> u(exact->variables().inputs.size(), 0.5);
  static_cast<void>(ours->step({0.0, 1.0, {u.data(), u.size(), 0}}, y));
  static_cast<void>(exact->step({0.0, 1.0, {u.data(), u.size(), 0}}, reference));
  EXPECT_NEAR(y[0], reference[0], 100.0 * kTolerance * std::abs(reference[0]));
}

}  // namespace fmu_solver_test
}  // namespace entrain
