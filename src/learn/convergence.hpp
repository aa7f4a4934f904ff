#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "learn/learned_connections.hpp"
#include "learn/repeated_run.hpp"
#include "learn/waveform_law.hpp"

namespace entrain::learning {

struct ConvergenceEstimate {
  std::optional<double> gamma;
  std::optional<double> radius;  ///< of the delayed loop without corrections
  std::vector<Fact> notes;       ///< from what, and where it is largest; or why there is none
};

/// How fast learning these wires will converge, from linearizations at the start. How the states of a subsystem move in
/// one of its own steps is fitted to the first steps of a run where that is exact, because its integrator shows there;
/// else the exact step of its linearization is taken.
ConvergenceEstimate estimate_convergence(RepeatedRun& run, std::span<const LearnedWire> wires,
                                         const LearnOptions& options);

/// The same for inputs that are corrected by polynomials over the steps.
ConvergenceEstimate estimate_waveform_convergence(RepeatedRun& run, const WaveformLaw& law, LearnInputs kind,
                                                  const LearnOptions& options);

}  // namespace entrain::learning
