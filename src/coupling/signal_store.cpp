#include "coupling/signal_store.hpp"

#include <algorithm>

namespace entrain::coupling {

SignalStore::SignalStore(const Graph& graph, std::vector<double> start_inputs)
    : graph_(graph),
      transfer_(graph, start_inputs),
      start_inputs_(std::move(start_inputs)),
      signals_(transfer_.make_signals()),
      inputs_(start_inputs_),
      coefficients_(kOrders * graph.inputs(), 0.0) {}

SignalStore::Slots SignalStore::slots(SubsystemId s) {
  const auto inputs = graph_.inputs_of(s);
  const auto outputs = graph_.outputs_of(s);
  return {std::span(signals_).subspan(outputs.first, outputs.count),
          std::span(inputs_).subspan(inputs.first, inputs.count), coefficients_.data() + kOrders * inputs.first};
}

std::span<double> SignalStore::coefficients(SubsystemId s, int degree, int p) {
  const auto [first, count] = graph_.inputs_of(s);
  if (degree == 0) return {inputs_.data() + first, count};
  return {coefficients_.data() + kOrders * first + static_cast<std::size_t>(p) * count, count};
}

void SignalStore::set_waveforms(std::span<const int> degrees, std::span<const double> coefficients) {
  waveform_degrees_.assign(degrees.begin(), degrees.end());
  waveforms_.assign(coefficients.begin(), coefficients.end());
}

int SignalStore::add_waveforms(SubsystemId s, int degree) {
  const int added = waveform_degrees_[s];
  const int raised = std::max(degree, added);
  const auto [first, count] = graph_.inputs_of(s);
  for (int p = 0; p <= raised; ++p) {
    const auto to = coefficients(s, raised, p);
    const auto from = coefficients(s, degree, std::min(p, degree));
    for (std::size_t i = 0; i < count; ++i) {
      to[i] = p <= degree ? from[i] : 0.0;
      if (p <= added) to[i] += waveforms_[kOrders * (first + i) + static_cast<std::size_t>(p)];
    }
  }
  return raised;
}

void SignalStore::set_constant(InputId input, double value) {
  signals_[transfer_.source(input)] = value;
  inputs_[input] = value;
}

void SignalStore::set_start(InputId input, double value) {
  start_inputs_[input] = value;
  set_constant(input, value);
}

void SignalStore::reset() {
  replaced_ = false;
  waveform_degrees_.clear();
  transfer_.clear_corrections();  // the start is solved with the connections as they are
  // Copied, because the slots point to the storage.
  const auto signals = transfer_.make_signals();
  std::copy(signals.begin(), signals.end(), signals_.begin());
  std::copy(start_inputs_.begin(), start_inputs_.end(), inputs_.begin());
  for (std::size_t i = 0; i < start_inputs_.size(); ++i) {  // start values may have been given since
    if (graph_.source(InputId{i}) == nullptr) set_constant(InputId{i}, start_inputs_[i]);
  }
  std::fill(coefficients_.begin(), coefficients_.end(), 0.0);
}

}  // namespace entrain::coupling
