#include "advise/linearized_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "advise/candidates.hpp"
#include "analysis/coupled_motion.hpp"
#include "analysis/measures.hpp"
#include "analysis/search.hpp"
#include "analysis/spectral_content.hpp"
#include "analysis/stable_ranges.hpp"
#include "entrain/error.hpp"

namespace entrain::advising {
namespace {

/// Steps of curves and maps: evenly spaced by ratio around the one asked for.
std::vector<Duration> steps_around(Duration step, Duration longest, int count) {
  const analysis::SearchRange range{step / 64.0, std::max(step, std::min(256.0 * step, longest)), count};
  std::vector<Duration> steps;
  steps.reserve(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) steps.push_back(range.at(k));
  return steps;
}

void worsen(const LinearNetwork& network, const CouplingChoice& choice, const Interruption& interruption,
            Robustness& result) {
  // The structured radius solves with a matrix of this size 360 times and more.
  constexpr std::size_t kLargestMargin = 120;
  const auto steps = analysis::subsystem_steps(network, choice.step, choice.degree);
  const analysis::StepProgram program(network, steps, choice);
  if (program.size() > analysis::kLargestDense) return;
  result.consistency = std::max(result.consistency.value_or(0.0),
                                analysis::relative_consistency(program, analysis::exact_coupling(network)));
  const Initialisation here = analysis::fixed_point_initialisation(program);
  if (!result.initialisation || here.radius > result.initialisation->radius) result.initialisation = here;
  if (program.cycle() > 1 || program.size() > kLargestMargin) return;
  const bool first = result.margins.empty();
  for (std::size_t s = 0; s < network.subsystems.size(); ++s) {
    if (network.subsystems[s].matrices.A.rows == 0) continue;  // it has no states that could step otherwise
    interruption.check();
    const auto& name = network.subsystems[s].name;
    const double margin = analysis::structured_radius(program, s);
    if (first) {
      result.margins.emplace_back(name, margin);
      continue;
    }
    const auto known =
        std::find_if(result.margins.begin(), result.margins.end(), [&](const auto& of) { return of.first == name; });
    known->second = std::min(known->second, margin);
  }
}

/// The stability of a config over the step.
class StepStability {
 public:
  StepStability(const MethodConfig& config, const LinearizedRun& linearized)
      : config_(config), linearized_(linearized) {
    for (const auto& point : linearized.path.points) {
      spectra_.emplace_back(point.network);
      own_rate_ = std::max(own_rate_, std::log(analysis::own_growth(point.network, linearized.step)) / linearized.step);
    }
  }
  analysis::StabilityAt operator()(Duration step) const {
    analysis::StabilityAt result;
    for (const auto& spectrum : spectra_) result.phase = std::max(result.phase, spectrum.phase_in(step));
    result.radius = radius(step);
    return result;
  }

 private:
  /// Relative to what grows by itself; on the side of 1 where it is called stable or not.
  double radius(Duration step) const {
    constexpr double kUnstable = 2.0;
    try {
      const auto stability = linearized_.of(config_).stability(linearized_.path, step);
      const double relative = stability->radius / std::exp(own_rate_ * step);
      return stability->stable() ? std::min(relative, std::nextafter(1.0, 0.0)) : std::max(relative, 1.0);
    } catch (const Error&) {  // coupling equations that are singular at just this step
      return kUnstable;
    }
  }

  const MethodConfig& config_;
  const LinearizedRun& linearized_;
  std::vector<analysis::SpectralContent> spectra_;  // at every operating point
  double own_rate_ = 0.0;
};

/// Four steps an octave, and more where motions oscillate: as many as the size of the matrices allows.
analysis::SearchRange steps_to_judge(const MethodConfig& config, const LinearizedRun& linearized, Duration longest) {
  constexpr double kPerOctave = 4.0;
  constexpr double kProducts = 1e8;
  constexpr int kFewest = 120;
  constexpr int kMost = 2000;
  const auto size =
      static_cast<double>(analysis::vector_size(linearized.path.points.front().network, config.degree.value_or(0)));
  analysis::SearchRange search{linearized.step / 64.0, std::min(1024.0 * linearized.step, longest)};
  search.points = 1 + static_cast<int>(std::ceil(kPerOctave * std::log2(search.high / search.low)));
  const double products = size * size * size * static_cast<double>(linearized.path.points.size());
  search.most = static_cast<int>(std::clamp<double>(kProducts / products, kFewest, kMost));
  return search;
}

}  // namespace

Robustness robustness_of(const MethodConfig& config, const LinearizedRun& linearized) {
  Robustness result;
  for (const auto& point : linearized.path.points) {
    worsen(point.network, linearized.of(config).stages(point.network, linearized.step), linearized.interruption,
           result);
  }
  return result;
}

StableRanges stable_steps_of(const MethodConfig& config, const LinearizedRun& linearized,
                             const std::vector<Duration>& imposed, Duration longest) {
  const StepStability stability(config, linearized);
  const analysis::SearchRange search = steps_to_judge(config, linearized, longest);
  if (imposed.empty()) return analysis::stable_ranges(search, stability);
  StableRanges result{{}, {search.low, search.high}};
  bool before = false;
  for (const Duration step : fitting_steps(imposed, search.low, search.high)) {
    const bool here = stability(step).radius < 1.0;
    if (here && !before) result.ranges.push_back({step, step});
    if (here) result.ranges.back().high = step;
    before = here;
  }
  return result;
}

QualityCurve curve_of(const MethodConfig& config, const LinearizedRun& linearized, Duration longest) {
  constexpr int kPoints = 41;
  QualityCurve curve{config, steps_around(linearized.step, longest, kPoints), {}, {}};
  if (!linearized.of(config).has_stages()) {
    for (const Duration step : curve.steps) {
      const auto stability = linearized.of(config).stability(linearized.path, step);
      if (!stability) return {config, {}, {}, {}};
      curve.radius.push_back(stability->radius);
    }
    return curve;
  }
  std::vector<LinearNetwork> networks;
  for (const auto& point : linearized.path.points) networks.push_back(point.network);
  std::vector<CouplingChoice> choices;
  for (const Duration step : curve.steps) choices.push_back(linearized.of(config).stages(networks.front(), step));
  for (const auto& quality : analysis::evaluate_all(networks, choices, 1, linearized.interruption.flag())) {
    curve.radius.push_back(quality.radius);
    curve.consistency.push_back(quality.consistency);
  }
  return curve;
}

HeatMap heat_over_gain(const MethodConfig& config, const LinearizedRun& linearized, Duration longest) {
  constexpr int kSteps = 31;
  constexpr int kGains = 20;
  HeatMap map{
      config.title(), {"step, s", steps_around(linearized.step, longest, kSteps)}, {"gain of every input", {}}, {}};
  const auto& network = linearized.path.points.front().network;
  for (int k = 0; k < kGains; ++k) {
    const double gain = static_cast<double>(k) / kGains;
    map.y.values.push_back(gain);
    auto& row = map.radius.emplace_back();
    for (const Duration step : map.x.values) {
      auto choice = linearized.of(config).stages(network, step);
      choice.gains.assign(network.input_count(), gain);
      row.push_back(analysis::explicit_radius(network, choice));
    }
  }
  return map;
}

}  // namespace entrain::advising
