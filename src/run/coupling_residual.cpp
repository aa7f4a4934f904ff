#include "run/coupling_residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coupling/engine.hpp"
#include "coupling/transfer.hpp"

namespace entrain::running {

CouplingResidual::CouplingResidual(const CoupledSystem& system)
    : system_(&system),
      difference_(system.graph().inputs(), 0.0),
      ranges_(system.graph().outputs(), base::SignalRange::nothing()),
      around_(system.size(), 0.0),
      met_(system.graph().inputs(), 0) {
  for (const auto& connection : system.graph().connections()) connected_.push_back(connection.input);
}

void CouplingResidual::begin(Time start) {
  update(start);
  all_met_ = false;
}

void CouplingResidual::update(Time now, std::span<const SubsystemId> communicated) {
  if (!communicated.empty()) return update_of(communicated, now);
  const double* output = system_->outputs().data();
  for (base::SignalRange& range : ranges_) range.take(*output++);
  is_latest_ = false;
  if (!system_->all_at(now)) return compare_synchronized(now);
  all_met_ = true;
  if (!latest_.empty()) return compare_and_keep();
  const double* inputs = system_->inputs().data();
  double* difference = difference_.data();
  system_->engine().transfer().each_uncorrected(system_->signals(),
                                                [inputs, difference](std::size_t i, double arrived) {
                                                  const double here = std::abs(inputs[i] - arrived);
                                                  if (here > difference[i]) difference[i] = here;
                                                });
}

/// For observers that ask for the differences themselves.
void CouplingResidual::compare_and_keep() {
  const double* inputs = system_->inputs().data();
  double* difference = difference_.data();
  double* latest = latest_.data();
  system_->engine().transfer().each_uncorrected(system_->signals(),
                                                [inputs, difference, latest](std::size_t i, double arrived) {
                                                  const double here = std::abs(inputs[i] - arrived);
                                                  latest[i] = here;
                                                  if (here > difference[i]) difference[i] = here;
                                                });
  is_latest_ = true;
}

/// One of many communicates: the work is that of its connections.
void CouplingResidual::update_of(std::span<const SubsystemId> communicated, Time now) {
  const auto& graph = system_->graph();
  is_latest_ = false;
  for (const SubsystemId s : communicated) {
    for (const OutputId y : graph.outputs_of(s)) ranges_[y].take(system_->outputs()[y]);
  }
  for (const SubsystemId s : communicated) {
    for (const InputId u : graph.inputs_of(s)) compare_if_synchronized(u, now);
  }
}

void CouplingResidual::compare_synchronized(Time now) {
  for (std::size_t i = 0; i < difference_.size(); ++i) compare_if_synchronized(InputId{i}, now);
}

void CouplingResidual::compare_if_synchronized(InputId input, Time now) {
  if (!both_ends_communicated(input, now)) return;
  met_[input] = 1;
  const double arrived = system_->engine().transfer().uncorrected(input, system_->signals());
  difference_[input] = std::max(difference_[input], std::abs(system_->inputs()[input] - arrived));
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
  const double noise = base::size_floor::kRounding * around;
  double range = ranges_[output].span();
  if (range <= noise) range = ranges_[output].magnitude() > noise ? ranges_[output].magnitude() : around;
  return std::abs(connection.factor) * std::max(range, sizes_.least(unit_of(output)));
}

const std::string& CouplingResidual::unit_of(OutputId output) const {
  const auto& graph = system_->graph();
  const SubsystemId owner = graph.owner(output);
  return system_->variables(owner).outputs[output - graph.outputs_of(owner).first].unit;
}

void CouplingResidual::look_back() {
  const auto& graph = system_->graph();
  sizes_ = {};
  for (std::size_t y = 0; y < ranges_.size(); ++y) {
    sizes_.take(unit_of(OutputId{y}), ranges_[y].span());
  }
  std::fill(around_.begin(), around_.end(), 0.0);
  const auto take = [&](SubsystemId s, double size) { around_[s] = std::max(around_[s], size); };
  for (std::size_t y = 0; y < ranges_.size(); ++y) take(graph.owner(OutputId{y}), ranges_[y].magnitude());
  for (const auto& connection : graph.connections()) {
    take(graph.owner(connection.input), std::abs(connection.factor) * ranges_[connection.output].magnitude());
  }
}

void CouplingResidual::read_differences(Time now, std::span<double> all) const {
  if (is_latest_) {
    double* to = all.data();
    for (const InputId input : connected_) *to++ = latest_[input];
    return;
  }
  const double* inputs = system_->inputs().data();
  const auto signals = system_->signals();
  const auto& transfer = system_->engine().transfer();
  double* difference = all.data();
  for (const InputId input : connected_) {
    *difference++ = std::abs(inputs[input] - transfer.uncorrected(input, signals));
  }
  if (system_->all_at(now)) return;
  for (std::size_t c = 0; c < connected_.size(); ++c) {
    if (!both_ends_communicated(connected_[c], now)) all[c] = std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace entrain::running
