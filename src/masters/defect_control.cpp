#include "masters/defect_control.hpp"

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
  start_ = now_ = run.start;
  stop_ = run.stop;
  proposed_ = run.step;
  beyond_tolerance_ = 0;
  ranges_.resize(system.outputs().size());
  for (std::size_t y = 0; y < ranges_.size(); ++y) ranges_[y].begin(system.outputs()[y]);
}

Duration DefectControl::next(Time until) {
  const Time end = std::min(stop_, until);
  const Duration left = end - now_;
  const Duration size = std::clamp(proposed_, settings_.min_step, std::max(settings_.min_step, settings_.max_step));
  return same_time(now_ + size, end) ? left : step_without_crumb(size, left, settings_.min_step);
}

void DefectControl::judge(const CoupledSystem& system, Time reached) {
  const Duration size = reached - now_;
  const auto outputs = system.outputs();
  for (std::size_t y = 0; y < ranges_.size(); ++y) ranges_[y].take(outputs[y], size, control_);
  double worst = 0.0;
  for (const auto& connection : system.graph().connections()) {
    const double defect = std::abs(system.inputs()[connection.input] - system.incoming(connection.input));
    const double in_output_units = connection.factor == 0.0 ? 0.0 : defect / std::abs(connection.factor);
    if (in_output_units == 0.0) continue;  // also where nothing is allowed
    const double allowed =
        settings_.absolute_tolerance + settings_.relative_tolerance * size_of(ranges_[connection.output]);
    worst = std::max(worst, in_output_units / allowed);
  }
  if (!(worst <= 1.0)) ++beyond_tolerance_;
  const bool cut = size < proposed_;
  proposed_ = proposed_step(size, dilatation(worst, settings_.degree), cut ? proposed_ : 0.0, control_);
  now_ = reached;
}

std::vector<double> DefectControl::memory() const {
  std::vector<double> numbers{now_, proposed_, static_cast<double>(beyond_tolerance_)};
  for (const auto& range : ranges_) {
    numbers.push_back(range.low());
    numbers.push_back(range.high());
  }
  return numbers;
}

void DefectControl::restore(std::span<const double> numbers) {
  now_ = numbers[0];
  proposed_ = numbers[1];
  beyond_tolerance_ = static_cast<std::uint64_t>(numbers[2]);
  for (std::size_t y = 0; y < ranges_.size(); ++y) ranges_[y].set(numbers[3 + 2 * y], numbers[4 + 2 * y]);
}

}  // namespace entrain
