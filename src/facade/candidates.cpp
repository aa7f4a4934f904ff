#include "facade/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "masters/registry.hpp"

namespace entrain {
namespace {

/// Inputs above what every subsystem takes are only approximated by it.
int highest_degree(const CoupledSystem& system) {
  int degree = 0;
  for (std::size_t s = 0; s < system.size(); ++s) {
    degree = std::max(degree, system.capabilities(SubsystemId{s}).input_degree);
  }
  return std::min(degree, kMaxInputDegree);
}

/// Held inputs have no slope: who differentiates one is told zero, and a smaller step does not mend that.
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

bool steps_span_macro_steps(const RunPath& path, Duration step) {
  for (const auto& subsystem : path.points.front().network.subsystems) {
    if (rhythm_of(subsystem.capabilities, step).span > 1) return true;
  }
  return false;
}

}  // namespace

std::optional<double> Candidate::merit() const {
  if (equal_cost_error) return equal_cost_error;
  if (error) return error;
  return probed_error;
}

bool Candidate::explicit_method() const {
  return method == "jacobi" || method == "gauss-seidel";
}

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
      if (degrees && degree == 0) result.back().obstacles = wrong_with_held_inputs(system);
    }
  }
  return result;
}

std::vector<std::size_t> found_sequence(const CoupledSystem& system) {
  std::vector<std::size_t> sequence;
  for (const SubsystemId s : system.graph().calling_sequence()) sequence.push_back(s);
  return sequence;
}

std::optional<Forecast> forecast_of(const Candidate& candidate, const RunPath& path,
                                    const std::vector<std::size_t>& sequence, Duration step) {
  const bool is_implicit = candidate.method == "missiles" || candidate.method == "ifosmondi";
  const auto& network = path.points.front().network;
  if (!can_forecast(network, is_implicit ? kMaxInputDegree : candidate.degree)) return std::nullopt;
  if (is_implicit) {
    if (steps_span_macro_steps(path, step)) return std::nullopt;
    return forecast_implicit(path, step);
  }
  if (candidate.method == "jacobi") {
    return forecast_explicit(path, parallel_choice(sequence.size(), candidate.degree, step));
  }
  if (candidate.method == "gauss-seidel") {
    return forecast_explicit(path, sequential_choice(sequence, candidate.degree, step));
  }
  return std::nullopt;
}

}  // namespace entrain
