#include "estimation/observe.hpp"

#include <algorithm>

namespace entrain {

bool observe(Estimator& estimator, const Facets& facets, const Observation& at) {
  EstimatorPoint& point = estimator.point();
  point.t = at.t;
  facets.states->states(point.x);
  if (!estimator.degraded()) {
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
  if (!estimator.needs_linearization(at.expected_step)) return false;
  facets.linearizer->linearize(estimator.linearization());
  estimator.linearized();
  return true;
}

}  // namespace entrain
