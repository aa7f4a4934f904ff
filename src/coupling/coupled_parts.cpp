#include "coupling/coupled_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "base/grid.hpp"
#include "entrain/error.hpp"
#include "numerics/polynomial.hpp"

namespace entrain {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kOrders = kMaxInputDegree + 1;

}  // namespace

TrialKind natural_trial_kind(const Capabilities& can) {
  if (can.rollback) return TrialKind::Rollback;
  return can.states && can.linearization ? TrialKind::Costarica : TrialKind::None;
}

CoupledSystem::Parts::Parts(std::vector<std::unique_ptr<Subsystem>> subsystems, Graph graph,
                            std::vector<double> start_inputs, int threads)
    : graph_(std::move(graph)),
      transfer_(graph_, start_inputs),
      evaluation_(graph_, transfer_),
      executor_(std::min(threads, static_cast<int>(subsystems.size()))),
      times_(subsystems.size(), 0.0),
      steps_(subsystems.size(), 0),
      signals_(transfer_.make_signals()),
      input_end_(std::move(start_inputs)),
      coefficients_(kOrders * graph_.inputs(), 0.0),
      start_inputs_(input_end_) {
  for (auto& subsystem : subsystems) {
    const SubsystemId id{participants_.size()};
    auto& participant = participants_.emplace_back();
    const auto inputs = graph_.inputs_of(id);
    const auto outputs = graph_.outputs_of(id);
    participant.outputs = std::span(signals_).subspan(outputs.first, outputs.count);
    participant.input_end = std::span(input_end_).subspan(inputs.first, inputs.count);
    participant.coefficients = coefficients_.data() + kOrders * inputs.first;
    participant.input_degree = subsystem->capabilities().input_degree;
    trial_kinds_.push_back(natural_trial_kind(subsystem->capabilities()));
    participant.substeps = subsystem->capabilities().substeps;
    first_state_.push_back(first_state_.back() + subsystem->variables().states.size());
    participant.part_coefficients.resize(kOrders * subsystem->variables().inputs.size());
    held_parts_.push_back({subsystem->held_step(), participant.input_end.data(), participant.outputs.data()});
    all_held_ = all_held_ && held_parts_.back().step.function != nullptr;
    participant.subsystem = std::move(subsystem);
  }
}

std::span<double> CoupledSystem::Parts::coefficients(SubsystemId s, int degree, int p) {
  const auto [first, count] = graph_.inputs_of(s);
  if (degree == 0) return {input_end_.data() + first, count};
  return {coefficients_.data() + kOrders * first + static_cast<std::size_t>(p) * count, count};
}

void CoupledSystem::Parts::initialize(Time start, Time stop) {
  std::vector<Subsystem*> subsystems;
  for (auto& participant : participants_) subsystems.push_back(participant.subsystem.get());
  EndOfInitialization end(graph_, std::move(subsystems));
  spread_common_steps();
  std::fill(times_.begin(), times_.end(), start);
  do {
    for (auto& participant : participants_) participant.subsystem->initialize(start, stop);
    evaluation_.all(start, input_end_, signals_,
                    [&end](SubsystemId s, std::span<const double> u, std::span<double> y) { end.evaluate(s, u, y); });
    if (discrete_) settle_discrete(start);
  } while (end.finish(signals_));
  if (end.anything_changed()) pass_on_late_outputs(start);
  for (std::size_t s = 0; s < size(); ++s) check_outputs(SubsystemId{s}, start);
}

/// Inputs follow the outputs; subsystems that cannot be asked again keep theirs.
void CoupledSystem::Parts::pass_on_late_outputs(Time start) {
  evaluation_.all(start, input_end_, signals_, [this](SubsystemId s, std::span<const double> u, std::span<double> y) {
    Subsystem& subsystem = *participants_[s].subsystem;
    if (subsystem.capabilities().output_refresh) subsystem.evaluate(u, y);
  });
}

void CoupledSystem::Parts::set_start(SubsystemId s, VariableTable::Place place, const Value& value) {
  participants_[s].subsystem->set_start(place, value);
  if (place.causality == Causality::DiscreteInput && discrete_) discrete_->set_start(s, place.index, value);
  if (place.causality != Causality::Input) return;
  const InputId input{graph_.inputs_of(s).first + place.index};
  start_inputs_[input] = std::get<double>(value);
  set_constant(input, start_inputs_[input]);
}

void CoupledSystem::Parts::set_constant(InputId input, double value) {
  signals_[transfer_.source(input)] = value;
  input_end_[input] = value;
}

void CoupledSystem::Parts::refresh_outputs(SubsystemId s) {
  auto& participant = participants_[s];
  if (!participant.subsystem->capabilities().output_refresh) return;
  participant.subsystem->evaluate(participant.input_end, participant.outputs);
}

void CoupledSystem::Parts::refresh_signals(Time t) {
  for (const auto& participant : participants_) {
    if (!participant.subsystem->capabilities().output_refresh) return;
  }
  evaluation_.all(t, input_end_, signals_, [this](SubsystemId s, std::span<const double> u, std::span<double> y) {
    participants_[s].subsystem->evaluate(u, y);
  });
}

void CoupledSystem::Parts::solve_loops(Time t) {
  for (std::size_t index = 0; index < graph_.loops().size(); ++index) {
    const auto& members = graph_.loops()[index].subsystems;
    const bool all_here = std::all_of(members.begin(), members.end(), [&](SubsystemId s) { return time_of(s) == t; });
    if (!all_here) continue;  // somebody is in the middle of a longer step, under inputs fixed at its start
    evaluation_.loop(index, t, input_end_, signals_,
                     [this](SubsystemId s, std::span<const double> u, std::span<double> y) {
                       participants_[s].subsystem->evaluate(u, y);
                     });
  }
}

Time CoupledSystem::Parts::next_event(SubsystemId s, Time t) {
  Events* events = facets(s).events;
  return events == nullptr ? kNever : events->next_event(t);
}

void CoupledSystem::Parts::publish(Time t, std::span<const double> all_inputs, std::span<const double> all_outputs) {
  std::copy(all_inputs.begin(), all_inputs.end(), input_end_.begin());
  std::copy(all_outputs.begin(), all_outputs.end(), signals_.begin());
  spread_common_steps();
  for (std::size_t s = 0; s < size(); ++s) {
    note_step(SubsystemId{s}, t);
  }
}

void CoupledSystem::Parts::read_states(std::span<double> all) {
  std::fill(all.begin(), all.end(), kUnknown);
  for (std::size_t s = 0; s < size(); ++s) {
    const auto range = states_of(SubsystemId{s});
    if (States* states = facets(SubsystemId{s}).states) states->states(all.subspan(range.first, range.count));
  }
}

void CoupledSystem::Parts::read_state_derivatives(std::span<double> all) {
  std::fill(all.begin(), all.end(), kUnknown);
  for (std::size_t s = 0; s < size(); ++s) {
    if (!capabilities(SubsystemId{s}).state_derivatives) continue;
    const auto range = states_of(SubsystemId{s});
    facets(SubsystemId{s}).states->derivatives(all.subspan(range.first, range.count));
  }
}

void CoupledSystem::Parts::read_output_slopes(std::span<double> all) {
  std::fill(all.begin(), all.end(), kUnknown);
  for (std::size_t s = 0; s < size(); ++s) {
    const auto range = graph_.outputs_of(SubsystemId{s});
    OutputDerivatives* derivatives = facets(SubsystemId{s}).output_derivatives;
    if (derivatives != nullptr) derivatives->output_derivatives(all.subspan(range.first, range.count));
  }
}

template <class Visitor>
void visit_fields(Visitor& visit, CoupledSystem::Counters& counters) {
  visit(counters.steps, counters.early_returns, counters.rollbacks, counters.trials, counters.linearizations,
        counters.first_seconds, counters.sampled_seconds, counters.sampled_steps, counters.trial_seconds,
        counters.sampled_trials);
}

/// Without the ids of the states, which mean nothing to anyone else.
template <class Visitor>
void visit_fields(Visitor& visit, CoupledSystem::Saved& saved) {
  visit(saved.subsystems, saved.times, saved.counters, saved.numbers, saved.discrete, saved.constants);
}

CoupledSystem::Saved CoupledSystem::Parts::save() {
  std::vector<SubsystemId> everyone;
  for (std::size_t s = 0; s < size(); ++s) everyone.emplace_back(s);
  Saved saved;
  save(everyone, saved);
  if (discrete_) saved.discrete = discrete_->memory();
  saved.constants.assign(signals_.begin() + static_cast<std::ptrdiff_t>(graph_.outputs()), signals_.end());
  return saved;
}

void CoupledSystem::Parts::save(std::span<const SubsystemId> some, Saved& saved) {
  saved.subsystems.assign(some.begin(), some.end());
  saved.states.clear();
  saved.times.clear();
  saved.counters.clear();
  saved.numbers.clear();
  for (const SubsystemId s : some) {
    const auto& participant = participants_[s];
    saved.states.push_back(participant.subsystem->facets().rollback->save());
    saved.times.push_back(time_of(s));
    saved.counters.push_back(counters(s));
    for (const auto values : numbers_of(participant)) {
      saved.numbers.insert(saved.numbers.end(), values.begin(), values.end());
    }
  }
}

/// What happened, happened: what is taken back is counted.
void CoupledSystem::Parts::restore(const Saved& saved) {
  spread_common_steps();
  const double* next = saved.numbers.data();
  for (std::size_t i = 0; i < saved.subsystems.size(); ++i) {
    auto& counters = participants_[saved.subsystems[i]].counters;
    const auto rollbacks = counters.rollbacks + 1;
    next = put_back(saved, i, next);
    counters.rollbacks = rollbacks;
  }
  put_back_others(saved);
}

/// One subsystem and its signals; returns where the numbers of the next begin.
const double* CoupledSystem::Parts::put_back(const Saved& saved, std::size_t i, const double* numbers) {
  const SubsystemId s = saved.subsystems[i];
  auto& participant = participants_[s];
  participant.subsystem->facets().rollback->restore(saved.states[i]);
  participant.stopped_at.reset();
  participant.counters = saved.counters[i];
  steps_[s] = saved.counters[i].steps;
  times_[s] = saved.times[i];
  for (const auto values : numbers_of(participant)) {
    std::copy_n(numbers, values.size(), values.begin());
    numbers += values.size();
  }
  return numbers;
}

void CoupledSystem::Parts::put_back_others(const Saved& saved) {
  std::copy(saved.constants.begin(), saved.constants.end(),
            signals_.begin() + static_cast<std::ptrdiff_t>(graph_.outputs()));
  if (discrete_ && saved.discrete) {
    discrete_->restore(*saved.discrete);
    exchange_reals();
  }
  stop_request_.reset();
}

Bytes CoupledSystem::Parts::serialize(const Saved& saved) {
  std::vector<Bytes> states;
  for (std::size_t i = 0; i < saved.subsystems.size(); ++i) {
    states.push_back(facets(saved.subsystems[i]).rollback->serialize(saved.states[i]));
  }
  return to_bytes(states, saved);
}

void CoupledSystem::Parts::resume(std::span<const std::byte> bytes) {
  std::vector<Bytes> states;
  Saved saved;
  from_bytes(bytes, states, saved);
  spread_common_steps();
  const double* next = saved.numbers.data();
  for (std::size_t i = 0; i < saved.subsystems.size(); ++i) {
    Rollback& rollback = *facets(saved.subsystems[i]).rollback;
    saved.states.push_back(rollback.deserialize(states[i]));
    next = put_back(saved, i, next);
    rollback.release(saved.states[i]);
  }
  put_back_others(saved);
}

void CoupledSystem::Parts::release(const Saved& saved) {
  for (std::size_t i = 0; i < saved.subsystems.size(); ++i) {
    facets(saved.subsystems[i]).rollback->release(saved.states[i]);
  }
}

std::array<std::span<double>, 3> CoupledSystem::Parts::numbers_of(const Participant& participant) {
  return {participant.outputs, participant.input_end,
          std::span(participant.coefficients, kOrders * participant.input_end.size())};
}

}  // namespace entrain
