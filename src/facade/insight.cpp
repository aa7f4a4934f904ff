#include "facade/insight.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "entrain/error.hpp"
#include "facade/candidates.hpp"

namespace entrain {
namespace {

/// Steps of curves and maps: evenly spaced by ratio around the one asked for.
std::vector<Duration> steps_around(Duration step, Duration longest, int count) {
  const SearchRange range{step / 64.0, std::max(step, std::min(256.0 * step, longest)), count};
  std::vector<Duration> steps;
  steps.reserve(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) steps.push_back(range.at(k));
  return steps;
}

void worsen(const LinearNetwork& network, const CouplingChoice& choice, Robustness& result) {
  // The structured radius solves with a matrix of this size 360 times and more.
  constexpr std::size_t kLargestMargin = 120;
  const auto steps = subsystem_steps(network, choice.step, choice.degree);
  const StepProgram program(network, steps, choice);
  if (program.size() > kLargestDense) return;
  result.consistency =
      std::max(result.consistency.value_or(0.0), relative_consistency(program, exact_coupling(network)));
  const Initialisation here = fixed_point_initialisation(program);
  if (!result.initialisation || here.radius > result.initialisation->radius) result.initialisation = here;
  if (program.cycle() > 1 || program.size() > kLargestMargin) return;
  const bool first = result.margins.empty();
  for (std::size_t s = 0; s < network.subsystems.size(); ++s) {
    if (network.subsystems[s].matrices.A.rows == 0) continue;  // it has no states that could step otherwise
    const auto& name = network.subsystems[s].name;
    const double margin = structured_radius(program, s);
    if (first) {
      result.margins.emplace_back(name, margin);
      continue;
    }
    const auto known =
        std::find_if(result.margins.begin(), result.margins.end(), [&](const auto& of) { return of.first == name; });
    known->second = std::min(known->second, margin);
  }
}

}  // namespace

Robustness robustness_of(const Way& way, const Picture& picture) {
  Robustness result;
  for (const auto& point : picture.path.points) {
    worsen(point.network, choice_of(way, point.network, picture.found, picture.step), result);
  }
  return result;
}

std::vector<StableRange> stable_steps_of(const Way& way, const Picture& picture, const std::vector<Duration>& imposed,
                                         Duration longest) {
  constexpr int kPoints = 48;
  const auto stable = [&](Duration step) {
    try {
      return stability_of(way, picture.path, picture.found, step)->stable();
    } catch (const Error&) {  // coupling equations that are singular at just this step
      return false;
    }
  };
  const auto [low, high] = searched_steps(picture.step, longest);
  if (imposed.empty())
    return stable_ranges({low, high, kPoints}, [&](double step) { return stable(step) ? 0.0 : 2.0; });
  std::vector<StableRange> ranges;
  bool before = false;
  for (const Duration step : fitting_steps(imposed, low, high)) {
    const bool here = stable(step);
    if (here && !before) ranges.push_back({step, step});
    if (here) ranges.back().high = step;
    before = here;
  }
  return ranges;
}

QualityCurve curve_of(const Way& way, const Picture& picture, Duration longest) {
  constexpr int kPoints = 41;
  QualityCurve curve{way, steps_around(picture.step, longest, kPoints), {}, {}};
  if (!way.explicit_method()) {
    for (const Duration step : curve.steps) {
      const auto stability = stability_of(way, picture.path, picture.found, step);
      if (!stability) return {way, {}, {}, {}};
      curve.radius.push_back(stability->radius);
    }
    return curve;
  }
  std::vector<LinearNetwork> networks;
  for (const auto& point : picture.path.points) networks.push_back(point.network);
  std::vector<CouplingChoice> choices;
  for (const Duration step : curve.steps) choices.push_back(choice_of(way, networks.front(), picture.found, step));
  for (const auto& quality : evaluate_all(networks, choices, 1)) {
    curve.radius.push_back(quality.radius);
    curve.consistency.push_back(quality.consistency);
  }
  return curve;
}

HeatMap heat_over_gain(const Way& way, const Picture& picture, Duration longest) {
  constexpr int kSteps = 31;
  constexpr int kGains = 20;
  HeatMap map{way.title(), {"step, s", steps_around(picture.step, longest, kSteps)}, {"gain of every input", {}}, {}};
  const auto& network = picture.path.points.front().network;
  for (int k = 0; k < kGains; ++k) {
    const double gain = static_cast<double>(k) / kGains;
    map.y.values.push_back(gain);
    auto& row = map.radius.emplace_back();
    for (const Duration step : map.x.values) {
      auto choice = choice_of(way, network, picture.found, step);
      choice.gains.assign(network.input_count(), gain);
      row.push_back(explicit_radius(network, choice));
    }
  }
  return map;
}

}  // namespace entrain
