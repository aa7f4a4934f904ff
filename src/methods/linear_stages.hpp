#pragma once

#include <span>
#include <vector>

#include "entrain/method_traits.hpp"

namespace entrain::method {

// Explicit methods on linear networks (LinearMacroStep::stages).

/// All subsystems at once.
CouplingChoice parallel_choice(std::size_t subsystems, int degree, Duration step);
/// One subsystem after the other.
CouplingChoice sequential_choice(std::span<const std::size_t> sequence, int degree, Duration step);

/// The step of gauss-seidel and nepce: in the sequence of the configuration, or else in the one found, with its gains.
CouplingChoice sequential_stages(const MethodConfig& config, const LinearNetwork& network,
                                 std::span<const std::size_t> found, Duration step);

/// The options that gauss-seidel and nepce have in common.
MethodKnobs sequential_knobs();

}  // namespace entrain::method
