#include "facade/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "analysis/coupled_motion.hpp"
#include "masters/calendar.hpp"
#include "masters/gauss_seidel.hpp"
#include "masters/registry.hpp"

namespace entrain {
namespace {

/// Inputs above what a subsystem takes are approximated by it: the mean of a line through the past is nearer to what
/// comes than its latest value.
int highest_degree(const CoupledSystem& system) {
  int degree = 2;
  for (std::size_t s = 0; s < system.size(); ++s) {
    degree = std::max(degree, system.capabilities(SubsystemId{s}).input_degree);
  }
  return std::min(degree, kMaxInputDegree);
}

bool is_implicit(const Way& way) {
  return way.method == "missiles" || way.method == "ifosmondi";
}

/// Held inputs have no slope: who differentiates one is told zero, and a smaller step does not mend that. Implicit
/// methods hold them at the start and behind a jump: what is told wrongly there jumps again, at every step.
std::vector<std::string> wrong_with_held_inputs(CoupledSystem& system) {
  std::vector<std::string> reasons;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const Equations* equations = system.facets(SubsystemId{s}).equations;
    if (equations == nullptr || !equations->reads_input_derivatives()) continue;
    reasons.push_back(fmt::format("'{}' differentiates an input, and held inputs have no slope",
                                  system.graph().name(SubsystemId{s})));
  }
  return reasons;
}

StepEnd step_end(const Way& way) {
  return way.method == "missiles" ? StepEnd::Estimate : StepEnd::Trial;
}

bool fits(const std::vector<Duration>& imposed, Duration step) {
  return std::all_of(imposed.begin(), imposed.end(),
                     [&](Duration of) { return whole_ratio(of, step) || whole_ratio(step, of); });
}

}  // namespace

std::vector<Candidate> candidates_for(CoupledSystem& system, const RunSettings& settings) {
  std::vector<const Capabilities*> capabilities;
  for (std::size_t s = 0; s < system.size(); ++s) capabilities.push_back(&system.capabilities(SubsystemId{s}));
  std::vector<Candidate> result;
  for (const std::string_view name : {"jacobi", "gauss-seidel", "missiles", "ifosmondi", "f3ornits"}) {
    Candidate candidate;
    candidate.method = name;
    for (auto& unmet : unmet_requirements(*make_method(name), system.graph(), capabilities, settings)) {
      candidate.obstacles.push_back(std::move(unmet.message));
    }
    const bool degrees = candidate.explicit_method() && candidate.obstacles.empty();
    for (int degree = 0; degree <= (degrees ? highest_degree(system) : 0); ++degree) {
      candidate.degree = degree;
      result.push_back(candidate);
      const bool holds = degrees ? degree == 0 : is_implicit(candidate);
      if (holds && candidate.obstacles.empty()) result.back().obstacles = wrong_with_held_inputs(system);
    }
  }
  return result;
}

std::optional<std::string> nothing_to_couple(const SystemDescription& description, const Graph& graph) {
  if (!graph.connections().empty()) return std::nullopt;
  return description.connections.empty()
             ? "nothing is coupled: the plainest method does"
             : "no real numbers are passed on, and every method holds the others: the plainest does";
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

CouplingChoice choice_of(const Way& way, const LinearNetwork& network, const std::vector<std::size_t>& found,
                         Duration step) {
  const auto& subsystems = network.subsystems;
  if (way.method == "jacobi") return parallel_choice(subsystems.size(), way.degree, step);
  auto choice = sequential_choice(way.sequence.empty() ? found : std::vector<std::size_t>(), way.degree, step);
  for (const auto& names : stages_of(way.sequence)) {
    auto& stage = choice.stages.emplace_back();
    for (const auto& name : names) {
      const auto at =
          std::find_if(subsystems.begin(), subsystems.end(), [&](const auto& of) { return of.name == name; });
      stage.push_back(static_cast<std::size_t>(at - subsystems.begin()));
    }
  }
  if (way.gains.empty()) return choice;
  for (const auto& subsystem : subsystems) {
    for (const auto& input : subsystem.inputs) {
      const auto gain = way.gains.find(input.name);
      choice.gains.push_back(gain == way.gains.end() ? 0.0 : gain->second);
    }
  }
  return choice;
}

bool can_forecast(const Way& way, const RunPath& path) {
  const bool implicit = is_implicit(way);
  return (implicit || way.explicit_method()) &&
         can_forecast(path.points.front().network, implicit ? kMaxInputDegree : way.degree);
}

std::optional<Forecast> forecast_of(const Way& way, const RunPath& path, const std::vector<std::size_t>& found,
                                    Duration step) {
  if (!can_forecast(way, path)) return std::nullopt;
  if (is_implicit(way)) return forecast_implicit(path, step, step_end(way));
  return forecast_explicit(path, choice_of(way, path.points.front().network, found, step));
}

std::optional<Forecast> stability_of(const Way& way, const RunPath& path, const std::vector<std::size_t>& found,
                                     Duration step) {
  if (!way.explicit_method() && !can_forecast(way, path)) return std::nullopt;
  Forecast result;
  result.steps = (path.stop - path.points.front().time) / step;
  for (const auto& point : path.points) {
    const double radius = is_implicit(way) ? implicit_radius(point.network, step, step_end(way))
                                           : explicit_radius(point.network, choice_of(way, point.network, found, step));
    // What does not grow need not be compared with the motion itself.
    result.take_point(radius, radius > 1.0 ? own_growth(point.network, step) : 1.0);
  }
  return result;
}

SystemDescription with_way(SystemDescription description, const Way& way) {
  description.method = {way.method, {}};
  description.method_options.erase(way.method);  // those of the file were not judged
  if (!way.explicit_method()) return description;
  auto& options = description.method_options[way.method];
  options["degree"] = {std::int64_t{way.degree}, {}};
  if (!way.sequence.empty()) options["sequence"] = {way.sequence, {}};
  if (way.method == "nepce") options["gains"] = {way.gains, {}};
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

}  // namespace entrain
