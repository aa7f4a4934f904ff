#pragma once

#include <vector>

#include "analysis/hermite_step.hpp"
#include "analysis/step_program.hpp"

namespace entrain::analysis {

/// A system within its run: linear around `time`, where its states change by `rates` (dx/dt).
struct OperatingPoint {
  Time time = 0.0;
  LinearNetwork network;
  std::vector<double> rates;
};

/// What a forecast needs of a run: at least one operating point, the first at the start.
struct RunPath {
  std::vector<OperatingPoint> points;  ///< each stands for the time up to the next
  Time stop = 0.0;
  std::vector<double> ranges;  ///< of every output: max - min, or its size when it does not move
};

/// The ranges of a path that was seen in part only: as wide, at least, as its linear motion makes them up to the stop.
std::vector<double> ranges_along(const RunPath& path);

struct Forecast {
  double radius = 0.0;  ///< spectral radius per macro step, the largest over the points
  double growth =
      0.0;  ///< largest logarithm per macro step; of a motion that grows itself, the part beyond twice its rate
  double steps = 1.0;  ///< macro steps in the run
  /// Rms over the run of the worst output, relative to its range; infinite when it overflows, or no step fits.
  double error = 0.0;
  std::size_t worst_output = 0;

  /// The coupling makes nothing grow that does not grow in the exact motion.
  bool stable() const;
  /// What grows has not yet grown by a hundredth when the run ends.
  bool harmless() const;
  /// A point of the path: the radius of the step, and that of the motion itself (1 or less where it does not matter).
  void take_point(double radius_here, double own_radius);
};

/// Beyond this length of z no forecast is made: the powers of the step matrix are dense.
inline constexpr std::size_t kLargestForecast = 300;
bool can_forecast(const LinearNetwork& network, int degree);

/// The error of a run: e <- Phi e + tau, where tau is the error of one step that starts on the exact motion.
/// For a linear system this is the error itself, first steps included; else that of the system linearized along the
/// path.
Forecast forecast_explicit(const RunPath& path, const CouplingChoice& choice);
/// The same for implicit methods with Hermite inputs (hermite_step.hpp).
Forecast forecast_implicit(const RunPath& path, Duration step, StepEnd from);

/// The spectral radius per macro step alone.
double explicit_radius(const LinearNetwork& network, const CouplingChoice& choice);
double implicit_radius(const LinearNetwork& network, Duration step, StepEnd from);

}  // namespace entrain::analysis
