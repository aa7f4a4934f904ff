#pragma once

#include <vector>

#include "analysis/forecast.hpp"
#include "facade/advice.hpp"

namespace entrain {

/// A system as its measures see it. Borrows.
struct Picture {
  const RunPath& path;
  const std::vector<std::size_t>& found;  ///< the calling sequence where a way names none
  Duration step = 0.0;                    ///< macro step asked for
};

/// The measures of an explicit way at that step, the worst over the operating points. What is too large to be computed
/// densely is left out.
Robustness robustness_of(const Way& way, const Picture& picture);

/// Where the way is stable, by the step: from a 64th of the one asked for to 1024 times it, or `longest`, or as far as
/// a bounded number of steps reaches. `imposed` steps allow only steps that fit them.
StableRanges stable_steps_of(const Way& way, const Picture& picture, const std::vector<Duration>& imposed,
                             Duration longest);

/// Radius and consistency of explicit ways, radius of implicit ones, over the step. Empty when nothing can be known.
QualityCurve curve_of(const Way& way, const Picture& picture, Duration longest);

/// The radius over the step and one gain, the same for all inputs.
HeatMap heat_over_gain(const Way& way, const Picture& picture, Duration longest);

}  // namespace entrain
