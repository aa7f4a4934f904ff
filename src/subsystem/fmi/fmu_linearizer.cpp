#include "subsystem/fmi/fmu_linearizer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "subsystem/fmi/fmu.hpp"

namespace entrain {

FmuLinearizer::FmuLinearizer(const FmuPorts& ports) : ports_(ports), knowns_(ports.states) {
  knowns_.insert(knowns_.end(), ports.inputs.begin(), ports.inputs.end());
  line_.resize(std::max(knowns_.size(), ports.unknowns.size()));
  below_.resize(ports.unknowns.size());
}

FmuResult FmuLinearizer::linearize(FmuInstance& instance, LinearizationSource source, Linearization& result) {
  const std::size_t states = ports_.states.size();
  const std::size_t inputs = ports_.inputs.size();
  const std::size_t outputs = ports_.outputs.size();
  result.A.resize(states, states);
  result.B.resize(states, inputs);
  result.C.resize(outputs, states);
  result.D.resize(outputs, inputs);
  for (std::size_t i = 0; i < outputs; ++i) {
    if (ports_.state_of_output[i]) result.C(i, *ports_.state_of_output[i]) = 1.0;
  }
  if (ports_.unknowns.empty() || knowns_.empty()) return {};
  switch (source) {
    case LinearizationSource::Directional: return by_columns(instance, result);
    case LinearizationSource::Adjoint: return by_rows(instance, result);
    case LinearizationSource::Differences: return by_differences(instance, result);
    case LinearizationSource::None: break;
  }
  return {FmuStatus::Error, "linearization"};
}

/// Unknowns are the derivatives, then those outputs that are no states.
void FmuLinearizer::put_column(std::size_t known, Linearization& result) const {
  const std::size_t states = ports_.states.size();
  const bool is_state = known < states;
  const std::size_t j = is_state ? known : known - states;
  const double* next = line_.data();
  for (std::size_t i = 0; i < states; ++i) (is_state ? result.A : result.B)(i, j) = *next++;
  for (std::size_t i = 0; i < ports_.outputs.size(); ++i) {
    if (!ports_.state_of_output[i]) (is_state ? result.C : result.D)(i, j) = *next++;
  }
}

FmuResult FmuLinearizer::by_columns(FmuInstance& instance, Linearization& result) {
  FmuResult called;
  for (std::size_t known = 0; known < knowns_.size() && called.done(); ++known) {
    called = instance.directional_derivative(ports_.unknowns, knowns_[known], line_.data());
    put_column(known, result);
  }
  return called;
}

FmuResult FmuLinearizer::by_rows(FmuInstance& instance, Linearization& result) {
  const std::size_t states = ports_.states.size();
  std::size_t output = 0;
  FmuResult called;
  for (std::size_t row = 0; row < ports_.unknowns.size() && called.done(); ++row) {
    called = instance.adjoint_derivative(ports_.unknowns[row], knowns_, line_.data());
    while (row >= states && ports_.state_of_output[output]) ++output;
    const std::size_t i = row < states ? row : output++;
    for (std::size_t j = 0; j < states; ++j) (row < states ? result.A : result.C)(i, j) = line_[j];
    for (std::size_t j = 0; j < ports_.inputs.size(); ++j) {
      (row < states ? result.B : result.D)(i, j) = line_[states + j];
    }
  }
  return called;
}

FmuResult FmuLinearizer::by_differences(FmuInstance& instance, Linearization& result) {
  FmuInstance::State here = nullptr;
  FmuResult called = instance.get_state(here);
  if (!called.done()) return called;
  for (std::size_t known = 0; known < knowns_.size() && called.done(); ++known) {
    called = difference(instance, knowns_[known]);
    put_column(known, result);
    const FmuResult restored = instance.set_state(here);
    if (called.done()) called = restored;
  }
  const FmuResult freed = instance.free_state(here);
  return called.done() ? freed : called;
}

/// Central: the error is of the order of the square of the distance, so its best is the cube root of a rounding.
FmuResult FmuLinearizer::difference(FmuInstance& instance, ValueReference known) {
  double value = 0.0;
  FmuResult called = instance.get_reals({&known, 1}, &value);
  const double distance = std::cbrt(std::numeric_limits<double>::epsilon()) * std::max(1.0, std::abs(value));
  const double above = value + distance;
  const double below = value - distance;
  if (called.done()) called = instance.set_reals({&known, 1}, &below);
  if (called.done()) called = instance.get_reals(ports_.unknowns, below_.data());
  if (called.done()) called = instance.set_reals({&known, 1}, &above);
  if (called.done()) called = instance.get_reals(ports_.unknowns, line_.data());
  for (std::size_t i = 0; i < below_.size(); ++i) line_[i] = (line_[i] - below_[i]) / (above - below);
  return called;
}

}  // namespace entrain
