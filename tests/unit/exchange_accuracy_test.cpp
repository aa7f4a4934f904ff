#include <gtest/gtest.h>

#include <cmath>

#include "models/registry.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "subsystem/native/native_subsystem.hpp"
#include "support/places.hpp"

// How exactly model-exchange FMUs are integrated when the macro step is short, and when they are stiff.

namespace entrain {
namespace exchange_accuracy_test {

constexpr double kTolerance = 1e-10;

std::unique_ptr<Subsystem> left_mass_fmu(const std::string& version, double damper) {
  subsystem::FmuChoice choice;
  choice.interface = FmuInterface::ModelExchange;
  choice.relative_tolerance = kTolerance;
  auto fmu = subsystem::make_fmu_subsystem("s", test::fmu_folder() + "/test/strict/" + version + "/mechanical_left.fmu",
                                           choice);
  fmu->set_start(*fmu->variables().find("d1"), damper);
  fmu->capabilities();
  return fmu;
}

/// The exact solution: a linear model steps by its exponential.
std::unique_ptr<Subsystem> left_mass(double damper) {
  auto native = subsystem::make_native_subsystem("s", models::make_built_in_model("mechanical.left"));
  native->set_start(*native->variables().find("d1"), damper);
  return native;
}

struct Run {
  int steps;
  Duration step;
  double damper;
};

/// The largest difference to the exact solution, relative to the largest value.
double error_of(const std::string& version, const Run& run) {
  const auto fmu = left_mass_fmu(version, run.damper);
  const auto exact = left_mass(run.damper);
  std::vector<double> ours(2);
  std::vector<double> theirs(2);
  std::vector<double> scale(2, 0.0);
  std::vector<double> error(2, 0.0);
  for (auto* subsystem : {fmu.get(), exact.get()}) subsystem->initialize(0.0, run.steps * run.step);
  for (int k = 0; k < run.steps; ++k) {
    const double force[] = {10.0 * std::sin(0.3 * k), 2.0, 0.5};
    const Subsystem::Step step{k * run.step, run.step, {force, 1, 2}};
    static_cast<void>(fmu->step(step, ours));
    static_cast<void>(exact->step(step, theirs));
    for (std::size_t i = 0; i < 2; ++i) {
      scale[i] = std::max(scale[i], std::abs(theirs[i]));
      error[i] = std::max(error[i], std::abs(ours[i] - theirs[i]));
    }
  }
  return std::max(error[0] / scale[0], error[1] / scale[1]);
}

/// An integrator that begins anew with order 1 in every macro step loses more the more often it must.
TEST(ExchangeAccuracy, short_steps_stay_within_a_hundred_tolerances) {
  for (const char* version : {"2", "3"}) {
    EXPECT_LT(error_of(version, {3000, 1e-4, 10.0}), 100.0 * kTolerance) << version;
    EXPECT_LT(error_of(version, {300, 1e-3, 10.0}), 100.0 * kTolerance) << version;
  }
}

/// With d1 = 5e7 N s/m the velocity settles within 1e-7 s: a million steps of an explicit integrator in 0.1 s.
TEST(ExchangeAccuracy, stiff_fmus_are_integrated_as_such) {
  EXPECT_LT(error_of("2", {10, 0.1, 5e7}), 1e-6);
}

/// What has been found to be stiff is part of the state.
TEST(ExchangeAccuracy, restored_state_replays_to_the_same_bits_before_and_after_it_proves_stiff) {
  const auto fmu = left_mass_fmu("2", 5e7);
  fmu->initialize(0.0, 1.0);
  Rollback& rollback = *fmu->facets().rollback;
  const StateId start = rollback.save();
  const double force = 100.0;
  const auto step = [&](int k, std::vector<double>& y) {
    static_cast<void>(fmu->step({0.1 * k, 0.1, {&force, 1, 0}}, y));
  };
  std::vector<double> first(2);
  std::vector<double> second(2);
  step(0, first);
  const StateId stiff = rollback.save();
  step(1, second);
  for (int round = 0; round < 2; ++round) {
    std::vector<double> again(2);
    rollback.restore(stiff);
    step(1, again);
    EXPECT_EQ(again, second);
    rollback.restore(start);
    step(0, again);
    EXPECT_EQ(again, first);
    step(1, again);
    EXPECT_EQ(again, second);
  }
}

}  // namespace exchange_accuracy_test
}  // namespace entrain
