#pragma once

#include <string>
#include <utility>
#include <vector>

#include "entrain/coupled_system.hpp"
#include "entrain/fact.hpp"

namespace entrain::running {

/// An integral that several subsystems keep: the weighted sum of their states changes by `slope` alone in the coupled
/// equations, and by the error of the coupling in a run (docs/theory/drift.md).
struct RedundantIntegral {
  struct Share {
    SubsystemId subsystem;
    std::vector<double> weights;  ///< by state
    /// The weighted sum changes by these times these of its own outputs, or else by these times its inputs.
    std::vector<std::pair<std::size_t, double>> outputs;
    std::vector<double> inputs;
  };
  std::vector<Share> shares;  ///< the subsystem that integrates its inputs is the first
  double slope = 0.0;         ///< by offsets of the connections
  std::vector<Connection> connections;
  std::vector<double> gains;  ///< of the inputs of the connections in the rate of the first share
};

/// Whether one of the connections has linearizations on both sides: nothing is found without.
bool can_have_redundant_integrals(CoupledSystem& system);
/// From the graph and the linearizations at the point reached, after the initialization.
std::vector<RedundantIntegral> redundant_integrals(CoupledSystem& system);
/// The same linearizations at another point: whether they still give this one. `scratch` is a place for them: it is
/// asked for in the run.
bool still_holds(const RedundantIntegral& integral, CoupledSystem& system, Linearization& scratch);
/// The names of its connections.
std::vector<std::string> subjects_of(const RedundantIntegral& integral, const Graph& graph);

}  // namespace entrain::running
