#include "subsystem/fmi/input_derivatives.hpp"

#include <algorithm>
#include <array>

namespace entrain::subsystem {
namespace {

constexpr std::array<double, kMaxInputDegree + 1> kFactorial{1.0, 1.0, 2.0, 6.0};

}  // namespace

void InputDerivatives::start(std::span<const ValueReference> inputs, int degree) {
  inputs_ = inputs;
  references_.clear();
  orders_.clear();
  for (int p = 1; p <= degree; ++p) {
    references_.insert(references_.end(), inputs.begin(), inputs.end());
    orders_.insert(orders_.end(), inputs.size(), p);
  }
  derivatives_.assign(references_.size(), 0.0);
  values_.assign(inputs.size(), 0.0);
  highest_sent_ = 0;
}

void InputDerivatives::add_to(FmuStepCall& call, const InputBlock& inputs) {
  highest_sent_ = std::max(highest_sent_, inputs.degree());
  double* next = derivatives_.data();
  for (int p = 1; p <= highest_sent_; ++p) {
    for (std::size_t i = 0; i < inputs.count(); ++i) {
      *next++ = p <= inputs.degree() ? kFactorial[static_cast<std::size_t>(p)] * inputs.order(p)[i] : 0.0;
    }
  }
  call.derivative_inputs = std::span(references_).first(inputs.count() * static_cast<std::size_t>(highest_sent_));
  call.derivative_orders = orders_.data();
  call.derivative_values = derivatives_.data();
}

FmuResult InputDerivatives::set(FmuInstance& instance, const InputBlock& inputs, Duration s) {
  const std::size_t count = inputs.count();
  std::fill(derivatives_.begin(), derivatives_.end(), 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    values_[i] = inputs.value(i, s);
    derivatives_[i] = inputs.slope(i, s);
    if (inputs.degree() > 1) derivatives_[count + i] = inputs.curvature(i, s);
    if (inputs.degree() > 2) derivatives_[2 * count + i] = kFactorial[3] * inputs.order(3)[i];
  }
  const FmuResult set = instance.set_reals(inputs_, values_.data());
  if (!set.done()) return set;
  const std::size_t sent = count * static_cast<std::size_t>(highest_sent_);
  return instance.set_input_derivatives(std::span(references_).first(sent), orders_.data(), derivatives_.data());
}

}  // namespace entrain::subsystem
