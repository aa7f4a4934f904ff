#include "estimate/formal_order.hpp"

#include <algorithm>
#include <variant>

#include "entrain/subsystem.hpp"

namespace entrain::estimate {

double formal_order(const MethodTraits& traits, const RunSummary& summary) {
  int taken = kMaxInputDegree;
  for (const auto& subsystem : summary.subsystems) taken = std::min(taken, subsystem.capabilities.input_degree);
  if (traits.knobs.degree.empty()) {
    // A constant with the mean of the polynomial leaves an error of order 2.
    return traits.family == MethodFamily::Implicit ? std::min(traits.order, taken + 2) : traits.order;
  }
  MethodConfig config{.method = summary.method, .degree = {}, .sequence = {}, .gains = {}};
  const auto degree = summary.parameters.find(traits.knobs.degree);
  const auto* number = degree == summary.parameters.end() ? nullptr : std::get_if<std::int64_t>(&degree->second);
  config.degree = number == nullptr ? 0 : std::min(static_cast<int>(*number), std::max(taken, 0));
  return traits.order_of(config);
}

}  // namespace entrain::estimate
