#pragma once

#include <optional>
#include <span>
#include <vector>

#include "entrain/subsystem.hpp"

namespace entrain::numerics {

/// Weights w of the states with d(w x)/dt = y_output, whatever the states and the inputs are: the subsystem contains
/// the integral of its own output. nullopt when there are none.
std::optional<std::vector<double>> integral_of_output(const Linearization& of, std::size_t output);

/// Weights w of the states with d(w x)/dt = gains u: the subsystem contains an integral of its inputs and nothing else.
struct InputIntegral {
  std::vector<double> weights;  ///< by state
  std::vector<double> gains;    ///< by input; the largest is 1 or -1
};
/// All of them that are made of these inputs (one flag per input) and independent of each other.
std::vector<InputIntegral> integrals_of_inputs(const Linearization& of, std::span<const unsigned char> inputs);

}  // namespace entrain::numerics
