// What trials tell about themselves, and their memory.
#include <fmt/format.h>

#include <algorithm>

#include "coupling/trials.hpp"
#include "coupling/trials_own.hpp"

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

void Trials::save(std::vector<double>& numbers) const {
  const auto add = [&](std::span<const double> values) { numbers.insert(numbers.end(), values.begin(), values.end()); };
  add(input_slopes_);
  for (const auto& own : own_) {
    add(own.gap);
    if (own.estimator) own.estimator->save(numbers);
    if (!own.rollback) continue;
    numbers.push_back(static_cast<double>(own.rollback->past));
    add(own.rollback->past_times);
    add(own.rollback->past_outputs);
  }
}

const double* Trials::restore(const double* numbers) {
  const auto take = [&](std::span<double> values) {
    std::copy_n(numbers, values.size(), values.begin());
    numbers += values.size();
  };
  take(input_slopes_);
  for (auto& own : own_) {
    take(own.gap);
    if (own.estimator) numbers = own.estimator->restore(numbers);
    if (!own.rollback) continue;
    own.rollback->past = static_cast<std::size_t>(*numbers++);
    take(own.rollback->past_times);
    take(own.rollback->past_outputs);
    own.rollback->moved = false;
  }
  return numbers;
}

}  // namespace entrain
