#include "run/coupling_residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace entrain {

CouplingResidual::CouplingResidual(const CoupledSystem& system)
    : system_(&system),
      difference_(system.graph().inputs(), 0.0),
      low_(system.graph().outputs(), std::numeric_limits<double>::infinity()),
      high_(system.graph().outputs(), -std::numeric_limits<double>::infinity()) {}

void CouplingResidual::update(Time now) {
  const auto outputs = system_->outputs();
  for (std::size_t y = 0; y < outputs.size(); ++y) {
    low_[y] = std::min(low_[y], outputs[y]);
    high_[y] = std::max(high_[y], outputs[y]);
  }
  const auto inputs = system_->inputs();
  const auto& graph = system_->graph();
  for (std::size_t s = 0; s < system_->size(); ++s) {
    if (system_->time_of(SubsystemId{s}) != now) continue;
    for (const InputId input : graph.inputs_of(SubsystemId{s})) {
      // A source that communicates less often is compared where it does.
      const std::size_t source = system_->transfer().source(input);
      if (source >= outputs.size() || system_->time_of(graph.owner(OutputId{source})) != now) continue;
      difference_[input] = std::max(difference_[input], std::abs(inputs[input] - system_->incoming(input)));
    }
  }
}

CouplingResidual::Worst CouplingResidual::worst() const {
  Worst worst;
  const auto& graph = system_->graph();
  for (const auto& connection : graph.connections()) {
    // The range in the input's unit; a constant output has none, its magnitude stands in.
    double range = std::abs(connection.factor) * (high_[connection.output] - low_[connection.output]);
    if (range == 0.0) range = std::abs(connection.factor * high_[connection.output]);
    const double difference = difference_[connection.input];
    const double value = difference == 0.0 ? 0.0 : difference / range;
    if (value > worst.value) {
      worst.value = value;
      worst.connection = graph.name(connection.output) + " -> " + graph.name(connection.input);
    }
  }
  return worst;
}

}  // namespace entrain
