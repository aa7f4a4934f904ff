// Integrals that both sides of a connection keep: found, measured, corrected (docs/theory/drift.md).
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "entrain/fact_codes.hpp"
#include "numerics/state_integrals.hpp"
#include "support/facts.hpp"
#include "support/linear_networks.hpp"
#include "support/matrix_of.hpp"
#include "support/ode_model.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace drift_test {

using test::LinearSystem;
using test::matrix;

constexpr double kMass = 2.0;
constexpr double kStiffness = 50.0;
constexpr double kDamping = 8.0;

/// x' = v, v' = (F - damping v) / m; returns v.
LinearSystem::Part mass(double start_velocity, double damping = 0.0) {
  return {{matrix(2, 2, {0, 1, 0, -damping / kMass}), matrix(2, 1, {0, 1 / kMass}), matrix(1, 2, {0, 1}),
           matrix(1, 1, {0})},
          {0.0, start_velocity},
          {}};
}

/// z' = v; returns the force of spring and damper on the mass.
LinearSystem::Part spring() {
  return {{matrix(1, 1, {0}), matrix(1, 1, {1}), matrix(1, 1, {-kStiffness}), matrix(1, 1, {-kDamping})}, {0.0}, {}};
}

/// A mass that is thrown against a spring which integrates its velocity: at rest, both positions are zero.
LinearSystem thrown_mass(double start_velocity) {
  LinearSystem system;
  system.parts = {mass(start_velocity), spring()};
  system.parts[0].sources = {{1, 0}};
  system.parts[1].sources = {{0, 0}};
  return system;
}

/// Constant force on a mass, by a third subsystem that never changes; the second integrates the velocity.
LinearSystem pushed_mass(double force) {
  LinearSystem system;
  system.parts = {
      mass(0.0), spring(), {{matrix(1, 1, {0}), matrix(1, 0, {}), matrix(1, 1, {1}), matrix(1, 0, {})}, {force}, {}}};
  system.parts[0].sources = {{2, 0}};
  system.parts[1].sources = {{0, 0}};
  return system;
}

struct Outcome {
  RunSummary summary;
  double position = 0.0;    ///< of the mass
  double elongation = 0.0;  ///< of the spring
};

Outcome outcome_of(const LinearSystem& system, SystemDescription description, bool corrects) {
  if (corrects) description.correct_drift = {true, {}};
  Simulation simulation(description, {}, system.models());
  Outcome result;
  result.summary = simulation.run();
  EXPECT_EQ(result.summary.termination, Termination::Completed) << result.summary.message;
  result.position = simulation.value("s0.x0");
  result.elongation = simulation.value("s1.x0");
  return result;
}

double drift_in(const Outcome& outcome) {
  return test::number_of(outcome.summary.notes, FactCode::IntegralDrift, "drift", "s0.y0 -> s1.u0");
}

/// With held inputs the spring integrates the velocity of the start of every step: with a constant acceleration a it
/// loses a h^2 / 2 per step.
TEST(IntegralDrift, of_held_velocity_is_that_of_the_rectangle_rule) {
  constexpr double kForce = 3.0;
  constexpr double kStep = 0.01;
  constexpr double kStop = 4.0;
  const auto system = pushed_mass(kForce);
  const auto outcome = outcome_of(system, system.description("jacobi", kStep, kStop), false);
  const double expected = kForce / kMass * kStep * kStop / 2;
  EXPECT_NEAR(drift_in(outcome), expected, 1e-9 * expected);
  EXPECT_NEAR(outcome.position - outcome.elongation, expected, 1e-9 * expected);
}

/// A quarter of the drift is taken back per step: e -> 3/4 e - a h^2 / 2 tends to 2 a h^2, whatever the length of the
/// run.
TEST(IntegralDrift, corrected_is_bounded_and_of_second_order) {
  constexpr double kForce = 3.0;
  for (const double step : {0.02, 0.01}) {
    for (const double stop : {2.0, 8.0}) {
      const auto system = pushed_mass(kForce);
      const auto outcome = outcome_of(system, system.description("jacobi", step, stop), true);
      const double expected = 2 * kForce / kMass * step * step;
      EXPECT_NEAR(drift_in(outcome), expected, 1e-6 * expected) << step << ' ' << stop;
    }
  }
}

/// Sum of h v(t_n) - integral of v = h (v(0) - v(end)) / 2: the mass comes to rest beside where the spring is relaxed.
TEST(IntegralDrift, leaves_the_mass_beside_its_rest_unless_corrected) {
  constexpr double kVelocity = 1.5;
  constexpr double kStep = 0.002;
  const auto system = thrown_mass(kVelocity);
  const auto description = system.description("jacobi", kStep, 20.0);
  const auto as_is = outcome_of(system, description, false);
  EXPECT_NEAR(as_is.elongation, 0.0, 1e-6);
  EXPECT_NEAR(as_is.position, -kStep * kVelocity / 2, 0.02 * kStep * kVelocity / 2);
  const auto corrected = outcome_of(system, description, true);
  EXPECT_NEAR(corrected.elongation, 0.0, 1e-6);
  EXPECT_NEAR(corrected.position, 0.0, 1e-6);
}

class DriftOfMethods : public ::testing::TestWithParam<test::Change> {};

/// Every method takes the correction: at rest, position and elongation are the same, and the drift does not grow by it.
TEST_P(DriftOfMethods, corrected_position_and_elongation_agree_at_rest) {
  constexpr double kVelocity = 1.5;
  const auto system = thrown_mass(kVelocity);
  const auto description = test::changed(system.description("jacobi", 0.005, 20.0), GetParam());
  const auto as_is = outcome_of(system, description, false);
  const auto corrected = outcome_of(system, description, true);
  EXPECT_NEAR(corrected.position, corrected.elongation, 1e-6);
  EXPECT_LE(drift_in(corrected), 1.1 * drift_in(as_is) + 1e-12);
}

INSTANTIATE_TEST_SUITE_P(All, DriftOfMethods,
                         ::testing::Values(test::Change{"jacobi", 0.0, 0.0, {"degree=1"}}, test::Change{"gauss-seidel"},
                                           test::Change{"nepce"}, test::Change{"f3ornits"}, test::Change{"ifosmondi"},
                                           test::Change{"missiles"}, test::Change{"waveform"}));

/// The spring between two masses integrates the difference of their velocities: one integral of two connections.
TEST(RedundantIntegrals, of_a_difference_have_all_their_connections) {
  LinearSystem system;
  system.parts = {
      mass(1.0),
      mass(-0.5),
      {{matrix(1, 1, {0}), matrix(1, 2, {1, -1}), matrix(2, 1, {-5, 5}), matrix(2, 2, {-1, 1, 1, -1})}, {0.0}, {}}};
  system.parts[0].sources = {{2, 0}};
  system.parts[1].sources = {{2, 1}};
  system.parts[2].sources = {{0, 0}, {1, 0}};
  auto description = system.description("jacobi", 0.01, 1.0);
  Simulation simulation(description, {}, system.models());
  const RunSummary summary = simulation.run();
  const Fact* note = test::find_fact(summary.notes, FactCode::IntegralDrift, "s0.y0 -> s2.u0");
  ASSERT_NE(note, nullptr);
  EXPECT_EQ(note->subjects, (std::vector<std::string>{"s0.y0 -> s2.u0", "s1.y0 -> s2.u1"}));
  const double apart = simulation.value("s2.x0") - simulation.value("s0.x0") + simulation.value("s1.x0");
  EXPECT_GE(note->number("drift").value_or(0.0), std::abs(apart));
  EXPECT_GT(std::abs(apart), 1e-4) << "held inputs drift";
}

/// A spring that relaxes forgets; a mass that returns its position has no integral of that.
TEST(RedundantIntegrals, are_not_found_where_a_side_does_not_integrate) {
  auto relaxing = thrown_mass(1.0);
  relaxing.parts[1].matrices.A(0, 0) = -0.1;
  auto positions = thrown_mass(1.0);
  positions.parts[0].matrices.C = matrix(1, 2, {1, 0});
  for (const auto& system : {relaxing, positions}) {
    const auto outcome = outcome_of(system, system.description("jacobi", 0.002, 0.1), true);
    EXPECT_FALSE(test::has_fact(outcome.summary.notes, FactCode::IntegralDrift));
    EXPECT_TRUE(test::has_fact(outcome.summary.notes, FactCode::NoRedundantIntegral)) << "correct_drift was written";
  }
  const auto prey = Simulation(test::changed(test::example("lotka_volterra"), {.stop = 0.1})).run();
  EXPECT_FALSE(test::has_fact(prey.notes, FactCode::IntegralDrift));
}

/// Units must not matter: states in micrometres and gigametres.
TEST(RedundantIntegrals, are_found_whatever_the_units_of_the_states) {
  const auto part = mass(0.0, 0.3).matrices;
  constexpr double kMicro = 1e6;
  constexpr double kGiga = 1e-9;
  const Linearization scaled{matrix(2, 2, {0, kMicro / kGiga, 0, part.A(1, 1)}),
                             matrix(2, 1, {0, part.B(1, 0) * kGiga}), matrix(1, 2, {0, 1 / kGiga}), matrix(1, 1, {0})};
  const auto weights = numerics::integral_of_output(scaled, 0);
  ASSERT_TRUE(weights);
  EXPECT_NEAR((*weights)[0] * kMicro, 1.0, 1e-9);
  EXPECT_EQ((*weights)[1], 0.0);
}

/// z' = u (1 + z^2) integrates its input at z = 0 alone.
TEST(RedundantIntegrals, end_where_the_equations_change) {
  const auto linear = thrown_mass(1.5);
  const ModelFactory models = [&](std::string_view name) -> std::unique_ptr<Model> {
    if (name == "0") return linear.models()(name);
    test::OdeModel::Equation bends{[](double z, double u) { return u * (1 + z * z); },
                                   [](double z, double) { return -kStiffness * z; }};
    return std::make_unique<test::OdeModel>(std::move(bends));
  };
  auto description = linear.description("jacobi", 0.002, 0.5);
  description.connections = {{"s0.y0", "s1.u", {}}, {"s1.y", "s0.u0", {}}};
  description.correct_drift = {true, {}};
  const auto summary = Simulation(description, {}, models).run();
  ASSERT_EQ(summary.termination, Termination::Completed) << summary.message;
  const Fact* note = test::find_fact(summary.notes, FactCode::IntegralDrift);
  ASSERT_NE(note, nullptr);
  EXPECT_TRUE(note->number("ended"));
}

TEST(RedundantIntegrals, are_warned_of_by_check_unless_corrected) {
  const auto system = thrown_mass(1.0);
  auto description = system.description("jacobi", 0.002, 0.1);
  const auto warned = test::facts_of(check(description, system.models()));
  ASSERT_EQ(warned.size(), 1U);
  EXPECT_EQ(warned[0].code, FactCode::RedundantIntegral);
  EXPECT_EQ(warned[0].subjects, std::vector<std::string>{"s0.y0 -> s1.u0"});
  EXPECT_FALSE(warned[0].remedy.empty());
  description.correct_drift = {true, {}};
  EXPECT_TRUE(check(description, system.models()).empty());
}

TEST(IntegralDrift, corrected_goes_on_from_a_checkpoint_with_the_same_bits) {
  const auto system = thrown_mass(1.5);
  auto description = system.description("jacobi", 0.002, 1.0);
  description.correct_drift = {true, {}};
  Simulation simulation(description, {}, system.models());
  simulation.run_until(0.4);
  const auto here = simulation.checkpoint();
  const RunSummary once = simulation.run();
  const double position = simulation.value("s0.x0");
  simulation.restore(*here);
  const RunSummary again = simulation.run();
  EXPECT_EQ(simulation.value("s0.x0"), position);
  EXPECT_EQ(test::number_of(once.notes, FactCode::IntegralDrift, "drift"),
            test::number_of(again.notes, FactCode::IntegralDrift, "drift"));
}

}  // namespace drift_test
}  // namespace entrain
