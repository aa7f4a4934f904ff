#include "advise/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "analysis/coupled_motion.hpp"
#include "entrain/fact_codes.hpp"
#include "methods/calendar.hpp"
#include "methods/requirements.hpp"
#include "numerics/eigenvalues.hpp"

namespace entrain::advising {
namespace {

/// Inputs above what a subsystem takes are approximated by it: the mean of a line through the past is nearer to what
/// comes than its latest value.
int highest_degree(const CoupledSystem& system, int most) {
  int degree = 2;
  for (std::size_t s = 0; s < system.size(); ++s) {
    degree = std::max(degree, system.capabilities(SubsystemId{s}).input_degree);
  }
  return std::min(degree, most);
}

/// Held inputs have no slope: a subsystem that differentiates one reads zero, and a smaller step does not fix that.
/// Implicit methods hold them at the start and behind a jump: a wrong value there jumps again, at every step.
std::vector<Fact> wrong_with_held_inputs(CoupledSystem& system) {
  std::vector<Fact> reasons;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const Equations* equations = system.facets(SubsystemId{s}).equations;
    if (equations == nullptr || !equations->reads_input_derivatives()) continue;
    reasons.push_back({FactCode::DifferentiatesInput, {system.graph().name(SubsystemId{s})}});
  }
  return reasons;
}

/// A whole number without prime factors but 2 and 5: steps divided by it are short numbers.
bool is_round(double ratio) {
  auto rest = std::lround(ratio);
  for (const long factor : {2L, 5L}) {
    while (rest > 0 && rest % factor == 0) rest /= factor;
  }
  return rest == 1;
}

bool fits(const std::vector<Duration>& imposed, Duration step) {
  return std::all_of(imposed.begin(), imposed.end(),
                     [&](Duration of) { return method::whole_ratio(of, step) || method::whole_ratio(step, of); });
}

/// The number that is written so: 2e-3 is that of the text, which 2 * pow(10, -3) need not be.
double decimal_number(int digits, int power) {
  const std::string text = fmt::format("{}e{}", digits, power);
  double number = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::vector<Candidate> candidates_for(const method::MethodRegistry& methods, CoupledSystem& system,
                                      const RunSettings& settings) {
  std::vector<const Capabilities*> capabilities;
  for (std::size_t s = 0; s < system.size(); ++s) capabilities.push_back(&system.capabilities(SubsystemId{s}));
  std::vector<Candidate> result;
  for (const auto& [traits, make] : methods.entries()) {
    if (!traits.recommended) continue;
    Candidate candidate;
    candidate.method = traits.name;
    for (auto& unmet : method::unmet_requirements(*make(), system.graph(), capabilities, settings)) {
      candidate.obstacles.push_back(std::move(unmet.fact));
    }
    if (system.has_instants() && traits.family == MethodFamily::Asynchronous)
      candidate.obstacles.push_back(
          {FactCode::NeedsCommonInstants, {system.graph().name(SubsystemId{0})}, {{"method", traits.name}}});
    const bool can_run = candidate.obstacles.empty();
    if (traits.knobs.degree.empty()) {
      result.push_back(candidate);
      if (can_run && traits.family == MethodFamily::Implicit) result.back().obstacles = wrong_with_held_inputs(system);
      continue;
    }
    for (int degree = 0; degree <= (can_run ? highest_degree(system, traits.knobs.max_degree) : 0); ++degree) {
      candidate.degree = degree;
      result.push_back(candidate);
      if (can_run && degree == 0) result.back().obstacles = wrong_with_held_inputs(system);
    }
  }
  return result;
}

std::optional<Fact> nothing_to_couple(const SystemDescription& description, const Graph& graph) {
  if (!graph.connections().empty()) return std::nullopt;
  return Fact{description.connections.empty() ? FactCode::NothingCoupled : FactCode::NoRealsCoupled};
}

bool acts_one_way(const Graph& graph) {
  const auto& connections = graph.connections();
  return graph.components().empty() && std::none_of(connections.begin(), connections.end(), [&](const Connection& of) {
           return graph.owner(of.output) == graph.owner(of.input);
         });
}

std::vector<std::size_t> found_sequence(const CoupledSystem& system) {
  std::vector<std::size_t> sequence;
  for (const SubsystemId s : system.graph().calling_sequence()) sequence.push_back(s);
  return sequence;
}

bool ConfigForecast::can_forecast(const analysis::RunPath& path) const {
  const auto& network = path.points.front().network;
  if (linear_step_.hermite) return entrain::analysis::can_forecast(network, kMaxInputDegree);
  return has_stages() && entrain::analysis::can_forecast(network, config_.degree.value_or(0));
}

std::optional<analysis::Forecast> ConfigForecast::forecast(const analysis::RunPath& path, Duration step) const {
  if (!can_forecast(path)) return std::nullopt;
  if (linear_step_.hermite) return analysis::forecast_implicit(path, step, *linear_step_.hermite);
  return analysis::forecast_explicit(path, stages(path.points.front().network, step));
}

double ConfigForecast::radius(const LinearNetwork& network, Duration step) const {
  if (linear_step_.hermite) return analysis::implicit_radius(network, step, *linear_step_.hermite);
  if (has_stages()) return analysis::explicit_radius(network, stages(network, step));
  return numerics::spectral_radius(linear_step_.matrix(config_, network, step));
}

std::optional<analysis::Forecast> ConfigForecast::stability(const analysis::RunPath& path, Duration step) const {
  if (!linear_step_.known() || (linear_step_.hermite && !can_forecast(path))) return std::nullopt;
  analysis::Forecast result;
  result.steps = (path.stop - path.points.front().time) / step;
  for (const auto& point : path.points) {
    const double here = radius(point.network, step);
    // What does not grow need not be compared with the motion itself.
    result.take_point(here, here > 1.0 ? analysis::own_growth(point.network, step) : 1.0);
  }
  return result;
}

SystemDescription with_config(const method::MethodRegistry& methods, SystemDescription description,
                              const MethodConfig& config) {
  const auto& knobs = methods.traits(config.method).knobs;
  description.method = {config.method, {}};
  description.method_options.erase(config.method);  // those of the file were not judged
  const auto set = [&](const std::string& option, OptionValue value) {
    description.method_options[config.method][option] = {std::move(value), {}};
  };
  if (config.degree) set(knobs.degree, std::int64_t{*config.degree});
  if (!config.sequence.empty()) set(knobs.sequence, config.sequence);
  if (!knobs.gains.empty()) set(knobs.gains, config.gains);
  return description;
}

std::vector<Duration> fitting_steps(const std::vector<Duration>& imposed, Duration low, Duration high) {
  constexpr int kMost = 64;
  std::set<Duration> steps;
  for (const Duration of : imposed) {
    for (int k = 1; k <= kMost; ++k) {
      for (const Duration step : {of * k, of / k}) {
        if (step >= low && step <= high && fits(imposed, step)) steps.insert(step);
      }
    }
  }
  std::vector<Duration> result;
  for (const Duration step : steps) {
    if (result.empty() || step > result.back() * (1 + 1e-9)) result.push_back(step);
  }
  return result;
}

std::optional<Duration> common_multiple(const std::vector<Duration>& imposed) {
  constexpr int kMost = 1000;
  const Duration longest = *std::max_element(imposed.begin(), imposed.end());
  for (int k = 1; k <= kMost; ++k) {
    const bool common = std::all_of(imposed.begin(), imposed.end(),
                                    [&](Duration of) { return method::whole_ratio(k * longest, of).has_value(); });
    if (common) return k * longest;
  }
  return std::nullopt;
}

Duration fitting_below(const std::vector<Duration>& imposed, Duration step) {
  constexpr double kFar = 4096.0;
  if (!imposed.empty()) {
    auto steps = fitting_steps(imposed, step / kFar, step * kFar);
    const Duration shortest = *std::min_element(imposed.begin(), imposed.end());
    std::erase_if(steps, [&](Duration of) { return !is_round(std::max(of / shortest, shortest / of)); });
    const auto above = std::upper_bound(steps.begin(), steps.end(), step * (1 + 1e-9));
    if (steps.empty()) return step;
    return above == steps.begin() ? steps.front() : *(above - 1);
  }
  const int power = static_cast<int>(std::floor(std::log10(step)));
  for (const int digits : {50, 25, 20}) {
    const double rounded = decimal_number(digits, power - 1);
    if (rounded <= step * (1 + 1e-9)) return rounded;
  }
  return decimal_number(1, power);
}

Duration nearest_fitting(const std::vector<Duration>& imposed, Duration step) {
  constexpr double kFar = 64.0;
  Duration best = step;
  double least = std::numeric_limits<double>::infinity();
  for (const Duration of : fitting_steps(imposed, step / kFar, step * kFar)) {
    if (!(std::abs(std::log(of / step)) < least)) continue;
    least = std::abs(std::log(of / step));
    best = of;
  }
  return best;
}

}  // namespace entrain::advising
