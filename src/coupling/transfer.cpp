#include "coupling/transfer.hpp"

namespace entrain {

TransferPlan::TransferPlan(const Graph& graph, std::span<const double> constants)
    : outputs_(graph.outputs()),
      source_(graph.inputs()),
      factor_(graph.inputs(), 1.0),
      offset_(graph.inputs(), 0.0),
      correction_(graph.inputs(), 0.0) {
  for (std::size_t i = 0; i < graph.inputs(); ++i) {
    if (const Connection* connection = graph.source(InputId{i})) {
      source_[i] = static_cast<std::uint32_t>(connection->output);
      factor_[i] = connection->factor;
      offset_[i] = connection->offset;
    } else {
      source_[i] = static_cast<std::uint32_t>(outputs_ + constants_.size());
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
