// Measured orders and errors of missiles. Reference values: docs/theory/reproduction.md.
#include <gtest/gtest.h>

#include <cmath>

#include "entrain/recording.hpp"
#include "numerics/ode.hpp"
#include "reproduce/measure.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace missiles_test {

struct Run {
  std::vector<double> times, values;
  RunSummary summary;
};

Run recorded(const SystemDescription& description, const std::string& signal) {
  Simulation simulation(description);
  MemoryRecorder recorder({signal});
  simulation.observe(recorder);
  const auto& summary = simulation.run();
  if (summary.termination != Termination::Completed) throw std::runtime_error(summary.message);
  return {recorder.times, recorder.column(signal), summary};
}

/// Error in per cent of the range, over all communication times.
double error_of(const SystemDescription& description, const std::string& signal, double step,
                const std::vector<std::string>& options = {}) {
  const auto ours =
      recorded(test::changed(description, {.method = "missiles", .step = step, .options = options}), signal);
  const auto exact = recorded(test::changed(description, {.method = "monolithic", .step = step}), signal);
  return reproducing::percent_error(ours.values, exact.values);
}

double order_of(const SystemDescription& description, const std::string& signal, double step,
                const std::vector<std::string>& options = {}) {
  return std::log2(error_of(description, signal, step, options) / error_of(description, signal, step / 2, options));
}

const std::string kEveryStep = "linearize=\"every-step\"";

const auto kPrey = [] { return test::example("lotka_volterra"); };
const auto kMasses = [] { return test::example("mechanical"); };

TEST(MissilesOrder, is_3_and_with_reconstruction_4) {
  EXPECT_NEAR(order_of(kPrey(), "prey.p", 0.05, {"reconstruction=0", kEveryStep}), 3.0, 0.1);
  EXPECT_NEAR(order_of(kPrey(), "prey.p", 0.05, {"reconstruction=2", kEveryStep}), 4.0, 0.15);
}

TEST(MissilesOrder, is_4_with_a_single_linearization_when_the_rest_is_reconstructed) {
  EXPECT_NEAR(order_of(kPrey(), "prey.p", 0.05, {"reconstruction=2", "linearize=\"once\""}), 4.0, 0.15);
}

TEST(MissilesOrder, is_1_without_state_derivatives) {
  auto description = kPrey();
  for (auto& subsystem : description.subsystems) subsystem.state_derivatives = {false, {}};
  EXPECT_NEAR(order_of(description, "prey.p", 0.01), 1.0, 0.1);
}

TEST(MissilesOrder, of_a_system_that_depends_on_time_is_restored_by_reconstruction) {
  auto description = kPrey();
  description.subsystems[0].model = "lotka_volterra.modulated_prey";
  EXPECT_GT(order_of(description, "prey.p", 0.05), 3.5);
  EXPECT_LT(order_of(description, "prey.p", 0.05, {"start=\"plain\""}), 3.2);  // the first step shows
  EXPECT_LT(order_of(description, "prey.p", 0.05, {"reconstruction=0", kEveryStep}), 2.2);
}

TEST(MissilesOrder, with_inputs_of_a_lower_degree_has_the_errors_of_the_reference) {
  // reference values at 1e-3 s: degree 1: 1.1e-6 %, degree 0: 1.1e-2 %
  auto description = kMasses();
  for (auto& subsystem : description.subsystems) subsystem.input_degree = {1, {}};
  EXPECT_NEAR(error_of(description, "left.x", 1e-3), 1.1e-6, 0.2 * 1.1e-6);
  for (auto& subsystem : description.subsystems) subsystem.input_degree = {0, {}};
  EXPECT_NEAR(error_of(description, "left.x", 1e-3), 1.1e-2, 0.2 * 1.1e-2);
}

TEST(MissilesFirstStep, meets_the_check_values) {
  // The inputs of the first step end with the solution of the coupling equations (verified values).
  Simulation masses(
      test::changed(kMasses(), {.method = "missiles", .step = 1e-3, .stop = 1e-3, .options = {"start=\"plain\""}}));
  ASSERT_EQ(masses.run().termination, Termination::Completed);
  EXPECT_NEAR(masses.value("right.v"), 1.9893500918, 5e-11);
  EXPECT_NEAR(masses.value("right.x"), 1.00099666999, 5e-12);
  EXPECT_NEAR(masses.value("left.F"), 19910.1700984, 5e-8);
  Simulation prey(
      test::changed(kPrey(), {.method = "missiles", .step = 1e-2, .stop = 1e-2, .options = {"start=\"plain\""}}));
  ASSERT_EQ(prey.run().termination, Termination::Completed);
  EXPECT_NEAR(prey.value("predator.u"), 0.993355653993, 5e-13);
  EXPECT_NEAR(prey.value("prey.u"), 0.999966740906, 5e-13);
}

TEST(MissilesContinued, couples_non_stiff_subsystems_with_states_but_no_linearization) {
  auto description = kPrey();
  for (auto& subsystem : description.subsystems) subsystem.linearization = {false, {}};
  EXPECT_NEAR(order_of(description, "prey.p", 0.02), 4.0, 0.2);
}

TEST(MissilesContinued, continues_outputs_from_their_past_where_nothing_else_is_known) {
  auto description = kPrey();
  for (auto& subsystem : description.subsystems) subsystem.states = {false, {}};
  EXPECT_GT(order_of(description, "prey.p", 0.01), 1.8);
  EXPECT_LT(error_of(description, "prey.p", 0.01), 0.1);  // in per cent; that of jacobi is 1.4
}

/// Prey 4, predator 0.1: long quiet times between sharp peaks.
SystemDescription peaked_orbit() {
  auto description = kPrey();
  description.subsystems[0].start["p"] = {4.0, {}};
  description.subsystems[1].start["P"] = {0.1, {}};
  return description;
}

/// Time-weighted rms of the prey's error on the peaked orbit, against an integration to rounding level from one
/// communication time to the next.
double peaked_orbit_error(const Run& run) {
  numerics::OdeSolver solver(2);
  std::vector<double> x{4.0, 0.1};
  double sum = 0.0;
  for (std::size_t k = 1; k < run.times.size(); ++k) {
    const double h = run.times[k] - run.times[k - 1];
    solver.integrate(0.0, h, x, [](Time, std::span<const double> at, std::span<double> dx) {
      dx[0] = at[0] * (2.0 / 3.0 - 4.0 / 3.0 * at[1]);
      dx[1] = at[1] * (at[0] - 1.0);
    });
    const double after = k + 1 < run.times.size() ? run.times[k + 1] - run.times[k] : 0.0;
    sum += 0.5 * (h + after) * (run.values[k] - x[0]) * (run.values[k] - x[0]);
  }
  return std::sqrt(sum / (run.times.back() - run.times.front()));
}

/// How many times more accurate the adaptive step is than a fixed one with as many steps.
double gain_of_adaptivity(int reconstruction) {
  const std::string order = "reconstruction=" + std::to_string(reconstruction);
  const auto adaptive = recorded(test::changed(peaked_orbit(), {.method = "missiles",
                                                                .step = 0.01,
                                                                .options = {"adaptive=true", "relative_tolerance=1e-6",
                                                                            "max_step=1", kEveryStep, order}}),
                                 "prey.p");
  const double step = 20.0 / static_cast<double>(adaptive.summary.macro_steps);
  const auto fixed = recorded(
      test::changed(peaked_orbit(), {.method = "missiles", .step = step, .options = {kEveryStep, order}}), "prey.p");
  return peaked_orbit_error(fixed) / peaked_orbit_error(adaptive);
}

TEST(MissilesAdaptive, is_far_more_accurate_on_a_peaked_orbit_than_as_many_fixed_steps) {
  EXPECT_GE(gain_of_adaptivity(0), 50.0);
  EXPECT_GE(gain_of_adaptivity(2), 25.0);
}

TEST(MissilesAdaptive, asks_for_a_linearization_rather_than_for_small_steps) {
  const auto steps = [](const std::string& linearize) {
    return recorded(test::changed(peaked_orbit(), {.method = "missiles",
                                                   .step = 0.01,
                                                   .options = {"adaptive=true", "reconstruction=0", linearize}}),
                    "prey.p")
        .summary.macro_steps;
  };
  EXPECT_LT(steps("linearize=\"when-needed\""), 2 * steps(kEveryStep));
}

TEST(MissilesAdaptive, follows_the_midpoint_defect_where_the_gap_is_zero) {
  // A linear system is estimated exactly: the gap alone would let the step grow to its limit.
  const auto description = kMasses();
  const auto run =
      recorded(test::changed(description, {.method = "missiles",
                                           .step = 1e-3,
                                           .options = {"adaptive=true", "relative_tolerance=1e-6", "max_step=0.1"}}),
               "left.x");
  EXPECT_LT(run.summary.max_coupling_residual, 1e-9);
  EXPECT_GT(run.summary.macro_steps, 200U);
  const auto exact = recorded(test::changed(description, {.method = "monolithic", .step = 2.0}), "left.x");
  EXPECT_NEAR(run.values.back(), exact.values.back(), 1e-4);
}

TEST(MissilesEvents, jumps_on_communication_times_announced_or_found_keep_order_4) {
  const auto final_error = [](double step, bool hidden) {
    auto description = test::changed(test::example("two_mass"), {.method = "missiles", .step = step, .stop = 150.0});
    if (hidden) description.subsystems[1].events = {std::vector<double>{}, {}};
    Simulation simulation(description);
    EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
    EXPECT_EQ(simulation.summary().warnings.empty(), !hidden);
    Simulation exact(test::changed(test::example("two_mass"), {.method = "monolithic", .step = 1.0, .stop = 150.0}));
    exact.run();
    return std::abs(simulation.value("left.x") - exact.value("left.x"));
  };
  EXPECT_NEAR(std::log2(final_error(0.4, false) / final_error(0.2, false)), 4.0, 0.1);
  // The step onto it was estimated without the jump, so that it is found where it is: on a communication time.
  EXPECT_NEAR(std::log2(final_error(0.4, true) / final_error(0.2, true)), 4.0, 0.2);
}

}  // namespace missiles_test
}  // namespace entrain
