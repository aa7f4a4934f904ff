#include "coupling/end_of_initialization.hpp"

#include <algorithm>
#include <cmath>

#include "coupling/event_phase.hpp"
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
    : graph_(graph), subsystems_(std::move(subsystems)), late_(graph.outputs()), by_events_(graph.outputs()) {}

void EndOfInitialization::evaluate(SubsystemId s, std::span<const double> inputs, std::span<double> outputs) {
  subsystems_[s]->evaluate(inputs, outputs);
  const auto first = graph_.outputs_of(s).first;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (const auto& late = late_[first + i]) outputs[i] = *late;
  }
}

bool EndOfInitialization::finish(std::span<double> signals) {
  used_.assign(signals.begin(), signals.begin() + static_cast<std::ptrdiff_t>(graph_.outputs()));
  std::vector<SubsystemId> late;  // used by others
  for (std::size_t s = 0; s < subsystems_.size(); ++s) {
    const auto range = graph_.outputs_of(SubsystemId{s});
    if (finish(SubsystemId{s}, signals.subspan(range.first, range.count))) late.emplace_back(s);
  }
  return begin_again(late);
}

bool EndOfInitialization::begin_again(const std::vector<SubsystemId>& late) {
  if (late.empty()) return false;
  const bool can_begin_again = std::all_of(subsystems_.begin(), subsystems_.end(),
                                           [](Subsystem* each) { return each->facets().reset != nullptr; });
  if (can_begin_again && ++rounds_ < kMostBeginnings) {
    for (auto* subsystem : subsystems_) subsystem->facets().reset->reset();
    return true;
  }
  for (const SubsystemId s : late) subsystem::note_used_before_of(*subsystems_[s]);
  return false;
}

bool EndOfInitialization::follow(std::span<const double> signals, const EventPhase& events) {
  std::vector<OutputId> moved;
  bool passed_on = false;
  for (std::size_t o = 0; o < used_.size(); ++o) {
    if (signals[o] != used_[o]) changed_ = true;
    if (!differs(signals[o], used_[o])) continue;
    moved.emplace_back(o);
    passed_on = passed_on || passes_through(OutputId{o}, events);
  }
  if (!passed_on) return false;
  std::vector<SubsystemId> late;
  for (const OutputId output : moved) {  // those of functions follow
    const SubsystemId owner = graph_.owner(output);
    if (!events.takes_part(owner)) continue;
    late_[output] = signals[output];
    by_events_[output] = true;
    if (late.empty() || late.back() != owner) late.push_back(owner);
  }
  return begin_again(late);
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
    const OutputId output{graph_.outputs_of(s).first + i};
    if (by_events_[output] || !differs(outputs[i], before[i])) continue;
    late_[output] = outputs[i];
    used = used || is_used(output);
  }
  return used;
}

bool EndOfInitialization::is_used(OutputId output) const {
  const auto& all = graph_.connections();
  return std::any_of(all.begin(), all.end(), [&](const Connection& each) { return each.output == output; });
}

/// A subsystem in event mode has received it, and one whose outputs can be refreshed will be.
bool EndOfInitialization::passes_through(OutputId output, const EventPhase& events) const {
  const auto& all = graph_.connections();
  return std::any_of(all.begin(), all.end(), [&](const Connection& each) {
    const SubsystemId user = graph_.owner(each.input);
    if (each.output != output || events.takes_part(user)) return false;
    const Capabilities& can = subsystems_[user]->capabilities();
    if (can.output_refresh) return false;
    const std::size_t input = each.input - graph_.inputs_of(user).first;
    for (std::size_t o = 0; o < graph_.outputs_of(user).count; ++o) {
      if (can.feedthrough(o, input)) return true;
    }
    return false;
  });
}

}  // namespace entrain::coupling
