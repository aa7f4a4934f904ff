#include "subsystem/fmi/input_sampling.hpp"

#include <algorithm>
#include <cmath>

namespace entrain::subsystem {

const double* InputSampling::at(const InputBlock& inputs, Duration s, Duration size) {
  const Duration inside = std::clamp(s, 0.0, size);
  values_.resize(inputs.count());
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = inputs.value(i, inside);
  return values_.data();
}

const double* InputSampling::held_from(const InputBlock& inputs, Duration s, Duration size) {
  const Duration begin = std::clamp(s, 0.0, size);
  const Duration end = std::min(begin + internal_step_.value_or(0.0), size);
  // The two points of Gauss give the mean of a cubic exactly.
  const Duration middle = 0.5 * (begin + end);
  const Duration distance = (end - begin) / std::sqrt(12.0);
  values_.resize(inputs.count());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    values_[i] = 0.5 * (inputs.value(i, middle - distance) + inputs.value(i, middle + distance));
  }
  return values_.data();
}

std::vector<ValueReference> intermediate_inputs(const FmuDescription& description) {
  std::vector<ValueReference> references;
  if (!description.co_simulation || !description.co_simulation->intermediate_update) return references;
  for (const auto& variable : description.variables) {
    const bool is_real = variable.type == FmuType::Float64 || variable.type == FmuType::Float32;
    if (variable.causality != FmuCausality::Input || !is_real) continue;
    if (!variable.intermediate_update) return {};
    references.push_back(variable.reference);
  }
  return references;
}

}  // namespace entrain::subsystem
