#pragma once

// For the .cpp files of analysis/ only: Eigen stays inside.
#include "analysis/linear_network.hpp"
#include "numerics/dense.hpp"

namespace entrain::analysis {

/// L y: outputs, a row for each, as the connections pass them on, a row for each input.
inline Eigen::MatrixXd passed_on(const LinearNetwork& network, const Eigen::Ref<const Eigen::MatrixXd>& outputs) {
  Eigen::MatrixXd inputs(numerics::index(network.input_count()), outputs.cols());
  Eigen::Index row = 0;
  for (const auto& subsystem : network.subsystems) {
    for (const auto& input : subsystem.inputs)
      inputs.row(row++) = input.factor * outputs.row(numerics::index(input.source));
  }
  return inputs;
}

}  // namespace entrain::analysis
