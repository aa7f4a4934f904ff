// What trials tell about themselves, and their memory.
#include <fmt/format.h>

#include <algorithm>

#include "trials/trials.hpp"
#include "trials/trials_own.hpp"

namespace entrain {

std::string Trials::loss(const Own& own) const {
  if (own.estimator && own.estimator->degraded()) {
    return "tells no state derivatives: its trials are estimated without them, which may cost two orders";
  }
  if (kinds_[own.id] == TrialKind::Costarica && depends_on_time_alone(own.id)) {
    return "depends on time alone: its outputs are continued from their past";
  }
  if (kinds_[own.id] == TrialKind::Continued) {
    return system_.capabilities(own.id).state_derivatives
               ? "tells no linearization: its states are continued from their last derivatives, outputs that are no "
                 "states from their past; too little for a stiff subsystem"
               : "tells neither linearization nor state derivatives: its outputs are continued from their past";
  }
  if (own.rollback && own.rollback->slopes_from_outputs)
    return "tells no output derivatives: slopes come from its last outputs";
  return {};
}

bool Trials::depends_on_time_alone(SubsystemId s) const {
  const Graph& graph = system_.graph();
  bool fed = false;
  for (const InputId input : graph.inputs_of(s)) fed = fed || graph.source(input) != nullptr;
  return !fed && system_.variables(s).states.empty();
}

std::vector<std::string> Trials::notes() const {
  std::vector<std::string> notes;
  for (const auto& own : own_) {
    if (!own.estimator || !loss(own).empty()) continue;
    notes.push_back(fmt::format("'{}' is tried out by the costarica estimate", system_.graph().name(own.id)));
  }
  for (auto& note : losses()) notes.push_back(std::move(note));
  return notes;
}

std::vector<std::string> Trials::losses() const {
  std::vector<std::string> notes;
  for (const auto& own : own_) {
    const auto& name = system_.graph().name(own.id);
    const auto& can = system_.capabilities(own.id);
    if (const auto text = loss(own); !text.empty()) notes.push_back(fmt::format("'{}' {}", name, text));
    if (can.input_degree < kMaxInputDegree && own.inputs() > 0) {
      notes.push_back(fmt::format("inputs of '{}' lowered from degree {} to {} by mean-square fit{}", name,
                                  kMaxInputDegree, can.input_degree,
                                  own.corrects_lowered ? "" : "; its outputs belong to the fitted inputs"));
    }
  }
  return notes;
}

Trials::Memory Trials::memory() const {
  Memory memory{input_slopes_, {}};
  for (const auto& own : own_) {
    auto& one = memory.subsystems.emplace_back();
    one.gap = own.gap;
    if (own.estimator) one.estimator = own.estimator->memory();
    if (own.rollback) one.past = own.rollback->past;
  }
  return memory;
}

void Trials::restore(const Memory& memory) {
  // Copied, because the subsystems' spans point to the storage.
  std::copy(memory.input_slopes.begin(), memory.input_slopes.end(), input_slopes_.begin());
  for (std::size_t s = 0; s < own_.size(); ++s) {
    Own& own = own_[s];
    const auto& one = memory.subsystems[s];
    own.gap = one.gap;
    if (own.estimator) own.estimator->restore(*one.estimator);
    if (!own.rollback) continue;
    own.rollback->past = *one.past;
    own.rollback->moved = false;
  }
}

}  // namespace entrain
