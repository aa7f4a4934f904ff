// The step matrix of the implicit methods: entry by entry against a step made by hand, and against the engine.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <functional>

#include "analysis/hermite_step.hpp"
#include "analysis/linearize.hpp"
#include "analysis/passed_on.hpp"
#include "coupling/engine.hpp"
#include "description/system_file.hpp"
#include "session/prepare.hpp"
#include "support/linear_networks.hpp"

namespace entrain {
namespace hermite_matrix_test {

using Eigen::MatrixXd;
using Eigen::VectorXd;

LinearNetwork network_of(CoupledSystem& system) {
  auto linear = analysis::linearized(system);
  EXPECT_TRUE(linear.network);
  return std::move(*linear.network);
}

struct Ready {
  session::Prepared prepared;
  LinearNetwork network;

  Ready(const test::LinearSystem& system, const std::string& method, Duration step,
        const std::vector<std::string>& options = {}) {
    auto description = system.description(method, step, 1e4);
    for (const auto& option : options) apply_option(description, option);
    std::vector<Problem> problems;
    prepared = session::prepare(description, 1, system.models(), problems);
    if (!prepared.system) throw Error(problems);
    prepared.system->engine().initialize(0.0, prepared.settings.stop);
    network = network_of(*prepared.system);
  }
};

/// Inputs of one step: values and slopes at its ends, and the cubic between them, by the textbook.
struct Inputs {
  VectorXd value, slope, end_value, end_slope;
  Duration step = 0.0;

  VectorXd at(double t) const {
    const double s = t / step;
    return (1 + 2 * s) * (1 - s) * (1 - s) * value + s * (1 - s) * (1 - s) * step * slope +
           s * s * (3 - 2 * s) * end_value + s * s * (s - 1) * step * end_slope;
  }
};

/// What a subsystem is given: the cubic, or the line or the constant nearest to it in the mean square, by quadrature.
std::function<VectorXd(double)> handed_over(const Inputs& inputs, int degree) {
  if (degree >= 3) return [inputs](double t) { return inputs.at(t); };
  constexpr int kParts = 4000;
  VectorXd mean = VectorXd::Zero(inputs.value.size());
  VectorXd tilt = mean;
  for (int k = 0; k < kParts; ++k) {
    const double s = (k + 0.5) / kParts;
    const VectorXd here = inputs.at(s * inputs.step);
    mean += here / kParts;
    tilt += 12.0 * (s - 0.5) * here / kParts;
  }
  if (degree == 0) tilt.setZero();
  return [=, step = inputs.step](double t) -> VectorXd { return mean + (t / step - 0.5) * tilt; };
}

/// dx/dt = A x + B u from 0 to `step` by the classical Runge-Kutta method.
VectorXd integrated(const LinearSubsystem& of, VectorXd x, const std::function<VectorXd(double)>& u, Duration step) {
  constexpr int kParts = 400;
  const Duration h = step / kParts;
  const auto rate = [&](double t, const VectorXd& at) -> VectorXd {
    return numerics::view(of.matrices.A) * at + numerics::view(of.matrices.B) * u(t);
  };
  for (int k = 0; k < kParts; ++k) {
    const double t = k * h;
    const VectorXd k1 = rate(t, x);
    const VectorXd k2 = rate(t + h / 2, x + h / 2 * k1);
    const VectorXd k3 = rate(t + h / 2, x + h / 2 * k2);
    const VectorXd k4 = rate(t + h, x + h * k3);
    x += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return x;
}

/// One implicit step made by hand from z = [x; w; dw] and the ends [w; dw] of the inputs.
struct StepByHand {
  const LinearNetwork& network;
  Duration step;

  struct End {
    VectorXd states, arriving;  // arriving = values and slopes that the connections pass on
  };
  End made(const VectorXd& z, const VectorXd& ends, bool limited) const {
    const auto states = numerics::index(network.state_count());
    const auto count = numerics::index(network.input_count());
    End end{VectorXd(states), VectorXd(2 * count)};
    VectorXd outputs(numerics::index(network.outputs.size()));
    VectorXd slopes(outputs.size());
    Eigen::Index x = 0;
    Eigen::Index u = 0;
    Eigen::Index y = 0;
    for (const auto& of : network.subsystems) {
      const auto [a, b, c, d] = std::tuple(numerics::view(of.matrices.A), numerics::view(of.matrices.B),
                                           numerics::view(of.matrices.C), numerics::view(of.matrices.D));
      const auto own = numerics::index(of.inputs.size());
      const Inputs inputs{z.segment(states + u, own), z.segment(states + count + u, own), ends.segment(u, own),
                          ends.segment(count + u, own), step};
      const int degree = limited ? of.capabilities.input_degree : 3;
      const VectorXd reached = integrated(of, z.segment(x, a.rows()), handed_over(inputs, degree), step);
      end.states.segment(x, a.rows()) = reached;
      outputs.segment(y, c.rows()) = c * reached + d * inputs.end_value;
      slopes.segment(y, c.rows()) = c * (a * reached + b * inputs.end_value) + d * inputs.end_slope;
      x += a.rows();
      u += own;
      y += c.rows();
    }
    Eigen::Index row = 0;
    for (const auto& of : network.subsystems) {
      for (const auto& input : of.inputs) {
        end.arriving[row] = input.factor * outputs[numerics::index(input.source)];
        end.arriving[count + row] = input.factor * slopes[numerics::index(input.source)];
        ++row;
      }
    }
    return end;
  }

  /// The ends of the inputs at which what arrives is what was assumed, then z after the step.
  VectorXd after(const VectorXd& z, StepEnd from) const {
    const auto count = numerics::index(network.input_count());
    const bool limited = from == StepEnd::Trial;
    const VectorXd from_zero = made(z, VectorXd::Zero(2 * count), limited).arriving;
    MatrixXd equations = MatrixXd::Identity(2 * count, 2 * count);
    for (Eigen::Index i = 0; i < 2 * count; ++i) {
      equations.col(i) -= made(z, VectorXd::Unit(2 * count, i), limited).arriving - from_zero;
    }
    const VectorXd ends = equations.partialPivLu().solve(from_zero);
    const End end = made(z, ends, true);
    VectorXd next(z.size());
    next << end.states, end.arriving.head(count), ends.tail(count);
    return next;
  }
};

test::LinearSystem two_with_feedthrough(int first_degree, int second_degree) {
  std::mt19937 random(11);
  auto system = test::random_linear_system(random);
  while (system.parts.size() != 2) system = test::random_linear_system(random);
  system.parts[0].input_degree = first_degree;
  system.parts[1].input_degree = second_degree;
  for (double& value : system.parts[0].matrices.D.values) value = 0.3;
  return system;
}

TEST(HermiteMatrix, is_the_step_made_by_hand_entry_by_entry) {
  constexpr Duration kStep = 0.25;
  for (const auto& [first, second] : {std::pair{3, 3}, {0, 3}, {1, 0}}) {
    const Ready ready(two_with_feedthrough(first, second), "missiles", kStep);
    for (const StepEnd from : {StepEnd::Estimate, StepEnd::Trial}) {
      const Matrix phi = analysis::hermite_step_matrix(ready.network, kStep, from);
      for (std::size_t column = 0; column < phi.cols; ++column) {
        const VectorXd expected = StepByHand{ready.network, kStep}.after(
            VectorXd::Unit(numerics::index(phi.rows), numerics::index(column)), from);
        for (std::size_t row = 0; row < phi.rows; ++row) {
          // The quadrature of the fit by midpoints is exact to 1e-8.
          const double exact = first + second == 6 ? 1e-11 : 1e-7;
          EXPECT_NEAR(phi(row, column), expected[numerics::index(row)],
                      exact * std::max(1.0, std::abs(expected[numerics::index(row)])))
              << "degrees " << first << ", " << second << ": row " << row << ", column " << column;
        }
      }
    }
  }
}

/// z of a run under way: states, what arrives at the inputs, and its slopes dw = L (C (A x + B w) + D dw).
VectorXd vector_of(const Ready& run) {
  CoupledSystem& system = *run.prepared.system;
  std::vector<double> states(system.states());
  system.read_states(states);
  const Eigen::Map<const VectorXd> x(states.data(), numerics::index(states.size()));
  const Eigen::Map<const VectorXd> y(system.outputs().data(), numerics::index(system.outputs().size()));
  const VectorXd w = analysis::passed_on(run.network, y);
  VectorXd slopes(y.size());
  MatrixXd by_dw = MatrixXd::Zero(y.size(), w.size());
  Eigen::Index state = 0;
  Eigen::Index input = 0;
  Eigen::Index output = 0;
  for (const auto& of : run.network.subsystems) {
    const auto& m = of.matrices;
    const auto own_states = numerics::index(m.A.rows);
    const auto own_inputs = numerics::index(m.B.cols);
    const auto own_outputs = numerics::index(m.C.rows);
    slopes.segment(output, own_outputs) = numerics::view(m.C) * (numerics::view(m.A) * x.segment(state, own_states) +
                                                                 numerics::view(m.B) * w.segment(input, own_inputs));
    by_dw.block(output, input, own_outputs, own_inputs) = numerics::view(m.D);
    state += own_states;
    input += own_inputs;
    output += own_outputs;
  }
  const MatrixXd equations = MatrixXd::Identity(w.size(), w.size()) - analysis::passed_on(run.network, by_dw);
  VectorXd z(x.size() + 2 * w.size());
  z << x, w, equations.partialPivLu().solve(analysis::passed_on(run.network, slopes));
  return z;
}

TEST(HermiteMatrix, equals_the_engine_on_random_networks) {
  std::mt19937 random(12);
  constexpr Duration kStep = 0.25;
  for (int trial = 0; trial < 20; ++trial) {
    SCOPED_TRACE(trial);
    const auto system = test::random_linear_system(random);
    const bool estimated = trial % 2 == 0;
    const Ready run(system, estimated ? "missiles" : "ifosmondi", kStep,
                    estimated ? std::vector<std::string>{}
                              : std::vector<std::string>{"iteration_tolerance=1e-14", "max_iterations=1000"});
    const Matrix phi =
        analysis::hermite_step_matrix(run.network, kStep, estimated ? StepEnd::Estimate : StepEnd::Trial);
    CoupledSystem& coupled = *run.prepared.system;
    run.prepared.method->start(coupled, run.prepared.settings);
    for (int k = 0; k < 3; ++k) (void)run.prepared.method->advance(coupled);
    VectorXd z = vector_of(run);
    const double size = z.norm();
    for (int k = 0; k < 5; ++k) {
      (void)run.prepared.method->advance(coupled);
      const VectorXd next = numerics::view(phi) * z;
      z = vector_of(run);
      ASSERT_LE((next - z).norm(), 1e-10 * size) << (estimated ? "missiles" : "ifosmondi") << ", step " << k;
    }
  }
}

}  // namespace hermite_matrix_test
}  // namespace entrain
