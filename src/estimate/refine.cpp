#include "estimate/refine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <variant>

namespace entrain::estimate {
namespace {

constexpr double kToleranceReserve = 0.8;  // of the tolerance is aimed at
constexpr double kStepRounding = 1e-12;    // of a quotient of two steps

/// digit * 10^power, to the last bit.
double decimal(int digit, int power) {
  const auto text = fmt::format("{}e{}", digit, power);
  double value = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The smallest of 1, 2 and 5 times a power of ten that is at least `value`.
double round_above(double value) {
  return 1.0 / round_below(1.0 / value);
}

/// The tolerances that the steps follow, all smaller by the same factor: the error goes with them.
std::optional<RunRefinement> smaller_tolerances(const RunSummary& summary, double factor) {
  RunRefinement result;
  for (const auto& name : summary.step_tolerances) {
    const auto found = summary.parameters.find(name);
    const auto* value = found == summary.parameters.end() ? nullptr : std::get_if<double>(&found->second);
    if (value != nullptr && *value > 0.0) result.options[name] = round_below(factor * *value);
  }
  if (result.options.empty()) return std::nullopt;
  return result;
}

}  // namespace

double round_below(double value) {
  const int power = static_cast<int>(std::floor(std::log10(value)));
  for (const int digit : {5, 2}) {
    if (const double rounded = decimal(digit, power); rounded <= value * (1.0 + kStepRounding)) return rounded;
  }
  return decimal(1, power);
}

Duration fitting_step(const RunSummary& summary, Duration step) {
  Duration imposed = 0.0;  // the smallest
  for (const auto& subsystem : summary.subsystems) {
    const auto& own = subsystem.capabilities.imposed_step;
    if (own && (imposed == 0.0 || *own < imposed)) imposed = *own;
  }
  if (imposed == 0.0) return round_below(step);
  const double parts = imposed / step;
  if (parts <= 1.0) return imposed * std::floor(step / imposed * (1.0 + kStepRounding));
  return imposed / std::round(round_above(parts));
}

std::optional<RunRefinement> refinement(const RunSummary& summary, const OutputError& output, int order,
                                        double tolerance) {
  if (!(output.bound > tolerance && output.bound <= 1.0)) return std::nullopt;
  const double factor = kToleranceReserve * tolerance / output.bound;
  if (!summary.step_tolerances.empty()) return smaller_tolerances(summary, factor);
  const double formal = order > 0 ? static_cast<double>(order) : 1.0;
  const double observed = std::clamp(output.order.value_or(formal), 0.5, formal);
  RunRefinement result;
  result.step = fitting_step(summary, summary.step * std::pow(factor, 1.0 / observed));
  return result;
}

std::string arguments_of(const RunRefinement& refinement) {
  std::string text;
  if (refinement.step) text += fmt::format(" --step {}", *refinement.step);
  for (const auto& [name, value] : refinement.options) text += fmt::format(" --option {}={}", name, value);
  return text;
}

}  // namespace entrain::estimate
