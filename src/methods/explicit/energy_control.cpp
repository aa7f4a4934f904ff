#include "methods/explicit/energy_control.hpp"

#include <algorithm>
#include <cmath>

#include "coupling/bonds.hpp"
#include "coupling/engine.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::method {
namespace {

constexpr PiLaw kEcco{.integral = 0.15, .proportional = 0.2};
constexpr double kLeastError = 1e-6;  // below, the change is limited anyway; zero would be infinite

StepSettings ecco_settings(const EnergyTolerances& tolerances, const EnergyControl::Bounds& bounds) {
  return {.relative_tolerance = tolerances.relative,
          .absolute_tolerance = tolerances.absolute,
          .min_step = bounds.min_step,
          .max_step = bounds.max_step,
          .safety = 0.99,
          .least_growth = 0.2,
          .most_growth = 1.5};
}

}  // namespace

void EnergyTolerances::bind(OptionBinder& binder) {
  binder.number(
      "energy_relative_tolerance", relative,
      "of step_control = \"energy\": residual energy of a step, relative to what the largest power carries in it",
      {1e-14, 1.0});
  binder.number("energy_absolute_tolerance", absolute,
                "of step_control = \"energy\": residual energy of a step that is allowed anyway, in J", {0.0, 1e300});
}

void EnergyControl::check_times(const Bounds& bounds, const RunSettings& settings, const WrittenOptions& written,
                                std::vector<Problem>& problems) {
  const auto [smallest, largest] = ecco_settings({}, bounds).limits(kExplicitLimits, settings.step);
  const bool both_written = bounds.min_step > 0.0 && bounds.max_step > 0.0;  // compared with each other by the method
  if (smallest > largest && !both_written) {
    problems.push_back(
        problem_of(Fact{FactCode::SmallestAboveLargest, {}, {{"smallest", smallest, "s"}, {"largest", largest, "s"}}},
                   "change min_step or max_step (0: step / 1000 and 100 step)",
                   position_of(written, bounds.min_step > 0.0 ? "min_step" : "max_step")));
  } else if (const Duration whole = settings.stop - settings.start; smallest > whole) {
    problems.push_back(
        problem_of(Fact{FactCode::MinStepLongerThanRun, {}, {{"min_step", smallest, "s"}, {"run", whole, "s"}}},
                   "choose a smaller one", position_of(written, "min_step")));
  }
}

void EnergyControl::start(const CoupledSystem& system, const EnergyTolerances& tolerances, const Bounds& bounds,
                          const RunSettings& run) {
  const StepSettings settings = ecco_settings(tolerances, bounds);
  StepLimits limits = settings.limits(kExplicitLimits, run.step);
  // A subsystem that takes less than the smallest step is stepped in parts.
  for (std::size_t s = 0; s < system.size(); ++s) limits.narrow(system.capabilities(SubsystemId{s}));
  controller_ = {settings, limits};
  memory_ = {.now = run.start, .step = controller_.within_limits(run.step)};
}

/// Root mean square over the bonds of the residual energy of the step, in units of what is allowed.
double EnergyControl::error_of_step(const CoupledSystem& system, Duration size) {
  double squares = 0.0;
  for (const auto& bond : system.engine().bonds()) {
    const coupling::BondPowers powers = coupling::powers_of(bond, system.inputs(), system.outputs());
    memory_.largest_power = std::max({memory_.largest_power, std::abs(powers.received), std::abs(powers.given)});
    const auto& settings = controller_.settings();
    const double allowed = settings.absolute_tolerance + settings.relative_tolerance * memory_.largest_power * size;
    const double error = allowed > 0.0 ? powers.residual() * size / allowed : 0.0;
    squares += error * error;
  }
  return std::sqrt(squares / static_cast<double>(system.engine().bonds().size()));
}

/// h <- h s e(k)^(-I - P) e(k-1)^P within the bounds of growth.
void EnergyControl::judge(const CoupledSystem& system, Time reached) {
  const Duration size = reached - memory_.now;
  const double error = std::max(error_of_step(system, size), kLeastError);
  const double growth = pi_growth(error, memory_.previous_error, kEcco, controller_.settings());
  memory_.previous_error = error;
  memory_.now = reached;
  memory_.step = controller_.within_limits(controller_.next(size, growth));
}

}  // namespace entrain::method
