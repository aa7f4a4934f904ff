#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coupling/discrete_signals.hpp"
#include "coupling/event_phase.hpp"
#include "coupling/scheduled_input.hpp"
#include "entrain/graph.hpp"
#include "entrain/subsystem.hpp"
#include "entrain/system_description.hpp"

namespace entrain::assembly {

/// Makes the subsystem a description asks for; nullptr after adding to `problems` why it cannot. `fed`: of a table,
/// what its columns feed that takes no real numbers.
using SubsystemMaker = std::function<std::unique_ptr<Subsystem>(
    const SubsystemDescription&, const std::map<std::string, Variable>& fed, std::vector<Problem>& problems)>;

/// What a description becomes: subsystems with their start values, and the graph between them.
struct Assembly {
  std::vector<std::unique_ptr<Subsystem>> subsystems;
  std::vector<Graph::Node> nodes;
  std::vector<Connection> connections;
  std::vector<double> start_inputs;  ///< one per input, in the order of the graph
  std::vector<coupling::DiscreteConnection> discrete_connections;
  std::vector<coupling::DiscreteStart> discrete_starts;
  std::vector<coupling::ClockConnection> clock_connections;
  /// Inputs of FMUs: connected ones, and those with the start value of the FMU and nothing else, "subsystem.variable".
  std::size_t connected_inputs = 0;
  std::vector<std::string> open_inputs;
  std::vector<coupling::ScheduledInput> scheduled_inputs;  ///< after the start, in the order of time

  bool has_discrete() const;  ///< inputs or outputs that are no real numbers
  /// The first subsystem whose events others can see, or that sees those of others: by clocks, or by values that are no
  /// real numbers. nullptr: each handles its own.
  const Subsystem* shares_events() const;
};

/// Everything that is wrong goes to `problems`, all at once; the result is usable when none is an error.
Assembly assemble(const SystemDescription& description, const SubsystemMaker& factory, std::vector<Problem>& problems);

}  // namespace entrain::assembly
