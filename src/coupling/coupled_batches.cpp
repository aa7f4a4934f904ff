// Batches of the coupled system that make no steps, and its return to the start.
#include <algorithm>

#include "coupling/coupled_parts.hpp"

namespace entrain {

void CoupledSystem::Parts::for_each(std::span<const SubsystemId> batch, FunctionRef<void(std::size_t)> work) {
  executor_.for_each(batch.size(), [&](std::size_t i) {
    try {
      work(i);
    } catch (...) {
      participants_[batch[i]].failure = std::current_exception();
      trouble_.store(true, std::memory_order_relaxed);
    }
  });
  if (!trouble_.exchange(false, std::memory_order_relaxed)) return;
  for (const SubsystemId s : batch) {
    auto& failure = participants_[s].failure;
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
  }
}

void CoupledSystem::Parts::evaluate_all(std::span<const SubsystemId> batch, std::span<const double> all_inputs,
                                        std::span<double> all_outputs) {
  for_each(batch, [&](std::size_t i) {
    const auto inputs = graph_.inputs_of(batch[i]);
    const auto outputs = graph_.outputs_of(batch[i]);
    participants_[batch[i]].subsystem->evaluate(all_inputs.subspan(inputs.first, inputs.count),
                                                all_outputs.subspan(outputs.first, outputs.count));
  });
}

void CoupledSystem::Parts::linearize_all(std::span<const SubsystemId> batch, std::span<Linearization> results) {
  for_each(batch, [&](std::size_t i) {
    auto& participant = participants_[batch[i]];
    participant.subsystem->facets().linearizer->linearize(results[i]);
    ++participant.counters.linearizations;
  });
}

void CoupledSystem::Parts::reset() {
  for (auto& participant : participants_) {
    participant.subsystem->facets().reset->reset();
    participant.counters = {};
    participant.stopped_at.reset();
    participant.failure = nullptr;
  }
  transfer_.clear_corrections();  // the start is solved with the connections as they are
  // Copied, because the participants' spans point to the storage.
  const auto signals = transfer_.make_signals();
  std::copy(signals.begin(), signals.end(), signals_.begin());
  std::copy(start_inputs_.begin(), start_inputs_.end(), input_end_.begin());
  for (std::size_t i = 0; i < start_inputs_.size(); ++i) {  // start values may have been given since
    if (graph_.source(InputId{i}) == nullptr) set_constant(InputId{i}, start_inputs_[i]);
  }
  std::fill(coefficients_.begin(), coefficients_.end(), 0.0);
  std::fill(times_.begin(), times_.end(), 0.0);
  std::fill(steps_.begin(), steps_.end(), 0);
  common_steps_ = 0;
  trouble_ = false;
  stop_request_.reset();
}

}  // namespace entrain
