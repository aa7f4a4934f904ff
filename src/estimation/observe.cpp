#include "estimation/observe.hpp"

#include <algorithm>

namespace entrain {

bool observe(Estimator& estimator, const Facets& facets, const Observation& at) {
  const EstimatorPoint point = estimator.point();
  point.t = at.t;
  if (!point.x.empty()) facets.states->states(point.x);
  if (!point.x.empty() && !estimator.degraded()) {
    facets.states->derivatives(point.dx);
    // They belong to the inputs it held; the point is meant under `inputs`: f + B gap.
    if (!at.input_gap.empty() && estimator.has_linearization()) {
      const Matrix& b = estimator.in_force().B;
      for (std::size_t i = 0; i < point.dx.size(); ++i) {
        for (std::size_t j = 0; j < at.input_gap.size(); ++j) point.dx[i] += b(i, j) * at.input_gap[j];
      }
    }
  }
  std::copy(at.inputs.begin(), at.inputs.end(), point.u.begin());
  std::copy(at.outputs.begin(), at.outputs.end(), point.y.begin());
  estimator.moved();
  if (facets.linearizer == nullptr || !estimator.needs_linearization(at.expected_step)) return false;
  facets.linearizer->linearize(estimator.linearization());
  estimator.linearized();
  return true;
}

std::unique_ptr<Estimator> estimator_without_linearization(const VariableTable& variables, bool state_derivatives,
                                                           EstimatorOptions options) {
  const std::size_t states = state_derivatives ? variables.states.size() : 0;
  const Estimator::Sizes sizes{states, variables.inputs.size(), variables.outputs.size()};
  options.reconstruction = 2;
  options.control = "flexible";
  options.linearize = "once";
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

}  // namespace entrain
