#pragma once

#include "entrain/judged_run.hpp"
#include "estimate/run_estimator.hpp"

namespace entrain::estimate {

/// What a trial asks for besides, as in EstimateOptions.
struct TrialOptions {
  bool refines = true;
  CallMeter* meter = nullptr;  ///< of the run and its companions
};

/// The same of a description whose method is chosen, in place of a verdict and a search. Without an estimate where the
/// run did not complete.
JudgedRun estimated_run(const SystemDescription& chosen, const JudgedRunOptions& options, const Extensions& extensions,
                        const TrialOptions& trial = {});

}  // namespace entrain::estimate
