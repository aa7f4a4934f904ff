#pragma once

#include "entrain/judged_run.hpp"
#include "estimate/run_estimator.hpp"

namespace entrain::estimate {

/// The same of a description whose method is chosen, in place of a verdict and a search. `refines` as in
/// EstimateOptions. Without an estimate where the run did not complete.
JudgedRun estimated_run(const SystemDescription& chosen, const JudgedRunOptions& options, const Extensions& extensions,
                        bool refines = true);

}  // namespace entrain::estimate
