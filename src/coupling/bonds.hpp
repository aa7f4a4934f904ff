#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coupling/graph.hpp"
#include "entrain/subsystem.hpp"
#include "entrain/system_description.hpp"

namespace entrain {

/// Two connections between the same two subsystems, one each way, whose values multiply to a power: a force and a
/// velocity, a torque and an angular velocity, a voltage and a current, a pressure and a volume flow.
struct PowerBond {
  std::string name;
  Connection effort;
  Connection flow;
};

/// The bonds that the user wrote, or if none were asked for, those that the units of the connected variables tell.
/// What is wrong goes to `problems`.
std::vector<PowerBond> power_bonds(const std::optional<std::vector<BondDescription>>& written, const Graph& graph,
                                   std::span<const VariableTable* const> variables, std::vector<Problem>& problems);

}  // namespace entrain
