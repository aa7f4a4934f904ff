#include "methods/step_controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "entrain/fact_codes.hpp"

namespace entrain::method {
namespace {

constexpr double kStartGrowth = 5.0;
constexpr double kFirstShare = 0.1;  // of what misses about as much as the tolerance allows

}  // namespace

Duration StepLimits::within(Duration size) const {
  return std::clamp(size, min, std::max(min, max));
}

void StepLimits::narrow(const Capabilities& can) {
  if (can.min_step) min = std::max(min, *can.min_step);
  if (can.max_step) max = std::min(max, *can.max_step);
}

StepLimits StepSettings::limits(const DefaultLimits& defaults, Duration step_of_run) const {
  return {min_step > 0.0 ? min_step : defaults.min * step_of_run,
          max_step > 0.0 ? max_step : defaults.max * step_of_run};
}

Duration StepSettings::first_step(Duration step_of_run) const {
  return kFirstShare * std::sqrt(std::clamp(relative_tolerance, 1e-12, 1.0)) * step_of_run;
}

Duration StepController::next(Duration size, double growth, Duration cut_proposal) const {
  // A step that was cut is no reason against the longer one proposed before.
  const Duration longest = std::max(settings_.most_growth * size, cut_proposal);
  return std::clamp(growth * size, settings_.least_growth * size, longest);
}

Duration StepController::next_at_start(Duration size, double growth, Duration usual, Duration cut_proposal) const {
  const Duration longest = std::max({settings_.most_growth * size, std::min(kStartGrowth * size, usual), cut_proposal});
  return std::clamp(growth * size, settings_.least_growth * size, longest);
}

double asymptotic_growth(double error, int order) {
  if (error == 0.0) return std::numeric_limits<double>::infinity();
  if (!(error < std::numeric_limits<double>::infinity())) return 0.0;
  return std::pow(1.0 / error, 1.0 / order);
}

double safe_growth(double error, int order, const StepSettings& settings) {
  return error > 0.0 ? settings.safety * std::pow(error, -1.0 / order) : settings.most_growth;
}

double pi_growth(double error, double previous_error, const PiLaw& law, const StepSettings& settings) {
  return settings.safety * std::pow(error, -law.integral - law.proportional) *
         std::pow(previous_error, law.proportional);
}

Duration step_without_remainder(Duration size, Duration rest, Duration least) {
  constexpr double kRestRounding = 1e-9;
  if (size >= rest * (1.0 - kRestRounding)) return rest;
  if (2.0 * size <= rest) return size;
  return 0.5 * rest >= least * (1.0 - kRestRounding) ? 0.5 * rest : rest;
}

void ErrorNorm::take(base::SignalRange& range, double value, Duration since_last) const {
  // Beyond a half the bounds would cross.
  if (kind == Normalisation::DampedAmplitude) range.narrow(std::min(0.5, 0.5 * damping * since_last));
  range.take(value);
}

double ErrorNorm::of(double error, double value, const base::SignalRange& range,
                     const StepController& controller) const {
  if (error == 0.0) return 0.0;  // also where the tolerance is 0
  return error / controller.allowed(kind == Normalisation::Magnitude ? std::abs(value) : range.span());
}

void warn_of_idle(std::span<const AdaptiveOption> options, std::string_view method, const WrittenOptions& written,
                  std::vector<Problem>& problems) {
  for (const auto& option : options) {
    if (option.value == option.default_value) continue;
    problems.push_back(problem_of({FactCode::OptionWithoutEffect, {fmt::format("method.{}.{}", method, option.name)}},
                                  "add adaptive = true, or leave it out", position_of(written, option.name)));
  }
}

}  // namespace entrain::method
