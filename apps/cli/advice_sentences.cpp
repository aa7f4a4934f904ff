#include "cli/advice_sentences.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "cli/table.hpp"

namespace entrain::cli {
namespace {

std::string ranges_text(const std::vector<StableRange>& ranges) {
  std::vector<std::string> parts;
  constexpr std::size_t kMost = 6;  // that are named; --json has all
  const std::size_t named = std::min(ranges.size(), kMost);
  for (const auto& range : std::span(ranges).first(named)) {
    parts.push_back(fmt::format("from {:.4g} to {:.4g}", range.low, range.high));
  }
  if (named < ranges.size()) parts.push_back(fmt::format("{} times more", ranges.size() - named));
  return fmt::format("{}", fmt::join(parts, ", and again "));
}

/// What the radius means for a disturbance.
std::string decay_text(const Candidate& of) {
  const double radius = *of.radius;
  if (radius >= 1.0)
    return of.stable && radius > 1.0 ? "a disturbance grows, but no faster than the motion itself"
           : of.stable               ? "a disturbance neither grows nor falls"
           : of.harmless             ? "a disturbance grows, but not by a hundredth within the run"
                                     : "a disturbance grows";
  if (radius <= 0.0) return "a disturbance is gone after a step";
  return fmt::format("a disturbance falls to a half in {:.3g} macro steps", std::log(0.5) / std::log(radius));
}

}  // namespace

std::vector<std::string> robustness_sentences(const Advice& advice) {
  std::vector<std::string> lines;
  if (!advice.robustness) return lines;
  const auto& of = *advice.robustness;
  const auto& candidate = advice.candidates[of.candidate];
  lines.push_back(fmt::format("{} at {:.4g} s: spectral radius {:.6g}, {}", candidate.title(), advice.step,
                              *candidate.radius, decay_text(candidate)));
  const auto& [ranges, searched] = candidate.stable_steps;
  if (!ranges.empty()) {
    lines.push_back(fmt::format("it is stable with steps {} s (searched to {:.4g} s){}", ranges_text(ranges),
                                searched.high, ranges.size() > 1 ? ": longer is not always worse" : ""));
  } else if (candidate.error) {
    lines.push_back(
        fmt::format("no step from {:.4g} to {:.4g} s was found at which it is stable", searched.low, searched.high));
  }
  if (of.consistency) {
    lines.push_back(fmt::format(
        "after two steps from any state of length 1 inputs and outputs differ by {:.3g} at most (relative consistency)",
        *of.consistency));
  }
  for (const auto& [subsystem, margin] : of.margins) {
    if (margin == 0.0) continue;  // what grows as it is has no margin, as reported above
    lines.push_back(
        fmt::format("the step of '{}' may have an error of {:.3g} (2-norm) before the coupling is unstable (structured "
                    "stability radius)",
                    subsystem, margin));
  }
  if (of.initialisation) {
    lines.push_back(
        fmt::format("initialisation by going round the loops {}: what goes round is multiplied by {:.3g} "
                    "(conditions (50), (51))",
                    of.initialisation->converges ? "converges" : "does not converge", of.initialisation->radius));
  }
  return lines;
}

std::vector<std::string> parameter_sentences(const Advice& advice) {
  std::vector<std::string> lines;
  for (const auto& of : advice.parameters) {
    const auto searched =
        fmt::format("searched from {:.4g} to {:.4g}, with {} at {:.4g} s", of.low, of.high, of.config, of.step);
    lines.push_back(of.stable.empty() ? fmt::format("{}, now {:.4g}: nowhere stable ({})", of.name, of.value, searched)
                                      : fmt::format("{}, now {:.4g}: stable {} ({})", of.name, of.value,
                                                    ranges_text(of.stable), searched));
  }
  if (advice.joint_factor && advice.parameters.size() > 1) {
    lines.push_back(
        *advice.joint_factor < kWidestFactor
            ? fmt::format("any of them, up or down, may change by a factor of {:.4g} before a combination is "
                          "unstable",
                          *advice.joint_factor)
            : fmt::format("no combination of changes by up to a factor of {:g}, up or down, is unstable",
                          kWidestFactor));
  }
  return lines;
}

std::string front_text(const Advice& advice) {
  if (!advice.front) return {};
  constexpr std::size_t kMostRows = 16;
  const auto& points = advice.front->points;
  Table table({"step, s", "radius", "consistency", "coupling"});
  for (std::size_t column = 0; column < 3; ++column) table.align_right(column);
  const std::size_t stride = points.size() / kMostRows + 1;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool knee = i == advice.front->knee;
    if (i % stride != 0 && !knee) continue;
    const auto& of = points[i];
    table.add_row({fmt::format("{:.3g}", of.step), fmt::format("{:.4f}", of.quality.radius),
                   fmt::format("{:.3g}", of.quality.consistency),
                   of.config.title() + (knee ? " <- gives up least" : "")});
  }
  return fmt::format("best compromises of radius, consistency and step: {} found, {}\n{}", points.size(),
                     advice.front->how ? render(*advice.front->how) : std::string(), table.text(2));
}

}  // namespace entrain::cli
