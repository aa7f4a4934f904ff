#include "trials/observe.hpp"

#include <algorithm>

namespace entrain::trials {
namespace {

/// All but the derivatives.
void read_point(const EstimatorPoint& point, const Facets& facets, const Observation& at) {
  point.t = at.t;
  if (!point.x.empty()) facets.states->states(point.x);
  std::copy(at.inputs.begin(), at.inputs.end(), point.u.begin());
  std::copy(at.outputs.begin(), at.outputs.end(), point.y.begin());
}

}  // namespace

bool observe(Estimator& estimator, const Facets& facets, const Observation& at) {
  const EstimatorPoint point = estimator.point();
  read_point(point, facets, at);
  const bool has_rates = !point.x.empty() && !estimator.degraded();
  if (has_rates) facets.states->derivatives(point.dx);
  // They belong to the inputs it held; the point is meant under `inputs`: f + B gap.
  const bool meant_otherwise = has_rates && !at.input_gap.empty() && estimator.has_linearization();
  const auto shift_rates = [&](double sign) {
    const Matrix& b = estimator.in_force().B;
    for (std::size_t i = 0; i < point.dx.size(); ++i) {
      for (std::size_t j = 0; j < at.input_gap.size(); ++j) point.dx[i] += sign * b(i, j) * at.input_gap[j];
    }
  };
  if (meant_otherwise) shift_rates(1.0);
  estimator.moved();
  if (estimator.is_linearized_ahead()) {
    estimator.linearized();
    return false;
  }
  if (facets.linearizer == nullptr || !estimator.needs_linearization(at.expected_step)) return false;
  if (meant_otherwise) shift_rates(-1.0);
  facets.linearizer->linearize(estimator.linearization());
  if (meant_otherwise) shift_rates(1.0);
  estimator.linearized();
  return true;
}

bool renew_feedthrough(Estimator& estimator, const Facets& facets, const Observation& at) {
  read_point(estimator.point(), facets, at);
  if (!estimator.needs_feedthrough(at.expected_step)) return false;
  facets.linearizer->linearize(estimator.linearization());
  estimator.linearized_ahead();
  return true;
}

std::unique_ptr<Estimator> estimator_without_linearization(const VariableTable& variables, bool state_derivatives,
                                                           EstimatorOptions options) {
  const std::size_t states = state_derivatives ? variables.states.size() : 0;
  const Estimator::Sizes sizes{states, variables.inputs.size(), variables.outputs.size()};
  options.reconstruction = 2;
  options.control = OutputControl::Flexible;
  options.linearize = LinearizationRenewal::Once;
  auto estimator = std::make_unique<Estimator>(sizes, true, options);
  Linearization& assumed = estimator->linearization();
  assumed.A.resize(states, states);
  assumed.B.resize(states, sizes.inputs);
  assumed.C.resize(sizes.outputs, states);
  assumed.D.resize(sizes.outputs, sizes.inputs);
  for (std::size_t i = 0; i < sizes.outputs; ++i) {
    for (std::size_t k = 0; k < states; ++k) {
      if (variables.outputs[i].name == variables.states[k].name) assumed.C(i, k) = 1.0;
    }
  }
  estimator->linearized();
  return estimator;
}

}  // namespace entrain::trials
