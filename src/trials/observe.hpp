#pragma once

#include <memory>
#include <span>

#include "entrain/subsystem.hpp"
#include "trials/estimator.hpp"

namespace entrain::trials {

/// Where a subsystem is, as its surroundings know it.
struct Observation {
  Time t = 0.0;
  Duration expected_step = 0.0;
  std::span<const double> inputs;
  std::span<const double> outputs;
  /// What it really held differs from `inputs` by this (a fit of a lower degree); empty = nothing.
  std::span<const double> input_gap;
};

/// Moves the estimator to where the subsystem is: states and, if need be, a new linearization. True when linearized.
bool observe(Estimator& estimator, const Facets& facets, const Observation& at);

/// At the end of a step that was made with other inputs than meant, before D is used to make good for it: a new
/// linearization there, if need be. True when linearized; `observe` then asks for none.
bool renew_feedthrough(Estimator& estimator, const Facets& facets, const Observation& at);

/// For a subsystem that provides no linearization. With state derivatives: A = B = 0, so that each state is continued
/// by the parabola through its last three derivatives, and outputs that are states follow. Without: no states at all.
/// Other outputs are continued from their past, by the order that predicted the last one best.
std::unique_ptr<Estimator> estimator_without_linearization(const VariableTable& variables, bool state_derivatives,
                                                           EstimatorOptions options);

}  // namespace entrain::trials
