#pragma once

#include "base/function_ref.hpp"
#include "entrain/quality.hpp"

namespace entrain::analysis {

/// Where to search: `points` evenly spaced by ratio (by difference when `low` is not above 0), and more between them
/// where motions oscillate, up to `most`.
struct SearchRange {
  double low = 0.0;
  double high = 0.0;
  int points = 200;
  int most = 4000;

  double at(int point) const;
};

/// What a coupling does at a value of the parameter, or of the step.
struct StabilityAt {
  double radius = 0.0;  ///< stable below 1
  /// Phase of the fastest motion in a macro step, rad (spectral_content.hpp): the radius oscillates with it.
  double phase = 0.0;
};

/// All ranges where the radius is below 1. Islands and gaps narrower than the spacing are looked for where the radius
/// has a local extremum on the side of 1 where its neighbours are.
StableRanges stable_ranges(const SearchRange& search, base::FunctionRef<StabilityAt(double)> stability);

/// The end of the first of them when it begins at search.low, which must be stable: nothing behind it is judged.
double first_limit(const SearchRange& search, base::FunctionRef<StabilityAt(double)> stability);

}  // namespace entrain::analysis
