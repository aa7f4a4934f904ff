#pragma once

#include <span>

#include "entrain/subsystem.hpp"
#include "estimation/estimator.hpp"

namespace entrain {

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

}  // namespace entrain
