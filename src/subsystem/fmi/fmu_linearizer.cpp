#include "subsystem/fmi/fmu_linearizer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "subsystem/fmi/fmu.hpp"

namespace entrain::subsystem {

FmuLinearizer::FmuLinearizer(const FmuPorts& ports) : ports_(ports) {
  for (const auto& known : ports.knowns) {
    knowns_.push_back(known.reference);
    known_values_ += known.elements;
  }
  for (const auto& unknown : ports.unknowns) {
    unknowns_.push_back(unknown.reference);
    unknown_values_ += unknown.elements;
  }
  for (std::size_t i = 0; i < ports.state_of_output.size(); ++i) {
    if (!ports.state_of_output[i]) unknown_outputs_.push_back(i);
  }
  line_.resize(std::max(known_values_, unknown_values_));
  below_.resize(unknown_values_);
}

FmuResult FmuLinearizer::linearize(FmuInstance& instance, LinearizationSource source, Linearization& result) {
  const std::size_t states = ports_.table.states.size();
  const std::size_t inputs = ports_.table.inputs.size();
  const std::size_t outputs = ports_.table.outputs.size();
  result.A.resize(states, states);
  result.B.resize(states, inputs);
  result.C.resize(outputs, states);
  result.D.resize(outputs, inputs);
  for (std::size_t i = 0; i < outputs; ++i) {
    if (ports_.state_of_output[i]) result.C(i, *ports_.state_of_output[i]) = 1.0;
  }
  if (unknowns_.empty() || knowns_.empty()) return {};
  switch (source) {
    case LinearizationSource::Directional: return by_columns(instance, result);
    case LinearizationSource::Adjoint: return by_rows(instance, result);
    case LinearizationSource::Differences: return by_differences(instance, result);
    case LinearizationSource::None: break;
  }
  return {FmuStatus::Error, "linearization"};
}

/// Unknowns are the derivatives, then those outputs that are no states; knowns the states, then the inputs.
void FmuLinearizer::put_column(std::size_t known, Linearization& result) const {
  const std::size_t states = ports_.table.states.size();
  const bool is_state = known < states;
  const std::size_t j = is_state ? known : known - states;
  const double* next = line_.data();
  for (std::size_t i = 0; i < states; ++i) (is_state ? result.A : result.B)(i, j) = *next++;
  for (const std::size_t output : unknown_outputs_) (is_state ? result.C : result.D)(output, j) = *next++;
}

void FmuLinearizer::put_row(std::size_t unknown, Linearization& result) const {
  const std::size_t states = ports_.table.states.size();
  const bool is_derivative = unknown < states;
  const std::size_t i = is_derivative ? unknown : unknown_outputs_[unknown - states];
  for (std::size_t j = 0; j < states; ++j) (is_derivative ? result.A : result.C)(i, j) = line_[j];
  for (std::size_t j = 0; j < ports_.table.inputs.size(); ++j) {
    (is_derivative ? result.B : result.D)(i, j) = line_[states + j];
  }
}

/// Whole arrays are seeded, one of their elements with 1.
FmuResult FmuLinearizer::by_columns(FmuInstance& instance, Linearization& result) {
  FmuResult called;
  std::size_t column = 0;
  for (const auto& known : ports_.knowns) {
    for (std::size_t element = 0; element < known.elements && called.done(); ++element) {
      seed_.assign(known.elements, 0.0);
      seed_[element] = 1.0;
      called = instance.directional_product(unknowns_, {&known.reference, 1}, seed_,
                                            std::span(line_).first(unknown_values_));
      put_column(column++, result);
    }
  }
  return called;
}

FmuResult FmuLinearizer::by_rows(FmuInstance& instance, Linearization& result) {
  FmuResult called;
  std::size_t row = 0;
  for (const auto& unknown : ports_.unknowns) {
    for (std::size_t element = 0; element < unknown.elements && called.done(); ++element) {
      seed_.assign(unknown.elements, 0.0);
      seed_[element] = 1.0;
      called = instance.adjoint_product({&unknown.reference, 1}, knowns_, seed_, std::span(line_).first(known_values_));
      put_row(row++, result);
    }
  }
  return called;
}

/// Of FMI 2 only, which has no arrays.
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
  if (called.done()) called = instance.get_reals(unknowns_, below_.data());
  if (called.done()) called = instance.set_reals({&known, 1}, &above);
  if (called.done()) called = instance.get_reals(unknowns_, line_.data());
  for (std::size_t i = 0; i < below_.size(); ++i) line_[i] = (line_[i] - below_[i]) / (above - below);
  return called;
}

void slopes_along(const Linearization& at, std::span<const double> dx, std::span<const double> du,
                  std::span<double> dy) {
  for (std::size_t i = 0; i < dy.size(); ++i) {
    dy[i] = 0.0;
    for (std::size_t j = 0; j < dx.size(); ++j) dy[i] += at.C(i, j) * dx[j];
    for (std::size_t j = 0; j < du.size(); ++j) dy[i] += at.D(i, j) * du[j];
  }
}

}  // namespace entrain::subsystem
