// What trials report about themselves, and their memory.
#include <algorithm>

#include "entrain/fact_codes.hpp"
#include "trials/trials.hpp"
#include "trials/trials_own.hpp"

namespace entrain {

std::optional<FactCode> Trials::loss(const Own& own) const {
  if (own.estimator && own.estimator->degraded()) return FactCode::TrialsWithoutStateDerivatives;
  if (kinds_[own.id] == TrialKind::Costarica && depends_on_time_alone(own.id)) {
    return FactCode::OutputsDependOnTimeAlone;
  }
  if (kinds_[own.id] == TrialKind::Continued) {
    return system_.capabilities(own.id).state_derivatives ? FactCode::StatesContinued : FactCode::OutputsContinued;
  }
  if (own.rollback && own.rollback->slopes_from_outputs) return FactCode::SlopesFromOutputs;
  return std::nullopt;
}

bool Trials::depends_on_time_alone(SubsystemId s) const {
  const Graph& graph = system_.graph();
  bool fed = false;
  for (const InputId input : graph.inputs_of(s)) fed = fed || graph.source(input) != nullptr;
  return !fed && system_.variables(s).states.empty();
}

std::vector<Fact> Trials::notes() const {
  std::vector<Fact> notes;
  for (const auto& own : own_) {
    if (!own.estimator || loss(own)) continue;
    notes.push_back({FactCode::TrialsEstimated, {system_.graph().name(own.id)}});
  }
  for (auto& note : losses()) notes.push_back(std::move(note));
  return notes;
}

std::vector<Fact> Trials::losses() const {
  std::vector<Fact> notes;
  for (const auto& own : own_) {
    const auto& name = system_.graph().name(own.id);
    const auto& can = system_.capabilities(own.id);
    if (const auto code = loss(own)) notes.push_back({*code, {name}});
    if (can.input_degree < kMaxInputDegree && own.inputs() > 0) {
      Fact& lowered = notes.emplace_back(
          Fact{FactCode::InputDegreeLowered, {name}, {{"from", kMaxInputDegree}, {"to", can.input_degree}}});
      if (!own.corrects_lowered) lowered.values.emplace_back("fitted", 1);
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
