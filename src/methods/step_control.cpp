#include "methods/step_control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "entrain/fact_codes.hpp"

namespace entrain {

void OutputRange::take(double value, Duration since_last, const StepControlSettings& settings) {
  if (settings.normalisation == Normalisation::DampedAmplitude) {
    // Beyond a half the bounds would cross.
    const double share = std::min(0.5, 0.5 * settings.damping * since_last);
    const double forgotten = share * (high_ - low_);
    high_ -= forgotten;
    low_ += forgotten;
  }
  high_ = std::max(high_, value);
  low_ = std::min(low_, value);
}

double normalised_error(double error, double value, const OutputRange& range, const StepControlSettings& settings) {
  if (error == 0.0) return 0.0;  // also where the tolerance is 0
  const double size = settings.normalisation == Normalisation::Magnitude ? std::abs(value) : range.high() - range.low();
  return error / (settings.absolute_tolerance + settings.relative_tolerance * size);
}

double dilatation(double normalised, int order) {
  if (normalised == 0.0) return std::numeric_limits<double>::infinity();
  if (!(normalised < std::numeric_limits<double>::infinity())) return 0.0;
  return std::pow(1.0 / normalised, 1.0 / (order + 1));
}

Duration proposed_step(Duration size, double dilatation, Duration cut_proposal, const StepControlSettings& settings) {
  // A step that was cut says nothing against the longer one proposed before.
  const Duration longest = std::max(settings.most_dilatation * size, cut_proposal);
  return std::clamp(dilatation * size, settings.least_dilatation * size, longest);
}

Duration step_without_crumb(Duration size, Duration rest, Duration least) {
  constexpr double kRestRounding = 1e-9;
  if (size >= rest * (1.0 - kRestRounding)) return rest;
  if (2.0 * size <= rest) return size;
  return 0.5 * rest >= least * (1.0 - kRestRounding) ? 0.5 * rest : rest;
}

void warn_of_idle(std::span<const AdaptiveOption> options, std::string_view method, const WrittenOptions& written,
                  std::vector<Problem>& problems) {
  for (const auto& option : options) {
    if (option.value == option.default_value) continue;
    problems.push_back(problem_of({FactCode::OptionWithoutEffect, {fmt::format("method.{}.{}", method, option.name)}},
                                  "add adaptive = true, or leave it out", position_of(written, option.name)));
  }
}

}  // namespace entrain
