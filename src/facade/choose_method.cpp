#include "facade/choose_method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "entrain/error.hpp"
#include "facade/candidates.hpp"
#include "facade/pilot.hpp"
#include "facade/prepare.hpp"
#include "masters/registry.hpp"

namespace entrain {
namespace {

struct Chosen {
  Candidate candidate;
  std::string reason;
};

/// Calls of the subsystems per macro step, in units of an explicit method's: what brief runs show for typical systems.
double usual_cost(const Candidate& candidate) {
  if (candidate.method == "ifosmondi") return 4.0;
  return candidate.method == "missiles" ? 1.5 : 1.0;
}

bool usable(const Candidate& candidate) {
  return candidate.obstacles.empty();
}

const Candidate* find(const std::vector<Candidate>& candidates, std::string_view method, int degree = 0) {
  const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& of) {
    return usable(of) && of.method == method && of.degree == degree;
  });
  return found == candidates.end() ? nullptr : &*found;
}

/// By the errors foretold, each at the step that costs as much as the others.
std::optional<Chosen> by_forecast(const std::vector<Candidate>& candidates, const RunPath& path,
                                  const std::vector<std::size_t>& sequence, Duration step) {
  constexpr double kLarge = 0.1;
  std::vector<Duration> imposed;
  for (const auto& subsystem : path.points.front().network.subsystems) {
    if (subsystem.capabilities.imposed_step) imposed.push_back(*subsystem.capabilities.imposed_step);
  }
  std::optional<Chosen> best;
  std::pair least{true, std::numeric_limits<double>::infinity()};  // what grows comes last
  for (const auto& candidate : candidates) {
    if (!usable(candidate)) continue;
    const auto here = forecast_of(candidate, path, sequence, step);
    if (!here || !std::isfinite(here->error)) continue;
    const Duration equal_cost_step = nearest_fitting(imposed, step * usual_cost(candidate));
    const double error = forecast_of(candidate, path, sequence, equal_cost_step)->error;
    const std::pair merit{!here->stable(), error};
    if (!(merit < least)) continue;
    least = merit;
    best =
        Chosen{candidate, fmt::format("smallest foretold error for its cost: {:.2g} of the range of the worst output "
                                      "at this step, spectral radius {:.6g}",
                                      here->error, here->radius)};
    if (!here->stable()) best->reason += "; but it grows, as every other does: take a smaller step";
    if (here->stable() && here->error > kLarge) best->reason += "; that is much: take a smaller step";
  }
  return best;
}

/// By capabilities alone.
Chosen by_rules(const std::vector<Candidate>& candidates, const std::string& why_no_forecast) {
  if (const auto* iterative = find(candidates, "ifosmondi")) {
    return {*iterative, why_no_forecast + "; every subsystem can be tried, so iterations make the coupling consistent"};
  }
  if (const auto* linear = find(candidates, "gauss-seidel", 1)) {
    return {*linear, why_no_forecast + "; not everybody can be tried, and inputs of degree 1 are taken"};
  }
  if (const auto* held = find(candidates, "gauss-seidel")) {
    return {*held, why_no_forecast + "; not everybody can be tried, and only constant inputs are taken"};
  }
  const auto jacobi =
      std::find_if(candidates.begin(), candidates.end(), [](const Candidate& of) { return of.method == "jacobi"; });
  return {*find(candidates, kUndemanding), "no other method can: " + jacobi->obstacles.front()};
}

Chosen choose(Prepared& look) {
  CoupledSystem& system = *look.system;
  const auto candidates = candidates_for(system, look.settings);
  const auto* plain = find(candidates, "jacobi");
  if (system.graph().connections().empty() && plain != nullptr) {
    return {*plain, "nothing is coupled; every method gives the same"};
  }
  if (find(candidates, "missiles") == nullptr) {
    return by_rules(candidates, "missiles, whose motion a forecast needs, cannot run this system");
  }
  for (std::size_t s = 0; s < system.size(); ++s) {
    if (system.capabilities(SubsystemId{s}).linearization) continue;
    return by_rules(candidates, fmt::format("'{}' tells no linearization", system.graph().name(SubsystemId{s})));
  }
  // A forecast costs the cube of this; beyond, it would take more than the run deserves.
  constexpr std::size_t kMostSignals = 60;
  if (system.states() + system.graph().outputs() + system.graph().inputs() > kMostSignals) {
    return {*find(candidates, "missiles"), "every subsystem tells its linearization; too large for a forecast"};
  }
  const auto pilot_method = make_method("missiles");
  const auto pilot = fly_pilot(system, *pilot_method, look.settings, {.share = 0.02, .points = 2});
  if (!pilot.path) return by_rules(candidates, pilot.obstacles.front());
  if (!pilot.driven.empty()) {
    return {*find(candidates, "missiles"), pilot.driven.front() + "; everybody tells its linearization"};
  }
  if (!pilot.rates_known) return by_rules(candidates, "not everybody tells the rates of its states");
  auto chosen = by_forecast(candidates, *pilot.path, found_sequence(system), look.settings.step);
  return chosen ? *chosen : by_rules(candidates, "no error could be foretold");
}

}  // namespace

SystemDescription to_look_at(SystemDescription description) {
  if (description.method.value == kAuto) description.method.value = kUndemanding;
  return description;
}

MethodChoice choose_method(const SystemDescription& written, const ModelFactory& models) {
  MethodChoice choice{to_look_at(written), {}};
  std::vector<Problem> problems;
  Prepared look = prepare(choice.description, 1, models, problems);
  if (!look.system) return choice;
  Chosen chosen;
  try {
    chosen = choose(look);
  } catch (const Error& error) {  // an initialisation or a loop that fails: the run will say so, with all its means
    choice.note = fmt::format("auto: {}, because nothing could be foretold: {}", kUndemanding, error.what());
    return choice;
  }
  const auto& [candidate, reason] = chosen;
  const auto options = choice.description.method_options.find(candidate.method);
  const bool has_options = options != choice.description.method_options.end() && !options->second.empty();
  choice.description = with_way(std::move(choice.description), candidate);
  choice.note = fmt::format("auto: {}, because: {}", candidate.title(), reason);
  if (has_options) choice.note += fmt::format("; the options of {} in the file are left out", candidate.method);
  return choice;
}

}  // namespace entrain
