#pragma once

#include <vector>

#include "advise/candidates.hpp"
#include "advise/interruption.hpp"
#include "analysis/forecast.hpp"
#include "entrain/advice.hpp"

namespace entrain::advising {

/// A system as its measures see it. Borrows.
struct LinearizedRun {
  const method::MethodRegistry& methods;
  const analysis::RunPath& path;
  const std::vector<std::size_t>& found;  ///< the calling sequence where a config names none
  Duration step = 0.0;                    ///< macro step asked for
  Interruption interruption{nullptr};

  /// Throws PartInterrupted.
  ConfigForecast of(const MethodConfig& config) const {
    interruption.check();
    return {methods, config, found};
  }
};

/// The measures of an explicit config at that step, the worst over the operating points. What is too large to be
/// computed densely is left out.
Robustness robustness_of(const MethodConfig& config, const LinearizedRun& linearized);

/// Where the config is stable, by the step: from a 64th of the one asked for to 1024 times it, or `longest`, or as far
/// as a bounded number of steps reaches. `imposed` steps allow only steps that fit them.
StableRanges stable_steps_of(const MethodConfig& config, const LinearizedRun& linearized,
                             const std::vector<Duration>& imposed, Duration longest);

/// Radius and consistency of explicit configs, radius of implicit ones, over the step. Empty when nothing can be known.
QualityCurve curve_of(const MethodConfig& config, const LinearizedRun& linearized, Duration longest);

/// The radius over the step and one gain, the same for all inputs.
HeatMap heat_over_gain(const MethodConfig& config, const LinearizedRun& linearized, Duration longest);

}  // namespace entrain::advising
