#include "analysis/hermite_step.hpp"

#include "analysis/balanced_lu.hpp"
#include "analysis/passed_on.hpp"
#include "analysis/step_program.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "numerics/cubic_hermite.hpp"

namespace entrain::analysis {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// What the four numbers of a Hermite cubic (value and slope at the start, then at the end) add to its coefficients.
std::array<std::array<double, 4>, 4> hermite_weights(Duration step, StepStart start) {
  std::array<std::array<double, 4>, 4> weights{};
  for (std::size_t k = 0; k < 4; ++k) {
    const numerics::EndPoint left{k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0};
    const numerics::EndPoint right{k == 2 ? 1.0 : 0.0, k == 3 ? 1.0 : 0.0};
    const numerics::CubicHermite unit{left, right, step};
    const bool unused = start == StepStart::NoSlopes && k == 1;
    if (!unused) weights[k] = start == StepStart::NoSlopes ? unit.parabola() : unit.coefficients_by_mean_slope();
  }
  return weights;
}

/// State, output and output slope at the end, by the columns of [x; w; dw | w_end; dw_end].
struct EndOfStep {
  MatrixXd states;
  MatrixXd outputs;
  MatrixXd slopes;
};

EndOfStep end_of_step(const LinearNetwork& network, Duration step, StepStart start) {
  const Index states = numerics::index(network.state_count());
  const Index inputs = numerics::index(network.input_count());
  const Index outputs = numerics::index(network.outputs.size());
  const Index columns = states + 4 * inputs;
  EndOfStep end{MatrixXd::Zero(states, columns), MatrixXd::Zero(outputs, columns), MatrixXd::Zero(outputs, columns)};
  const auto weights = hermite_weights(step, start);
  const auto steps = subsystem_steps(network, step, kMaxInputDegree);
  Index x = 0;
  Index u = 0;
  Index y = 0;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto& m = network.subsystems[s].matrices;
    const Index own_states = numerics::index(m.A.rows);
    const Index own_outputs = numerics::index(m.C.rows);
    end.states.block(x, x, own_states, own_states) = numerics::view(steps[s].exponential);
    // Of the polynomials where they end, not of the fit that is handed over.
    MatrixXd value = MatrixXd::Zero(numerics::index(m.B.cols), columns);
    MatrixXd slope = value;
    for (Index i = 0; i < value.rows(); ++i) {
      for (Index k = 0; k < 4; ++k) {
        const Index column = states + k * inputs + u + i;
        for (std::size_t p = 0; p < 4; ++p) {
          const double weight = weights[static_cast<std::size_t>(k)][p];
          end.states.block(x, column, own_states, 1) += weight * numerics::view(steps[s].powers[p]).col(i);
        }
      }
      value(i, states + 2 * inputs + u + i) = 1.0;
      slope(i, states + 3 * inputs + u + i) = 1.0;
    }
    const auto own = end.states.middleRows(x, own_states);
    end.outputs.middleRows(y, own_outputs) = numerics::view(m.C) * own + numerics::view(m.D) * value;
    end.slopes.middleRows(y, own_outputs) =
        numerics::view(m.C) * (numerics::view(m.A) * own + numerics::view(m.B) * value) + numerics::view(m.D) * slope;
    x += own_states;
    u += value.rows();
    y += own_outputs;
  }
  return end;
}

/// As if every subsystem accepted the polynomials as they are.
LinearNetwork without_limits(LinearNetwork network) {
  for (auto& subsystem : network.subsystems) {
    subsystem.capabilities.input_degree = kMaxInputDegree;
  }
  return network;
}

}  // namespace

Matrix hermite_step_matrix(const LinearNetwork& network, Duration step, StepEnd from, StepStart start) {
  const Index states = numerics::index(network.state_count());
  const Index inputs = numerics::index(network.input_count());
  const Index known = states + 2 * inputs;
  const EndOfStep made = end_of_step(network, step, start);
  if (inputs == 0) return numerics::to_matrix(made.states);
  const EndOfStep found = from == StepEnd::Trial ? made : end_of_step(without_limits(network), step, start);
  MatrixXd arriving(2 * inputs, known + 2 * inputs);
  arriving << passed_on(network, found.outputs), passed_on(network, found.slopes);
  const MatrixXd equations = MatrixXd::Identity(2 * inputs, 2 * inputs) - arriving.rightCols(2 * inputs);
  const BalancedLu lu(equations);
  if (!lu.invertible()) {
    throw Error(ErrorCode::LoopNotSolved, {FactCode::ImplicitStepSingular, {}, {{"step", step, "s"}}});
  }
  const MatrixXd ends = lu.solve(arriving.leftCols(known));
  const auto solved = [&](const MatrixXd& rows) -> MatrixXd {
    return rows.leftCols(known) + rows.rightCols(2 * inputs) * ends;
  };
  // The next step begins at the outputs after the step, with the slopes of the coupling equations.
  MatrixXd phi(known, known);
  phi << solved(made.states), solved(passed_on(network, made.outputs)), ends.bottomRows(inputs);
  return numerics::to_matrix(phi);
}

}  // namespace entrain::analysis
