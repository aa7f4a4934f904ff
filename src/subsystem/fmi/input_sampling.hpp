#pragma once

#include <optional>
#include <vector>

#include "entrain/subsystem.hpp"
#include "subsystem/fmi/model_description.hpp"

namespace entrain::subsystem {

/// Input polynomials for an FMU that asks for single values inside a step (FMI 3, intermediate update).
class InputSampling {
 public:
  InputSampling() = default;
  explicit InputSampling(std::optional<Duration> internal_step) : internal_step_(internal_step) {}

  /// Values at the local time s of a step. Valid until the next call, as for held_from.
  const double* at(const InputBlock& inputs, Duration s, Duration size);
  /// Values that are held from s on, over the next internal step: their means where its size is known (they give the
  /// right impulse), else the values at s.
  const double* held_from(const InputBlock& inputs, Duration s, Duration size);

 private:
  std::optional<Duration> internal_step_;
  std::vector<double> values_;
};

/// The inputs of an FMU that may be set inside a step; none unless all can be: half of them would be late.
std::vector<ValueReference> intermediate_inputs(const FmuDescription& description);

}  // namespace entrain::subsystem
