#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/linear_network.hpp"
#include "entrain/coupled_system.hpp"

namespace entrain::analysis {

/// A coupled system as a linear network, at the point it has reached; or why there is none.
struct LinearizedSystem {
  std::optional<LinearNetwork> network;
  std::vector<Fact> obstacles;  ///< one for each subsystem without a linearization, naming it
};
LinearizedSystem linearized(CoupledSystem& system);

}  // namespace entrain::analysis
