#pragma once

#include <string>

#include "analysis/linear_network.hpp"

namespace entrain::test {

/// Lightly damped oscillators, each pulled by the next: x'' = -x - 0.4 x' + 0.3 x_next; the last is pulled by the
/// first, or in an open chain by none.
inline LinearNetwork oscillators_in_a_row(std::size_t size, bool closed) {
  LinearNetwork network;
  for (std::size_t s = 0; s < size; ++s) {
    auto& subsystem = network.subsystems.emplace_back();
    const bool pulled = closed || s + 1 < size;
    subsystem.name = "o" + std::to_string(s);
    subsystem.matrices = {Matrix(2, 2), Matrix(2, pulled ? 1 : 0), Matrix(1, 2), Matrix(1, pulled ? 1 : 0)};
    subsystem.matrices.A.values = {0.0, 1.0, -1.0, -0.4};
    if (pulled) subsystem.matrices.B.values = {0.0, 0.3};
    subsystem.matrices.C.values = {1.0, 0.0};
    if (pulled) subsystem.inputs = {{subsystem.name + ".u", (s + 1) % size, 1.0}};
    subsystem.capabilities.input_degree = kMaxInputDegree;
    network.outputs.push_back(subsystem.name + ".x");
  }
  return network;
}

inline LinearNetwork ring(std::size_t size) {
  return oscillators_in_a_row(size, true);
}

}  // namespace entrain::test
