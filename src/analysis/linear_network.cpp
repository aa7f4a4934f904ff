#include "analysis/linear_network.hpp"

#include "analysis/balanced_lu.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::analysis {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// The outputs that a singular I - D L leaves open: where its kernel is not zero.
Error singular_loop(const LinearNetwork& network, const BalancedLu& lu) {
  const MatrixXd kernel = lu.kernel();
  std::vector<std::string> names;
  for (Index y = 0; y < kernel.rows(); ++y) {
    if (kernel.row(y).cwiseAbs().maxCoeff() > 1e-6 * kernel.cwiseAbs().maxCoeff()) {
      names.push_back(network.outputs[static_cast<std::size_t>(y)]);
    }
  }
  return {ErrorCode::LoopNotSolved,
          {FactCode::LoopSingular, std::move(names)},
          {.subsystem = {},
           .variable = {},
           .time = {},
           .remedy = "Cut the loop by a state, or change a gain in it: no coupling method can solve it"}};
}

}  // namespace

}  // namespace entrain::analysis

namespace entrain {

std::size_t LinearNetwork::state_count() const {
  std::size_t count = 0;
  for (const auto& subsystem : subsystems) count += subsystem.matrices.A.rows;
  return count;
}

std::size_t LinearNetwork::input_count() const {
  std::size_t count = 0;
  for (const auto& subsystem : subsystems) count += subsystem.inputs.size();
  return count;
}

}  // namespace entrain

namespace entrain::analysis {

ExactCoupling exact_coupling(const LinearNetwork& network) {
  const Index states = numerics::index(network.state_count());
  const Index outputs = numerics::index(network.outputs.size());
  MatrixXd loop = MatrixXd::Identity(outputs, outputs);  // I - D L
  MatrixXd c = MatrixXd::Zero(outputs, states);
  Index x = 0;
  Index y = 0;
  for (const auto& subsystem : network.subsystems) {
    const auto& m = subsystem.matrices;
    c.block(y, x, numerics::index(m.C.rows), numerics::index(m.C.cols)) = numerics::view(m.C);
    for (std::size_t i = 0; i < subsystem.inputs.size(); ++i) {
      const auto& input = subsystem.inputs[i];
      loop.block(y, numerics::index(input.source), numerics::index(m.D.rows), 1) -=
          input.factor * numerics::view(m.D).col(numerics::index(i));
    }
    x += numerics::index(m.A.rows);
    y += numerics::index(m.C.rows);
  }
  const BalancedLu lu(loop);
  if (!lu.invertible()) throw singular_loop(network, lu);
  const MatrixXd all_outputs = outputs > 0 ? lu.solve(c) : c;
  MatrixXd dynamics = MatrixXd::Zero(states, states);
  x = 0;
  for (const auto& subsystem : network.subsystems) {
    const auto& m = subsystem.matrices;
    dynamics.block(x, x, numerics::index(m.A.rows), numerics::index(m.A.rows)) += numerics::view(m.A);
    for (std::size_t i = 0; i < subsystem.inputs.size(); ++i) {
      const auto& input = subsystem.inputs[i];
      dynamics.middleRows(x, numerics::index(m.A.rows)) +=
          input.factor * numerics::view(m.B).col(numerics::index(i)) * all_outputs.row(numerics::index(input.source));
    }
    x += numerics::index(m.A.rows);
  }
  return {numerics::to_matrix(all_outputs), numerics::to_matrix(dynamics)};
}

}  // namespace entrain::analysis
