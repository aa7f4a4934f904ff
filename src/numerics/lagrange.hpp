#pragma once

#include <cstddef>
#include <span>

namespace entrain::numerics {

/// What each value at `nodes` adds to the value at `t` of the polynomial through them.
inline void lagrange_weights(std::span<const double> nodes, double t, std::span<double> weights) {
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    weights[k] = 1.0;
    for (std::size_t other = 0; other < nodes.size(); ++other) {
      if (other != k) weights[k] *= (t - nodes[other]) / (nodes[k] - nodes[other]);
    }
  }
}

}  // namespace entrain::numerics
