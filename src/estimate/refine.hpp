#pragma once

#include <string>

#include "entrain/verdict.hpp"

namespace entrain::estimate {

/// The largest of 1, 2 and 5 times a power of ten that is at most `value`, which is above 0.
double round_below(double value);

/// The step, or the tolerances of a method that chooses its steps, with which the bound of the output will be within
/// the tolerance. nullopt where the estimate is no basis for that: an error as large as the motion falls by no order.
std::optional<RunRefinement> refinement(const RunSummary& summary, const OutputError& output, int order,
                                        double tolerance);

/// At most `step`, and such that the steps that subsystems impose fit.
Duration fitting_step(const RunSummary& summary, Duration step);

/// " --step 0.002"
std::string arguments_of(const RunRefinement& refinement);

}  // namespace entrain::estimate
