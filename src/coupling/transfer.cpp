#include "coupling/transfer.hpp"

namespace entrain {

TransferPlan::TransferPlan(const Graph& graph, std::span<const double> constants)
    : outputs_(graph.outputs()), wires_(graph.inputs()) {
  for (std::size_t i = 0; i < graph.inputs(); ++i) {
    if (const Connection* connection = graph.source(InputId{i})) {
      wires_[i] = {connection->factor, connection->offset, 0.0, connection->output};
    } else {
      wires_[i].source = outputs_ + constants_.size();
      constants_.push_back(constants[i]);
    }
  }
}

std::vector<double> TransferPlan::make_signals() const {
  std::vector<double> signals(outputs_, 0.0);
  signals.insert(signals.end(), constants_.begin(), constants_.end());
  return signals;
}

}  // namespace entrain
