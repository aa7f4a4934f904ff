#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "entrain/graph.hpp"
#include "entrain/subsystem.hpp"
#include "entrain/system_description.hpp"

namespace entrain::coupling {

/// Two connections between the same two subsystems, one in each direction, whose values multiply to a power: a force
/// and a velocity, a torque and an angular velocity, a voltage and a current, a pressure and a volume flow.
///
/// Powers refer to the port of the subsystem that receives the effort and sends the flow: the effort in the unit of its
/// input, the flow in the unit of its output.
struct PowerBond {
  std::string name;
  Connection effort;
  Connection flow;
  double effort_to_si = 1.0;  ///< N, N.m, V or Pa per unit of the input; 1 where the unit is not known
  double flow_to_si = 1.0;    ///< m/s, rad/s, A or m3/s per unit of the output

  /// In W.
  double power(double effort_value, double flow_value) const {
    return effort_to_si * flow_to_si * effort_value * flow_value;
  }
  /// The present output of the effort's sender, as the receiver takes it.
  double sent_effort(std::span<const double> outputs) const {
    return effort.factor * outputs[effort.output] + effort.offset;
  }
  /// The flow that its receiver has worked with, as its sender returns it.
  double used_flow(std::span<const double> inputs) const { return (inputs[flow.input] - flow.offset) / flow.factor; }
};

/// What one side of a bond received in a step and what the other side gave for it, at the end of the step, in W.
struct BondPowers {
  double received = 0.0;
  double given = 0.0;
  double residual() const { return received - given; }
};

/// `inputs`: as they ended the step; `outputs`: as they are now.
inline BondPowers powers_of(const PowerBond& bond, std::span<const double> inputs, std::span<const double> outputs) {
  return {bond.power(inputs[bond.effort.input], outputs[bond.flow.output]),
          bond.power(bond.sent_effort(outputs), bond.used_flow(inputs))};
}

/// Whether the units of these two are those of an effort and a flow.
bool units_make_power(const Variable& effort, const Variable& flow);

struct FoundBonds {
  std::vector<PowerBond> bonds;
  std::vector<Fact> notes;  ///< where units alone do not determine what belongs together
};

/// The bonds that the user wrote, or if none were asked for, those that the units of the connected variables determine.
/// What is wrong goes to `problems`.
FoundBonds power_bonds(const std::optional<std::vector<BondDescription>>& written, const Graph& graph,
                       std::span<const VariableTable* const> variables, std::vector<Problem>& problems);

}  // namespace entrain::coupling
