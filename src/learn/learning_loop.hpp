#pragma once

#include <span>
#include <vector>

#include "learn/learned_connections.hpp"
#include "numerics/learning_gain.hpp"

namespace entrain::learning {

/// One step of a subsystem, linear: x <- A x + B u; its outputs are C x + D u.
struct StepMatrices {
  Matrix A, B, C, D;
  std::size_t span = 1;    ///< macro steps that it takes
  std::vector<bool> late;  ///< by output: sent one step late, with the states and inputs that the step began with
};

/// Macro steps after which all have communicated: the least common multiple of their spans.
std::size_t cycle_of(std::span<const StepMatrices> steps);
/// Corrections in a cycle: a wire is corrected where its consumer begins a step.
std::size_t corrections_in_cycle(std::span<const LearnedWire> wires, std::size_t cycle);

/// Repeated runs of subsystems that make such steps in parallel, as one linear system from cycle to cycle. Errors and
/// corrections of wire w are measured in scales[w].
numerics::LearningLoop learning_loop(const Graph& graph, std::span<const StepMatrices> steps,
                                     std::span<const LearnedWire> wires, std::span<const double> scales);

}  // namespace entrain::learning
