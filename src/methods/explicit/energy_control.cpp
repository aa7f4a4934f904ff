#include "methods/explicit/energy_control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "coupling/bonds.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain {
namespace {

// A proportional-integral controller of the logarithm of the step (Sadjina et al. 2017), with usual constants.
constexpr double kEnergySafety = 0.99;
constexpr double kIntegral = 0.15;
constexpr double kProportional = 0.2;
constexpr double kLeastChange = 0.2;
constexpr double kMostChange = 1.5;
constexpr double kLeastError = 1e-6;  // below, the change is limited anyway; zero would be infinite

}  // namespace

void EnergyTolerances::bind(OptionBinder& binder) {
  binder.number(
      "energy_relative_tolerance", relative,
      "of step_control = \"energy\": residual energy of a step, relative to what the largest power carries in it",
      {1e-14, 1.0});
  binder.number("energy_absolute_tolerance", absolute,
                "of step_control = \"energy\": residual energy of a step that is allowed anyway, in J", {0.0, 1e300});
}

EnergyControlOptions EnergyControlOptions::in_force(const RunSettings& settings) const {
  EnergyControlOptions result = *this;
  if (min_step <= 0.0) result.min_step = 1e-3 * settings.step;
  if (max_step <= 0.0) result.max_step = 100.0 * settings.step;
  return result;
}

void EnergyControlOptions::check_times(const RunSettings& settings, const WrittenOptions& written,
                                       std::vector<Problem>& problems) const {
  const auto [tolerances_in_force, smallest, largest] = in_force(settings);
  const bool both_written = min_step > 0.0 && max_step > 0.0;  // compared with each other by the method
  if (smallest > largest && !both_written) {
    problems.push_back(
        problem_of(Fact{FactCode::SmallestAboveLargest, {}, {{"smallest", smallest, "s"}, {"largest", largest, "s"}}},
                   "change min_step or max_step (0: step / 1000 and 100 step)",
                   position_of(written, min_step > 0.0 ? "min_step" : "max_step")));
  } else if (const Duration whole = settings.stop - settings.start; smallest > whole) {
    problems.push_back(
        problem_of(Fact{FactCode::MinStepLongerThanRun, {}, {{"min_step", smallest, "s"}, {"run", whole, "s"}}},
                   "choose a smaller one", position_of(written, "min_step")));
  }
}

void EnergyControl::start(const CoupledSystem& system, const EnergyControlOptions& options,
                          const RunSettings& settings) {
  options_ = options.in_force(settings);
  for (std::size_t s = 0; s < system.size(); ++s) {
    const auto& can = system.capabilities(SubsystemId{s});
    if (can.min_step) options_.min_step = std::max(options_.min_step, *can.min_step);
    if (can.max_step) options_.max_step = std::min(options_.max_step, *can.max_step);
  }
  options_.max_step = std::max(options_.max_step, options_.min_step);  // who takes less is stepped in parts
  memory_.now = settings.start;
  memory_.step = std::clamp(settings.step, options_.min_step, options_.max_step);
  memory_.previous_error = 1.0;
  memory_.largest_power = 0.0;
}

/// Root mean square over the bonds of the residual energy of the step, in units of what is allowed.
double EnergyControl::error_of_step(const CoupledSystem& system, Duration size) {
  double squares = 0.0;
  for (const auto& bond : system.bonds()) {
    const BondPowers powers = powers_of(bond, system.inputs(), system.outputs());
    memory_.largest_power = std::max({memory_.largest_power, std::abs(powers.received), std::abs(powers.given)});
    const double allowed = options_.tolerances.absolute + options_.tolerances.relative * memory_.largest_power * size;
    const double error = allowed > 0.0 ? powers.residual() * size / allowed : 0.0;
    squares += error * error;
  }
  return std::sqrt(squares / static_cast<double>(system.bonds().size()));
}

void EnergyControl::take(const CoupledSystem& system, Time now) {
  const Duration size = now - memory_.now;
  const double error = std::max(error_of_step(system, size), kLeastError);
  const double change =
      kEnergySafety * std::pow(error, -kIntegral - kProportional) * std::pow(memory_.previous_error, kProportional);
  memory_.previous_error = error;
  memory_.now = now;
  memory_.step = std::clamp(size * std::clamp(change, kLeastChange, kMostChange), options_.min_step, options_.max_step);
}

}  // namespace entrain
