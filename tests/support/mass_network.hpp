#pragma once

#include <cmath>
#include <string>

#include "analysis/linear_network.hpp"

namespace entrain::test {

/// Masses in a row between springs: eigenvalues by the hundred next to the unit circle.
inline LinearNetwork masses(std::size_t count, double spread) {
  LinearNetwork network;
  for (std::size_t s = 0; s < count; ++s) {
    const double c = 10.0 * (1.0 + spread * std::sin(7.0 * static_cast<double>(s * s)));
    const bool left = s > 0;
    const bool right = s + 1 < count;
    const std::size_t inputs = (left ? 2 : 0) + (right ? 1 : 0);
    auto& mass = network.subsystems.emplace_back();
    mass.name = "m" + std::to_string(s);
    mass.capabilities.input_degree = kMaxInputDegree;
    mass.matrices = {Matrix(2, 2), Matrix(2, inputs), Matrix(3, 2), Matrix(3, inputs)};
    mass.matrices.A.values = {0.0, 1.0, -(c + 0.1), -0.11};
    mass.matrices.C.values = {1.0, 0.0, 0.0, 1.0, c, 0.1};
    if (left) {
      mass.inputs = {{mass.name + ".left_x", 3 * s - 3, 1.0}, {mass.name + ".left_v", 3 * s - 2, 1.0}};
      mass.matrices.B(1, 0) = c;
      mass.matrices.B(1, 1) = 0.1;
      mass.matrices.D(2, 0) = -c;
      mass.matrices.D(2, 1) = -0.1;
    }
    if (right) {
      mass.inputs.push_back({mass.name + ".right_F", 3 * s + 5, 1.0});
      mass.matrices.B(1, inputs - 1) = 1.0;
    }
    for (const auto* output : {".x", ".v", ".F_left"}) network.outputs.push_back(mass.name + output);
  }
  return network;
}

}  // namespace entrain::test
