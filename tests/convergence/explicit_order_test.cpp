// Measured order of the explicit methods on the two-mass oscillator of Glumac and Kovacic (2019), against the closed
// form.
#include <gtest/gtest.h>

#include <cmath>

#include "coupling/engine.hpp"
#include "numerics/exponential.hpp"
#include "session/prepare.hpp"
#include "support/explicit_stepper.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace explicit_order_test {

/// x1, v1 (force side), x2, v2 (motion side) of Glumac and Kovacic (2019), (39)-(41), as one linear system: z' = M z.
Matrix oscillator_matrix() {
  Matrix m(4, 4);
  const double m1 = 10, c1 = 1, d1 = 1, ck = 1, dk = 2, m2 = 10, c2 = 1, d2 = 2;
  m(0, 1) = m(2, 3) = 1.0;
  m(1, 0) = -(c1 + ck) / m1;
  m(1, 1) = -(d1 + dk) / m1;
  m(1, 2) = ck / m1;
  m(1, 3) = dk / m1;
  m(3, 0) = ck / m2;
  m(3, 1) = dk / m2;
  m(3, 2) = -(c2 + ck) / m2;
  m(3, 3) = -(d2 + dk) / m2;
  return m;
}

std::array<double, 4> exact(Time t) {
  const std::array<double, 4> start{0.0, 0.0, 1.0, 0.0};
  const auto e = numerics::exact_step_matrices(oscillator_matrix(), Matrix(4, 0), t, 0).exponential;
  std::array<double, 4> z{};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) z[i] += e(i, j) * start[j];
  }
  return z;
}

/// What an input receives at time t on the exact solution.
double exact_input(const Graph& graph, InputId input, Time t) {
  const auto z = exact(t);
  const auto name = graph.name(input);
  if (name == "force_side.x") return z[2];
  if (name == "force_side.v") return z[3];
  return 1.0 * (z[0] - z[2]) + 2.0 * (z[1] - z[3]);  // F = c_k (x1 - x2) + d_k (v1 - v2)
}

/// Largest error of the motion side's position at t = 4 s.
double error_of(const test::Change& change) {
  std::vector<Problem> problems;
  const auto description = test::changed(test::example("oscillator"), change);
  auto prepared = session::prepare(description, 1, {}, problems);
  if (!prepared.system) throw Error(problems);
  auto& system = *prepared.system;
  auto& method = *prepared.method;
  system.engine().initialize(0.0, prepared.settings.stop);
  method.start(system, prepared.settings);
  test::stepper_of(method).seed_history(
      [&](InputId input, int k) { return exact_input(system.graph(), input, -k * change.step); });
  while (method.advance(system).reached < prepared.settings.stop) {
  }
  double x2 = 0.0;
  for (std::size_t y = 0; y < system.outputs().size(); ++y) {
    if (system.graph().name(OutputId{y}) == "motion_side.x") x2 = system.outputs()[y];
  }
  return std::abs(x2 - exact(prepared.settings.stop)[2]);
}

double observed_order(const std::string& method, int degree, double step) {
  const std::vector<std::string> options{"degree=" + std::to_string(degree)};
  const double coarse = error_of({.method = method, .step = step, .stop = 4.0, .options = options});
  const double fine = error_of({.method = method, .step = step / 2, .stop = 4.0, .options = options});
  return std::log2(coarse / fine);
}

class Degree : public testing::TestWithParam<int> {};

TEST_P(Degree, q_makes_jacobi_of_order_q_plus_1) {
  EXPECT_NEAR(observed_order("jacobi", GetParam(), 1.0 / 128), GetParam() + 1.0, 0.1);
}

TEST_P(Degree, q_makes_gauss_seidel_of_order_q_plus_1) {
  EXPECT_NEAR(observed_order("gauss-seidel", GetParam(), 1.0 / 128), GetParam() + 1.0, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Explicit, Degree, testing::Range(0, 4));

TEST(ExplicitOrder, the_error_constant_of_jacobi_is_bounded) {
  // Held inputs are late by h / 2 on average; over 4 s the delay costs the position less than its largest speed allows.
  const double step = 1.0 / 256;
  EXPECT_LT(error_of({.method = "jacobi", .step = step, .stop = 4.0}), step * 0.5 * 4.0);
}

TEST(ExplicitOrder, inputs_lowered_to_degree_1_keep_the_order_of_degree_1) {
  auto error = [](double step) {
    auto description = test::changed(test::example("oscillator"),
                                     {.method = "jacobi", .step = step, .stop = 4.0, .options = {"degree=3"}});
    for (auto& subsystem : description.subsystems) subsystem.input_degree = {1, {}};
    Simulation simulation(description);
    simulation.run();
    return std::abs(simulation.value("motion_side.x") - exact(4.0)[2]);
  };
  EXPECT_GE(std::log2(error(1.0 / 64) / error(1.0 / 128)), 1.9);
}

}  // namespace explicit_order_test
}  // namespace entrain
