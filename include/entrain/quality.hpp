#pragma once

#include <vector>

namespace entrain {

/// The two measures of Glumac and Kovacic, "Relative Consistency and Robust Stability Measures for Sequential
/// Co-simulation" (docs/theory/quality.md); smaller is better.
struct Quality {
  double radius = 0.0;       ///< spectral radius per macro step
  double consistency = 0.0;  ///< relative consistency
};

/// Does the fixed-point initialisation of that paper converge, conditions (50) and (51)?
struct Initialisation {
  double radius = 0.0;  ///< of the part of the initial step that carries signals to signals
  bool converges = false;
};

/// A range of a parameter (or of the step) over which the coupling is stable. The ends are limits to rounding, unless
/// they are those of the range that was searched.
struct StableRange {
  double low = 0.0;
  double high = 0.0;
};

struct StableRanges {
  std::vector<StableRange> ranges;  ///< ascending
  StableRange searched;             ///< ends early where the values that may be judged did not suffice

  bool empty() const { return ranges.empty(); }
};

}  // namespace entrain
