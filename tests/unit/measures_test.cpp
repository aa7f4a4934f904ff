// Measures of a coupling against what they mean: orders, and searches by brute force.
#include "analysis/measures.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <cmath>
#include <complex>
#include <numbers>

#include "numerics/dense.hpp"
#include "numerics/eigenvalues.hpp"
#include "support/ring_network.hpp"

namespace entrain {
namespace measures_test {

double consistency(const LinearNetwork& network, const CouplingChoice& choice) {
  const auto steps = analysis::subsystem_steps(network, choice.step, choice.degree);
  return analysis::relative_consistency(analysis::StepProgram(network, steps, choice),
                                        analysis::exact_coupling(network));
}

TEST(RelativeConsistency, is_of_the_order_of_the_inputs) {
  const LinearNetwork network = test::ring(3);
  const std::vector<std::size_t> sequence{1, 2, 0};
  for (int degree = 0; degree <= kMaxInputDegree; ++degree) {
    const auto order = [&](const auto& choice) {
      constexpr double kStep = 0.02;
      return std::log2(consistency(network, choice(2.0 * kStep)) / consistency(network, choice(kStep)));
    };
    EXPECT_NEAR(order([&](double step) { return method::parallel_choice(3, degree, step); }), degree + 1.0, 0.1);
    EXPECT_NEAR(order([&](double step) { return method::sequential_choice(sequence, degree, step); }), degree + 1.0,
                0.1);
  }
}

TEST(RelativeConsistency, of_a_stiff_network_is_finite) {
  LinearNetwork network = test::ring(2);
  network.subsystems[1].matrices.A.values = {0.0, 1.0, -1e8, -2e4};  // 1000 of its time constants in a step
  const double value = consistency(network, method::parallel_choice(2, 2, 0.1));
  EXPECT_GT(value, 0.0);
  EXPECT_LT(value, 1.0);
}

double margin(const LinearNetwork& network, const CouplingChoice& choice, std::size_t subsystem) {
  const auto steps = analysis::subsystem_steps(network, choice.step, choice.degree);
  return analysis::structured_radius(analysis::StepProgram(network, steps, choice), subsystem);
}

/// Alone: two oscillators that turn by these angles in a second, and what falls of them in it.
LinearNetwork two_oscillations(double first, double first_fall, double second, double second_fall) {
  LinearNetwork network;
  auto& subsystem = network.subsystems.emplace_back();
  subsystem.name = "both";
  subsystem.matrices = {Matrix(4, 4), Matrix(4, 0), Matrix(0, 4), Matrix(0, 0)};
  subsystem.matrices.A.values = {std::log1p(-first_fall),  first,  0, 0, -first,  std::log1p(-first_fall), 0, 0, 0, 0,
                                 std::log1p(-second_fall), second, 0, 0, -second, std::log1p(-second_fall)};
  return network;
}

TEST(StructuredRadius, sees_resonances_of_any_width) {
  // Rotations that shrink: the smallest change that makes one unstable is what it falls by.
  const double on_a_grid = std::numbers::pi / 3.0;
  for (const double fall : {1e-1, 1e-3, 1e-5, 1e-7, 1e-9}) {
    for (const double angle : {0.0123456, 1.2345678, 3.1234567, std::numbers::pi}) {
      EXPECT_NEAR(
          margin(two_oscillations(angle, fall, on_a_grid, 1.5 * fall), method::parallel_choice(1, 0, 1.0), 0) / fall,
          1.0, 1e-6)
          << angle << ", " << fall;
    }
  }
}

/// 1 / the largest || K (zeta I - Phi)^-1 E ||_2 of many angles around the argument of every eigenvalue.
double margin_by_brute_force(const analysis::StepProgram& program, std::size_t states) {
  using Eigen::MatrixXcd;
  const Matrix phi = analysis::step_matrix(program);
  Matrix seen(program.size(), program.size());
  for (std::size_t i = 0; i < program.size(); ++i) seen(i, i) = 1.0;
  std::vector<double> scratch;
  program.apply_around(0, false, seen.values, program.size(), scratch);
  Matrix done(program.size(), states);
  for (std::size_t i = 0; i < states; ++i) done(i, i) = 1.0;
  program.apply_around(0, true, done.values, states, scratch);
  const Eigen::Index samples =
      numerics::index(program.network().subsystems[0].inputs.size() * program.samples_per_input());
  MatrixXcd k(numerics::index(states) + samples, numerics::index(program.size()));
  k << numerics::view(seen).topRows(numerics::index(states)).cast<std::complex<double>>(),
      numerics::view(seen).middleRows(numerics::index(program.samples_at()), samples).cast<std::complex<double>>();
  double largest = 0.0;
  for (const auto& value : numerics::eigenvalues(phi)) {
    for (int i = -500; i <= 500; ++i) {
      const auto zeta = std::polar(1.0, std::arg(value) + 0.01 * i * (1.0 - std::abs(value)));
      const MatrixXcd resolvent =
          zeta * MatrixXcd::Identity(numerics::index(phi.rows), numerics::index(phi.cols)) - numerics::view(phi);
      const MatrixXcd loop = k * resolvent.partialPivLu().solve(MatrixXcd(numerics::view(done)));
      largest = std::max(largest, Eigen::JacobiSVD<MatrixXcd>(loop).singularValues()[0]);
    }
  }
  return 1.0 / largest;
}

TEST(StructuredRadius, of_a_lightly_damped_network_is_that_of_brute_force) {
  LinearNetwork network = test::ring(2);
  for (auto& subsystem : network.subsystems) subsystem.matrices.A.values = {0.0, 1.0, -30.0, -0.05};
  for (int degree = 0; degree < 2; ++degree) {
    const auto choice = method::parallel_choice(2, degree, 3e-3);
    const auto steps = analysis::subsystem_steps(network, choice.step, choice.degree);
    const analysis::StepProgram program(network, steps, choice);
    ASSERT_LT(analysis::step_radius(program), 1.0);
    EXPECT_NEAR(analysis::structured_radius(program, 0) / margin_by_brute_force(program, 2), 1.0, 1e-3) << degree;
  }
}

}  // namespace measures_test
}  // namespace entrain
