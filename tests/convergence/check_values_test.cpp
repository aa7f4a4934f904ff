// Check values for held-input coupling and for the monolithic reference, to the digits printed in
// docs/theory/reproduction.md (an independent implementation produced them).
#include <gtest/gtest.h>

#include <cmath>

#include "support/systems.hpp"

namespace entrain {
namespace check_values_test {

using test::Change;
using test::changed;
using test::example;

Simulation finished(const std::string& name, const Change& change) {
  Simulation simulation(changed(example(name), change));
  simulation.run();
  EXPECT_EQ(simulation.summary().termination, Termination::Completed) << simulation.summary().message;
  return simulation;
}

/// The last printed digit may be rounded either way.
void expect_digits(double value, double printed, int digits) {
  const double last = std::pow(10.0, std::floor(std::log10(std::abs(printed))) + 1 - digits);
  EXPECT_NEAR(value, printed, 0.6 * last);
}

TEST(CheckValues, mechanical_pair_monolithic_at_2_s) {
  const auto simulation = finished("mechanical", {.method = "monolithic", .step = 0.01, .stop = 2.0});
  expect_digits(simulation.value("left.x"), -0.986469627429, 12);
  expect_digits(simulation.value("left.v"), -25.1520489634, 12);
  expect_digits(simulation.value("right.x2"), -1.36587081953, 12);
  expect_digits(simulation.value("right.v2"), -35.1663950333, 12);
}

TEST(CheckValues, lotka_volterra_monolithic_at_20_s) {
  const auto simulation = finished("lotka_volterra", {.method = "monolithic", .step = 0.1, .stop = 20.0});
  expect_digits(simulation.value("prey.p"), 0.790321729807, 12);
  expect_digits(simulation.value("predator.P"), 0.217120162282, 12);
}

TEST(CheckValues, lotka_volterra_held_inputs_at_20_s) {
  const auto simulation = finished("lotka_volterra", {.method = "jacobi", .step = 0.01, .stop = 20.0});
  expect_digits(simulation.value("prey.p"), 0.758105585535, 12);
  expect_digits(simulation.value("predator.P"), 0.207362382584, 12);
}

TEST(CheckValues, two_masses_monolithic_across_the_change) {
  Simulation simulation(changed(example("two_mass"), {.method = "monolithic", .step = 0.5, .stop = 200.0}));
  const double printed[] = {-0.49675915893, -0.038216458875, 4.55937743555, 4.96554137783};
  for (int i = 0; i < 4; ++i) {
    simulation.run_until(50.0 * (i + 1));
    expect_digits(simulation.value("left.x"), printed[i], 11);
  }
}

TEST(CheckValues, two_masses_held_inputs_at_100_s) {
  const auto simulation = finished("two_mass", {.method = "jacobi", .step = 0.4, .stop = 100.0});
  expect_digits(simulation.value("left.x"), 0.0188262702136, 12);
  expect_digits(simulation.value("left.v"), 0.0412524663326, 12);
}

TEST(CheckValues, the_initial_force_of_the_mechanical_pair_is_20_kN) {
  Simulation simulation(changed(example("mechanical"), {.step = 1e-3}));
  simulation.run_until(0.0);
  EXPECT_DOUBLE_EQ(simulation.value("right.F"), 20000.0);
  EXPECT_DOUBLE_EQ(simulation.value("left.F"), 20000.0);
}

TEST(CheckValues, car_with_held_inputs_runs_away_and_with_degree_2_holds_its_speed) {
  const auto held = finished("car", {.method = "jacobi", .step = 0.01, .stop = 30.0, .options = {"degree=0"}});
  EXPECT_NEAR(held.value("body.v"), 332.0, 1.0);
  const auto extrapolated = finished("car", {.method = "jacobi", .step = 0.01, .stop = 30.0, .options = {"degree=2"}});
  EXPECT_NEAR(extrapolated.value("body.v"), 16.09, 0.05);
  const auto exact = finished("car", {.method = "monolithic", .step = 0.1, .stop = 30.0});
  EXPECT_NEAR(exact.value("body.v"), 16.086, 0.005);
}

}  // namespace check_values_test
}  // namespace entrain
