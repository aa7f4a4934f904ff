#pragma once

#include <span>

#include "entrain/verification.hpp"
#include "report/steps_json.hpp"

namespace entrain::verifying {

/// What a run measured of itself.
class RunMeasurements : public recording::StepHistory {
 public:
  void end(const RunSummary& of) override;

  RunSummary summary;
  reporting::UsualResidual residual;
};

/// What the runs, from the coarsest to the finest, warn of; and what ought to vanish with the step and does not: runs
/// that agree are then no proof.
void note_warnings(std::span<const RunMeasurements> runs, Verification& result);

}  // namespace entrain::verifying
