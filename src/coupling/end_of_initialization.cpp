#include "coupling/end_of_initialization.hpp"

#include <algorithm>
#include <cmath>

#include "subsystem/ends_initialization.hpp"

namespace entrain::coupling {
namespace {

constexpr int kMostBeginnings = 5;  // late outputs that depend on late outputs: a chain of so many

/// Rounding of a value that is computed again is no change.
bool differs(double now, double before) {
  return !(std::abs(now - before) <= 1e-12 * (1.0 + std::abs(before)));
}

}  // namespace

EndOfInitialization::EndOfInitialization(const Graph& graph, std::vector<Subsystem*> subsystems)
    : graph_(graph), subsystems_(std::move(subsystems)), late_(graph.outputs()) {}

void EndOfInitialization::evaluate(SubsystemId s, std::span<const double> inputs, std::span<double> outputs) {
  subsystems_[s]->evaluate(inputs, outputs);
  const auto first = graph_.outputs_of(s).first;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (const auto& late = late_[first + i]) outputs[i] = *late;
  }
}

bool EndOfInitialization::finish(std::span<double> signals) {
  std::vector<SubsystemId> late;  // used by others
  for (std::size_t s = 0; s < subsystems_.size(); ++s) {
    const auto range = graph_.outputs_of(SubsystemId{s});
    if (finish(SubsystemId{s}, signals.subspan(range.first, range.count))) late.emplace_back(s);
  }
  if (late.empty()) return false;
  const bool can_begin_again = std::all_of(subsystems_.begin(), subsystems_.end(),
                                           [](Subsystem* each) { return each->facets().reset != nullptr; });
  if (can_begin_again && ++rounds_ < kMostBeginnings) {
    for (auto* subsystem : subsystems_) subsystem->facets().reset->reset();
    return true;
  }
  for (const SubsystemId s : late) dynamic_cast<subsystem::EndsInitialization*>(subsystems_[s])->note_used_before();
  return false;
}

/// True when an output that another subsystem uses has changed.
bool EndOfInitialization::finish(SubsystemId s, std::span<double> outputs) {
  auto* subsystem = dynamic_cast<subsystem::EndsInitialization*>(subsystems_[s]);
  if (subsystem == nullptr) return false;
  const std::vector<double> before(outputs.begin(), outputs.end());
  subsystem->finish_initialization(outputs);
  bool used = false;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] != before[i]) changed_ = true;
    if (!differs(outputs[i], before[i])) continue;
    const OutputId output{graph_.outputs_of(s).first + i};
    late_[output] = outputs[i];
    used = used || is_used(output);
  }
  return used;
}

bool EndOfInitialization::is_used(OutputId output) const {
  const auto& all = graph_.connections();
  return std::any_of(all.begin(), all.end(), [&](const Connection& each) { return each.output == output; });
}

}  // namespace entrain::coupling
