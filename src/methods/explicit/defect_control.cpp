#include "methods/explicit/defect_control.hpp"

#include <algorithm>
#include <cmath>

#include "base/grid.hpp"

namespace entrain::method {
namespace {

/// By default: held inputs need steps in proportion to the tolerance, others never such short ones as the first.
Duration least_step(const StepSettings& settings, Duration step_of_run) {
  const Duration first = settings.first_step(step_of_run);
  return settings.order == 1 ? std::min(first, 0.1 * settings.relative_tolerance * step_of_run) : first;
}

}  // namespace

void DefectControl::start(const CoupledSystem& system, const RunSettings& run, StepSettings settings) {
  settings.least_growth = 0.2;
  settings.most_growth = 1.5;
  step_of_run_ = run.step;
  StepLimits limits = settings.limits(kExplicitLimits, run.step);
  if (settings.min_step == 0.0) limits.min = std::min(limits.min, least_step(settings, run.step));
  for (std::size_t s = 0; s < system.size(); ++s) limits.narrow(system.capabilities(SubsystemId{s}));
  controller_ = {settings, limits};
  stop_ = run.stop;
  memory_ = {.now = run.start, .proposed = settings.first_step(run.step)};
  memory_.ranges.resize(system.outputs().size());
  for (std::size_t y = 0; y < memory_.ranges.size(); ++y) memory_.ranges[y].begin(system.outputs()[y]);
}

Duration DefectControl::next(Time event) const {
  const Time end = std::min(stop_, event);
  const Duration left = end - memory_.now;
  const Duration size = controller_.within_limits(memory_.proposed);
  return base::same_time(memory_.now + size, end) ? left : step_without_remainder(size, left, controller_.limits().min);
}

void DefectControl::judge(const CoupledSystem& system, Time reached) {
  const Duration size = reached - memory_.now;
  const auto outputs = system.outputs();
  for (std::size_t y = 0; y < memory_.ranges.size(); ++y) memory_.ranges[y].take(outputs[y]);
  double worst = 0.0;
  for (const auto& connection : system.graph().connections()) {
    const double defect = std::abs(system.inputs()[connection.input] - system.incoming(connection.input));
    const double in_output_units = connection.factor == 0.0 ? 0.0 : defect / std::abs(connection.factor);
    if (in_output_units == 0.0) continue;  // also where nothing is allowed
    const double size_of_output = memory_.ranges[connection.output].size(base::size_floor::kResting);
    worst = std::max(worst, in_output_units / controller_.allowed(size_of_output));
  }
  if (!(worst <= 1.0)) ++memory_.beyond_tolerance;
  const bool cut = size < memory_.proposed;
  const double growth = asymptotic_growth(worst, controller_.settings().order);
  memory_.starting = memory_.starting && !controller_.leaves_start(growth);
  const Duration cut_proposal = cut ? memory_.proposed : 0.0;
  memory_.proposed = memory_.starting ? controller_.next_at_start(size, growth, step_of_run_, cut_proposal)
                                      : controller_.next(size, growth, cut_proposal);
  memory_.now = reached;
}

void DefectControl::restart() {
  memory_.proposed = controller_.settings().first_step(step_of_run_);
  memory_.starting = true;
}

}  // namespace entrain::method
