#pragma once

#include "entrain/verdict.hpp"
#include "record/step_history.hpp"

namespace entrain::reporting {

/// Of a run that has just ended: what `verdict` will read from its files.
Verdict run_verdict(const RunSummary& summary, const recording::StepHistory& history);

}  // namespace entrain::reporting
