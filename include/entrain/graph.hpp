#pragma once

#include <optional>
#include <string>
#include <vector>

#include "entrain/capabilities.hpp"
#include "entrain/export.hpp"
#include "entrain/ids.hpp"

namespace entrain {

/// What happens on a connection, in one place: input = factor * output + offset (+ a correction, see TransferPlan).
struct Connection {
  OutputId output;
  InputId input;
  double factor = 1.0;
  double offset = 0.0;
};

/// Signals that must be found together: inputs and outputs that depend on each other without any state between.
struct AlgebraicLoop {
  std::vector<InputId> inputs;
  std::vector<OutputId> outputs;
  std::vector<SubsystemId> subsystems;
};

/// Which subsystems are connected, and what follows from it. Immutable.
class ENTRAIN_API Graph {
 public:
  struct Node {
    std::string name;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    Feedthrough feedthrough;
  };

  Graph(std::vector<Node> nodes, std::vector<Connection> connections);

  std::size_t subsystems() const { return nodes_.size(); }
  std::size_t inputs() const { return first_input_.back(); }
  std::size_t outputs() const { return first_output_.back(); }
  IdRange<InputId> inputs_of(SubsystemId s) const { return {first_input_[s], first_input_[s + 1] - first_input_[s]}; }
  IdRange<OutputId> outputs_of(SubsystemId s) const {
    return {first_output_[s], first_output_[s + 1] - first_output_[s]};
  }
  SubsystemId owner(InputId input) const { return input_owner_[input]; }
  SubsystemId owner(OutputId output) const { return output_owner_[output]; }
  const std::string& name(SubsystemId s) const { return nodes_[s].name; }
  std::string name(InputId input) const;                   ///< "subsystem.variable"
  std::string name(OutputId output) const;                 ///< "subsystem.variable"
  bool feedthrough(OutputId output, InputId input) const;  ///< both of one subsystem

  const std::vector<Connection>& connections() const { return connections_; }
  /// The connection that feeds this input; nullptr when it keeps its start value.
  const Connection* source(InputId input) const;

  /// One stage of evaluating all signals at a time: a signal by itself, or a loop.
  struct Block {
    std::optional<InputId> input;
    std::optional<OutputId> output;
    std::optional<std::size_t> loop;  ///< index into loops()
  };
  /// In an order in which everything needed comes first.
  const std::vector<Block>& evaluation_order() const { return evaluation_order_; }
  const std::vector<AlgebraicLoop>& loops() const { return loops_; }
  /// Groups of two or more subsystems that influence each other.
  std::vector<std::vector<SubsystemId>> components() const;
  /// A calling sequence for sequential methods: sources before consumers; inside a cycle, next is the subsystem that
  /// waits for the fewest inputs (ties: the order of the system file).
  std::vector<SubsystemId> calling_sequence() const;

 private:
  void find_evaluation_order();
  std::vector<std::vector<std::size_t>> subsystem_successors() const;

  std::vector<Node> nodes_;
  std::vector<Connection> connections_;
  std::vector<std::size_t> first_input_, first_output_;
  std::vector<SubsystemId> input_owner_, output_owner_;
  std::vector<std::optional<std::size_t>> source_;  // connection by input
  std::vector<Block> evaluation_order_;
  std::vector<AlgebraicLoop> loops_;
};

}  // namespace entrain
