#pragma once

#include <span>
#include <vector>

#include "entrain/coupled_system.hpp"
#include "learn/learned_connections.hpp"
#include "numerics/learning_gain.hpp"

namespace entrain::learning {

/// Repeated runs of linear subsystems with steps of one size, whose inputs are corrected by polynomials, as one linear
/// system from macro step to macro step (docs/theory/learning.md, "Waveforms"). `degrees`: of each wire; errors and
/// corrections of wire w are measured in scales[w].
numerics::LearningLoop waveform_loop(const Graph& graph, std::span<const Linearization> subsystems, Duration step,
                                     std::span<const LearnedWire> wires, std::span<const int> degrees,
                                     std::span<const double> scales);

}  // namespace entrain::learning
