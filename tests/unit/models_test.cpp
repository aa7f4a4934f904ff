#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "entrain/error.hpp"
#include "models/chain_system.hpp"
#include "models/registry.hpp"
#include "numerics/exponential.hpp"
#include "numerics/ode.hpp"
#include "subsystem/native/native_subsystem.hpp"

namespace entrain {
namespace models_test {

using Starts = std::vector<std::pair<std::string, Value>>;

std::unique_ptr<Subsystem> make(const std::string& model, const Starts& starts = {}) {
  auto subsystem = subsystem::make_native_subsystem(model, models::make_built_in_model(model));
  for (const auto& [name, value] : starts) subsystem->set_start(*subsystem->variables().find_startable(name), value);
  subsystem->initialize(0.0, 1.0);
  return subsystem;
}

std::vector<double> step(Subsystem& subsystem, Time from, Duration size, const std::vector<double>& coefficients) {
  const auto inputs = subsystem.variables().inputs.size();
  const int degree = inputs == 0 ? 0 : static_cast<int>(coefficients.size() / inputs) - 1;
  std::vector<double> outputs(subsystem.variables().outputs.size());
  const auto report = subsystem.step({from, size, {coefficients.data(), inputs, degree}}, outputs);
  EXPECT_EQ(report.outcome, StepOutcome::Completed);
  return outputs;
}

std::vector<double> evaluate(Subsystem& subsystem, const std::vector<double>& inputs) {
  std::vector<double> outputs(subsystem.variables().outputs.size());
  subsystem.evaluate(inputs, outputs);
  return outputs;
}

/// The first subsystem sends its motion, the second one the force: both orders of the ports are the same, so the
/// outputs of one are the inputs of the other. Integrates both as one system.
class PairReference {
 public:
  PairReference(Subsystem& motion, Subsystem& force)
      : motion_(*motion.facets().equations), force_(*force.facets().equations), x_(4) {
    motion_.state(std::span(x_).first(2));
    force_.state(std::span(x_).last(2));
  }
  void integrate(Time from, Time to) {
    solver_.integrate(from, to, x_, [&](Time t, std::span<const double> x, std::span<double> dx) {
      double motion[2];
      double force = 0.0;
      // Just before `to` a force that changes there still has its old value.
      const Time inside = std::min(t, std::nextafter(to, from) - 1e-9);
      motion_.outputs({inside, x.first(2), {&force, 1}, {}}, motion);
      force_.outputs({inside, x.last(2), motion, {}}, {&force, 1});
      motion_.right_hand_side({t, x.first(2), {&force, 1}, {}}, dx.first(2));
      force_.right_hand_side({t, x.last(2), motion, {}}, dx.last(2));
    });
  }
  const std::vector<double>& x() const { return x_; }

 private:
  Equations& motion_;
  Equations& force_;
  std::vector<double> x_;
  numerics::OdeSolver solver_{4};
};

void expect_digits(double actual, double expected, double relative = 1e-11) {
  EXPECT_NEAR(actual, expected, relative * std::abs(expected));  // the references print 12 digits
}

TEST(Models, every_variable_has_a_description_and_every_parameter_and_state_a_start) {
  std::set<std::string> names;
  for (const auto& entry : models::built_in_models()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.description.empty());
    const auto table = entry.make()->variables();
    for (const auto* list : {&table.inputs, &table.outputs, &table.states, &table.parameters}) {
      for (const auto& variable : *list) EXPECT_FALSE(variable.description.empty()) << entry.name << variable.name;
    }
    for (const auto* list : {&table.states, &table.parameters}) {
      for (const auto& variable : *list) EXPECT_TRUE(variable.start) << entry.name << '.' << variable.name;
    }
  }
  EXPECT_EQ(models::make_built_in_model("mechanical.middle"), nullptr);
}

TEST(Mechanical, linearization_gives_the_reference_estimator) {
  const auto left = make("mechanical.left");
  const auto right = make("mechanical.right");
  Linearization l;
  left->facets().linearizer->linearize(l);
  const Matrix left_exponential = numerics::exact_step_matrices(l.A, l.B, 1e-3, 0).exponential;
  // P_V = C exp(A dt); outputs v, x, states x, v.
  expect_digits(left_exponential(1, 0), -1.99733539886);
  expect_digits(left_exponential(1, 1), 0.997003497457);
  expect_digits(left_exponential(0, 0), 0.999000832856);
  expect_digits(left_exponential(0, 1), 9.98667699432e-4);
  EXPECT_EQ(l.C(0, 1), 1.0);
  EXPECT_EQ(l.C(1, 0), 1.0);

  right->facets().linearizer->linearize(l);
  Matrix identity(2, 2);
  identity(0, 0) = identity(1, 1) = 1.0;
  const auto blocks = numerics::exact_step_matrices(l.A, identity, 1e-3, 0);
  const auto row = [&](const Matrix& m, std::size_t j) { return l.C(0, 0) * m(0, j) + l.C(0, 1) * m(1, j); };
  expect_digits(row(blocks.exponential, 0), 9979.38466542);  // P_V
  expect_digits(row(blocks.exponential, 1), 19.9814654618);
  expect_digits(row(blocks.gamma[0], 0), 9.99083606847);  // R_V
  expect_digits(row(blocks.gamma[0], 1), 0.0149929706066);
}

TEST(Mechanical, coupled_equations_have_the_reference_solution) {
  const auto left = make("mechanical.left");
  const auto right = make("mechanical.right");
  EXPECT_DOUBLE_EQ(evaluate(*right, {0.0, 1.0})[0], 20000.0);  // v, x of the left body; table 3: u1(0)
  PairReference pair(*left, *right);
  pair.integrate(0.0, 2.0);
  const double expected[] = {-0.986469627429, -25.1520489634, -1.36587081953, -35.1663950333};
  for (std::size_t i = 0; i < 4; ++i) expect_digits(pair.x()[i], expected[i], 1e-10);  // 2 s of 45 rad/s at 1e-13
}

TEST(TwoMass, coupled_equations_have_the_reference_solution) {
  const auto left = make("two_mass.left");
  const auto right = make("two_mass.right");
  PairReference pair(*left, *right);
  const double expected[] = {-0.49675915893, -0.038216458875, 4.55937743555, 4.96554137783};
  for (int i = 0; i < 4; ++i) {
    pair.integrate(50.0 * i, 50.0 * (i + 1));
    EXPECT_NEAR(pair.x()[0], expected[i], 1e-10) << "t = " << 50 * (i + 1);
  }
}

TEST(TwoMass, force_changes_at_the_change_time_included) {
  const auto right = make("two_mass.right");
  Equations& equations = *right->facets().equations;
  const double x[] = {-3.0, 0.0};
  const double u[] = {0.0, -10.0};
  double force = 0.0;
  equations.outputs({99.999, x, u, {}}, {&force, 1});
  EXPECT_DOUBLE_EQ(force, 1000.0 * (-10.0 + 3.0));
  for (const Time t : {100.0, 250 * 0.4, 1000 * 0.1, 150.0}) {
    equations.outputs({t, x, u, {}}, {&force, 1});
    EXPECT_EQ(force, -1000.0) << t;
  }
  EXPECT_EQ(equations.next_discontinuity(0.0), 100.0);
  EXPECT_EQ(equations.next_discontinuity(100.0), kNever);
}

TEST(Oscillator, semi_implicit_steps_give_the_reference_of_the_learning_control_paper) {
  const Starts side1 = {{"m1", 1.0},    {"c1", 10.0}, {"d1", 0.1},
                        {"c_k", 100.0}, {"d_k", 0.1}, {"integrator", "semi-implicit"}};
  const Starts side2 = {{"m2", 1.0}, {"c2", 1000.0}, {"d2", 0.1}, {"integrator", "semi-implicit"}};
  const auto force_side = make("oscillator.force_side", side1);
  const auto motion_side = make("oscillator.motion_side", side2);
  std::vector<double> motion = evaluate(*motion_side, {0.0});
  const double h = 1e-3;
  for (int k = 0; k < 20000; ++k) {
    const auto force = evaluate(*force_side, motion);
    const auto next = step(*motion_side, k * h, h, force);
    step(*force_side, k * h, h, motion);
    motion = next;
  }
  std::vector<double> x1(2);
  force_side->facets().states->states(x1);
  expect_digits(x1[0], -1.26781033162);
  expect_digits(motion[0], -0.261611793009);
  expect_digits(evaluate(*force_side, motion)[0], -98.7298328637);
}

TEST(Oscillator, an_unknown_integrator_is_refused_with_its_name) {
  try {
    make("oscillator.motion_side", {{"integrator", "semi-implict"}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidSystem);
    EXPECT_EQ(error.context().subsystem, "oscillator.motion_side");
    EXPECT_EQ(error.context().variable, "integrator");
    EXPECT_EQ(error.context().remedy, "did you mean 'semi-implicit'?");
  }
}

TEST(Models, a_mass_must_be_positive) {
  for (const double mass : {0.0, -1.0}) {
    try {
      make("chain.mass", {{"m", mass}});
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidSystem);
      EXPECT_EQ(error.context().variable, "m");
    }
  }
}

TEST(LotkaVolterra, one_step_of_the_isolated_prey_equals_the_reference) {
  // COSTARICA, tables 4 and 5; dt = 0.1.
  const auto prey = make("lotka_volterra.prey", {{"alpha", 0.67}, {"beta", 1.33}, {"p", 0.8}});
  expect_digits(step(*prey, 0.0, 0.1, {0.8, -0.16, -0.11008})[0], 0.769949193190);
  const auto modulated = make("lotka_volterra.modulated_prey");
  expect_digits(step(*modulated, 0.0, 0.1, {0.8, -0.448, 0.5173559185})[0], 0.803184661033);
}

TEST(LotkaVolterra, held_inputs_give_the_reference_of_the_jacobi_method) {
  const auto prey = make("lotka_volterra.prey");
  const auto predator = make("lotka_volterra.predator");
  double p = 1.0;
  double P = 1.0;
  const double h = 1e-2;
  for (int k = 0; k < 2000; ++k) {
    const double next = step(*prey, k * h, h, {P})[0];
    P = step(*predator, k * h, h, {p})[0];
    p = next;
  }
  expect_digits(p, 0.758105585535);
  expect_digits(P, 0.207362382584);
}

TEST(Car, controller_holds_its_speed_when_it_sees_it_and_runs_away_when_it_does_not) {
  for (const bool sees_speed : {true, false}) {
    const auto body = make("car.body");
    const auto controller = make("car.controller");
    const double h = 1e-3;
    double v_before_control = 0.0;
    std::vector<double> x(2);
    double force = evaluate(*controller, {0.0})[0];
    for (int k = 0; k < 30000; ++k) {
      step(*body, k * h, h, {force});
      body->facets().states->states(x);
      force = step(*controller, k * h, h, {x[0] - h * x[1], sees_speed ? x[1] : 0.0})[0];
      if (k == 9999) v_before_control = x[1];
    }
    EXPECT_NEAR(v_before_control, 12.0, 0.1);
    // The reference: 16.086 m/s, and 332 m/s = 12 + 20 s of 16 m/s^2 with held inputs.
    EXPECT_NEAR(x[1], sees_speed ? 16.086 : 332.0, sees_speed ? 0.005 : 0.5);
  }
}

TEST(Tough, follows_the_integral_of_its_terms) {
  const auto tough = make("tough", {{"a0", 2.0}, {"wa", 0.5}, {"b0", 0.3}, {"wb", 4.0}, {"x", 1.0}});
  const double y = step(*tough, 0.0, 3.0, {})[0];
  EXPECT_NEAR(y, 1.0 + 2.0 / 0.5 * std::sin(1.5) + 0.3 * std::sin(12.0), 1e-14);
}

TEST(Chain, spring_forces_obey_newton_s_third_law) {
  // A rising force on the left neighbour is what the mass itself loses.
  const auto mass = make("chain.mass", {{"m", 2.0}, {"c_0", 0.0}, {"d_0", 0.0}, {"x", 0.4}, {"v", 0.7}});
  const std::vector<double> inputs = {0.1, -0.2, 5.0};
  const auto outputs = evaluate(*mass, inputs);
  std::vector<double> dx(2);
  mass->facets().states->derivatives(dx);
  EXPECT_NEAR(2.0 * dx[1], inputs[2] - outputs[2], 1e-14);
  EXPECT_NEAR(outputs[2], 10.0 * (0.4 - 0.1) + 0.1 * (0.7 + 0.2), 1e-14);
}

TEST(Chain, generator_connects_each_mass_with_its_neighbours) {
  EXPECT_EQ(models::chain_system(1).connections.size(), 0U);
  const auto chain = models::chain_system(4);
  EXPECT_EQ(chain.subsystems.size(), 4U);
  EXPECT_EQ(chain.connections.size(), 9U);
  EXPECT_EQ(chain.subsystems[0].start.count("x"), 1U);
  const auto ring = models::chain_system(4, true);
  EXPECT_EQ(ring.connections.size(), 12U);
  std::set<std::string> fed;
  for (const auto& connection : ring.connections) EXPECT_TRUE(fed.insert(connection.input).second) << connection.input;
  EXPECT_EQ(fed.size(), 12U);  // every input of every mass
}

}  // namespace models_test
}  // namespace entrain
