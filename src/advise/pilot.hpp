#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/interruption.hpp"
#include "analysis/forecast.hpp"
#include "entrain/coupled_system.hpp"
#include "entrain/method.hpp"

namespace entrain::advising {

/// The result of a first run: operating points for a forecast, or why there are none.
struct Pilot {
  std::optional<analysis::RunPath> path;
  bool rates_known = false;     ///< else the path serves for stability, not for errors
  std::vector<double> ranges;   ///< of every output, as in RunPath, and by unit no less than matters
  Time active_by = 0.0;         ///< by then every output has covered a tenth of its range
  std::vector<Fact> obstacles;  ///< to a linearization, naming the subsystems
  std::vector<Fact> driven;     ///< subsystems that depend on time or have events: no errors are forecast
  std::vector<Fact> remarks;    ///< a pilot run that failed before its end, ...
  bool failed = false;          ///< it did not reach the end, or not with numbers
};

struct PilotSettings {
  double share = 1.0;  ///< of the run
  int points = 16;     ///< at most; alike ones are left out, a linear system has one
  Interruption interruption{nullptr};
};

/// Initialises the system and lets the method take it through the first part of its run. Both are used up by it. Throws
/// PartInterrupted.
Pilot run_pilot(CoupledSystem& system, Method& method, const RunSettings& run, const PilotSettings& settings);

}  // namespace entrain::advising
