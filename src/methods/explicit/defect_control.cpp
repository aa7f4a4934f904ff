#include "methods/explicit/defect_control.hpp"

#include <algorithm>
#include <cmath>

#include "base/grid.hpp"

namespace entrain {
namespace {

/// What a defect is relative to: the range of the output so far. Of one that rests, a millionth of its size, because
/// its range is but rounding.
double size_of(const OutputRange& range) {
  constexpr double kLeastShare = 1e-6;
  return std::max(range.high() - range.low(), kLeastShare * std::max(std::abs(range.low()), std::abs(range.high())));
}

}  // namespace

void DefectControl::start(const CoupledSystem& system, const RunSettings& run, const Settings& settings) {
  settings_ = settings;
  if (settings_.min_step == 0.0) settings_.min_step = 1e-3 * run.step;
  if (settings_.max_step == 0.0) settings_.max_step = 100.0 * run.step;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const auto& can = system.capabilities(SubsystemId{s});
    if (can.min_step) settings_.min_step = std::max(settings_.min_step, *can.min_step);
    if (can.max_step) settings_.max_step = std::min(settings_.max_step, *can.max_step);
  }
  control_.normalisation = Normalisation::Amplitude;
  control_.least_dilatation = 0.2;
  control_.most_dilatation = 1.5;
  start_ = memory_.now = run.start;
  stop_ = run.stop;
  memory_.proposed = run.step;
  memory_.beyond_tolerance = 0;
  memory_.ranges.resize(system.outputs().size());
  for (std::size_t y = 0; y < memory_.ranges.size(); ++y) memory_.ranges[y].begin(system.outputs()[y]);
}

Duration DefectControl::next(Time until) {
  const Time end = std::min(stop_, until);
  const Duration left = end - memory_.now;
  const Duration size =
      std::clamp(memory_.proposed, settings_.min_step, std::max(settings_.min_step, settings_.max_step));
  return same_time(memory_.now + size, end) ? left : step_without_crumb(size, left, settings_.min_step);
}

void DefectControl::judge(const CoupledSystem& system, Time reached) {
  const Duration size = reached - memory_.now;
  const auto outputs = system.outputs();
  for (std::size_t y = 0; y < memory_.ranges.size(); ++y) memory_.ranges[y].take(outputs[y], size, control_);
  double worst = 0.0;
  for (const auto& connection : system.graph().connections()) {
    const double defect = std::abs(system.inputs()[connection.input] - system.incoming(connection.input));
    const double in_output_units = connection.factor == 0.0 ? 0.0 : defect / std::abs(connection.factor);
    if (in_output_units == 0.0) continue;  // also where nothing is allowed
    const double allowed =
        settings_.absolute_tolerance + settings_.relative_tolerance * size_of(memory_.ranges[connection.output]);
    worst = std::max(worst, in_output_units / allowed);
  }
  if (!(worst <= 1.0)) ++memory_.beyond_tolerance;
  const bool cut = size < memory_.proposed;
  memory_.proposed = proposed_step(size, dilatation(worst, settings_.degree), cut ? memory_.proposed : 0.0, control_);
  memory_.now = reached;
}

}  // namespace entrain
