#include "run/coupling_residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace entrain {
namespace {

// Of the signals around a subsystem: what its outputs may move by without meaning anything.
constexpr double kNoise = 64 * std::numeric_limits<double>::epsilon();

}  // namespace

CouplingResidual::CouplingResidual(const CoupledSystem& system)
    : system_(&system),
      arrived_(system.graph().inputs(), 0.0),
      difference_(system.graph().inputs(), 0.0),
      low_(system.graph().outputs(), std::numeric_limits<double>::infinity()),
      high_(system.graph().outputs(), -std::numeric_limits<double>::infinity()),
      around_(system.size(), 0.0),
      met_(system.graph().inputs(), 0) {}

void CouplingResidual::begin(Time start) {
  update(start);
  all_met_ = false;
}

void CouplingResidual::update(Time now) {
  const auto outputs = system_->outputs();
  double* low = low_.data();
  double* high = high_.data();
  for (std::size_t y = 0; y < outputs.size(); ++y) {
    low[y] = std::min(low[y], outputs[y]);
    high[y] = std::max(high[y], outputs[y]);
  }
  std::size_t elsewhere = 0;
  for (const Time t : system_->times()) elsewhere += t == now ? 0U : 1U;
  all_met_ = all_met_ || elsewhere == 0;
  system_->transfer().deliver_uncorrected(system_->signals(), arrived_);
  const double* inputs = system_->inputs().data();
  const double* arrived = arrived_.data();
  double* difference = difference_.data();
  if (elsewhere == 0) {
    for (std::size_t i = 0; i < difference_.size(); ++i) {
      difference[i] = std::max(difference[i], std::abs(inputs[i] - arrived[i]));
    }
    return;
  }
  for (std::size_t i = 0; i < difference_.size(); ++i) {
    if (!both_ends_communicated(InputId{i}, now)) continue;
    met_[i] = 1;
    difference[i] = std::max(difference[i], std::abs(inputs[i] - arrived[i]));
  }
}

/// A source or consumer that communicates less often is compared where it does.
bool CouplingResidual::both_ends_communicated(InputId input, Time now) const {
  const auto& graph = system_->graph();
  const Connection* connection = graph.source(input);
  return connection != nullptr && system_->time_of(graph.owner(input)) == now &&
         system_->time_of(graph.owner(connection->output)) == now;
}

double CouplingResidual::of(const Connection& connection) const {
  if (!all_met_ && met_[connection.input] == 0) return std::numeric_limits<double>::quiet_NaN();
  const double difference = difference_[connection.input];
  return difference == 0.0 ? 0.0 : difference / range(connection);
}

double CouplingResidual::range(const Connection& connection) const {
  const OutputId output = connection.output;
  const double around = around_[system_->graph().owner(output)];
  const double noise = kNoise * around;
  double range = high_[output] - low_[output];
  if (range <= noise) range = magnitude(output) > noise ? magnitude(output) : around;
  return std::abs(connection.factor) * range;
}

double CouplingResidual::magnitude(OutputId output) const {
  return std::max(std::abs(low_[output]), std::abs(high_[output]));
}

void CouplingResidual::look_back() {
  const auto& graph = system_->graph();
  std::fill(around_.begin(), around_.end(), 0.0);
  const auto take = [&](SubsystemId s, double size) { around_[s] = std::max(around_[s], size); };
  for (std::size_t y = 0; y < low_.size(); ++y) take(graph.owner(OutputId{y}), magnitude(OutputId{y}));
  for (const auto& connection : graph.connections()) {
    take(graph.owner(connection.input), std::abs(connection.factor) * magnitude(connection.output));
  }
}

void CouplingResidual::read_differences(Time now, std::span<double> all) const {
  const auto& connections = system_->graph().connections();
  for (std::size_t c = 0; c < connections.size(); ++c) {
    const InputId input = connections[c].input;
    all[c] = both_ends_communicated(input, now) ? std::abs(system_->inputs()[input] - arrived_[input])
                                                : std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace entrain
