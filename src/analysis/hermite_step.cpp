#include "analysis/hermite_step.hpp"

#include "entrain/error.hpp"
#include "numerics/dense.hpp"
#include "numerics/polynomial.hpp"

namespace entrain {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

Index index(std::size_t i) {
  return static_cast<Index>(i);
}

/// What the four numbers of a Hermite cubic (value and slope at the start, then at the end) add to its coefficients.
std::array<std::array<double, 4>, 4> hermite_weights(Duration step) {
  std::array<std::array<double, 4>, 4> weights{};
  for (std::size_t k = 0; k < 4; ++k) {
    const EndPoint left{k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0};
    const EndPoint right{k == 2 ? 1.0 : 0.0, k == 3 ? 1.0 : 0.0};
    weights[k] = hermite_cubic(left, right, step);
  }
  return weights;
}

/// State, output and output slope at the end, by the columns of [x; w; dw | w_end; dw_end].
struct EndOfStep {
  MatrixXd states;
  MatrixXd outputs;
  MatrixXd slopes;
};

EndOfStep end_of_step(const LinearNetwork& network, std::span<const SubsystemStep> steps, Duration step) {
  const Index states = index(network.state_count());
  const Index inputs = index(network.input_count());
  const Index outputs = index(network.outputs.size());
  const Index columns = states + 4 * inputs;
  EndOfStep end{MatrixXd::Zero(states, columns), MatrixXd::Zero(outputs, columns), MatrixXd::Zero(outputs, columns)};
  const auto weights = hermite_weights(step);
  Index x = 0;
  Index u = 0;
  Index y = 0;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto& m = network.subsystems[s].matrices;
    const Index own_states = index(m.A.rows);
    const Index own_outputs = index(m.C.rows);
    end.states.block(x, x, own_states, own_states) = view(steps[s].exponential);
    MatrixXd value = MatrixXd::Zero(index(m.B.cols), columns);  // of the inputs as they end
    MatrixXd slope = value;
    for (Index i = 0; i < value.rows(); ++i) {
      for (Index k = 0; k < 4; ++k) {
        const Index column = states + k * inputs + u + i;
        for (std::size_t p = 0; p < 4; ++p) {
          const double weight = weights[static_cast<std::size_t>(k)][p];
          end.states.block(x, column, own_states, 1) += weight * view(steps[s].powers[p]).col(i);
          value(i, column) += weight * steps[s].ends[p];
          slope(i, column) += weight * steps[s].end_slopes[p];
        }
      }
    }
    const auto own = end.states.middleRows(x, own_states);
    end.outputs.middleRows(y, own_outputs) = view(m.C) * own + view(m.D) * value;
    end.slopes.middleRows(y, own_outputs) = view(m.C) * (view(m.A) * own + view(m.B) * value) + view(m.D) * slope;
    x += own_states;
    u += value.rows();
    y += own_outputs;
  }
  return end;
}

}  // namespace

Matrix hermite_step_matrix(const LinearNetwork& network, std::span<const SubsystemStep> steps, Duration step) {
  const Index states = index(network.state_count());
  const Index inputs = index(network.input_count());
  const Index known = states + 2 * inputs;
  const EndOfStep end = end_of_step(network, steps, step);
  MatrixXd arriving(2 * inputs, known + 2 * inputs);  // values, then slopes, through the connections
  Index row = 0;
  for (const auto& subsystem : network.subsystems) {
    for (const auto& input : subsystem.inputs) {
      arriving.row(row) = input.factor * end.outputs.row(index(input.source));
      arriving.row(inputs + row) = input.factor * end.slopes.row(index(input.source));
      ++row;
    }
  }
  const MatrixXd equations = MatrixXd::Identity(2 * inputs, 2 * inputs) - arriving.rightCols(2 * inputs);
  const Eigen::FullPivLU<MatrixXd> lu(equations);
  if (!lu.isInvertible()) {
    throw Error(ErrorCode::LoopNotSolved, "the coupling equations of an implicit step are singular");
  }
  MatrixXd phi(known, known);
  phi.bottomRows(2 * inputs) = lu.solve(arriving.leftCols(known));
  phi.topRows(states) = end.states.leftCols(known) + end.states.rightCols(2 * inputs) * phi.bottomRows(2 * inputs);
  return to_matrix(phi);
}

}  // namespace entrain
