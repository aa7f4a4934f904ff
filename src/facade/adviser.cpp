#include "facade/adviser.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/measures.hpp"
#include "entrain/error.hpp"
#include "facade/candidates.hpp"
#include "facade/choose_method.hpp"
#include "facade/resolve.hpp"
#include "facade/verification.hpp"
#include "numerics/eigenvalues.hpp"

namespace entrain {
namespace {

std::string capability_line(const std::string& name, const std::string& source, const Capabilities& can) {
  std::vector<std::string> parts;
  if (can.rollback) parts.emplace_back("rollback");
  if (can.states) parts.emplace_back("states");
  if (can.linearization) parts.emplace_back("linearization");
  if (can.output_derivative_order > 0) parts.emplace_back("output derivatives");
  parts.push_back(can.input_degree == 0 ? "constant inputs" : fmt::format("inputs of degree {}", can.input_degree));
  if (can.imposed_step) parts.push_back(fmt::format("imposes a step of {} s", *can.imposed_step));
  return fmt::format("{} ({}): {}", name, source, fmt::join(parts, ", "));
}

std::string title(const Candidate& candidate) {
  return candidate.explicit_method() ? fmt::format("{} of degree {}", candidate.method, candidate.degree)
                                     : candidate.method;
}

}  // namespace

Adviser::Adviser(const SystemDescription& description, const AdviceSettings& settings, const ModelFactory& models)
    : description_(resolved(description)), settings_(settings), models_(models) {
  auto look = description_;
  look.method = {std::string(kUndemanding), {}};
  std::vector<Problem> problems;
  prepared_ = prepare(look, 1, models_, problems);
  if (!prepared_.system) throw Error(std::move(problems));
  sequence_ = found_sequence(*prepared_.system);
}

SystemDescription Adviser::with(const Candidate& candidate) const {
  auto result = description_;
  result.method = {candidate.method, {}};
  if (candidate.explicit_method()) {
    auto& options = result.method_options[candidate.method];
    options["degree"] = {std::int64_t{candidate.degree}, {}};
    options.erase("sequence");  // that of the file was judged as little as the one found
  }
  return result;
}

Duration Adviser::longest_imposed_step() const {
  Duration longest = 0.0;
  for (std::size_t s = 0; s < prepared_.system->size(); ++s) {
    longest = std::max(longest, prepared_.system->capabilities(SubsystemId{s}).imposed_step.value_or(0.0));
  }
  return longest;
}

SystemDescription Adviser::shortened(SystemDescription description, double steps) const {
  const Duration length = steps * std::max(advice_.step, longest_imposed_step());
  description.stop->value = std::min(description.stop->value, advice_.start + length);
  description.record = {};
  return description;
}

void Adviser::describe() {
  CoupledSystem& system = *prepared_.system;
  advice_.system = description_.name;
  advice_.start = prepared_.settings.start;
  advice_.stop = prepared_.settings.stop;
  advice_.step = prepared_.settings.step;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const SubsystemId id{s};
    advice_.capabilities.push_back(
        capability_line(system.graph().name(id), prepared_.summary.subsystems[s].source, system.capabilities(id)));
  }
  for (const auto& loop : system.graph().loops()) {
    auto& names = advice_.loops.emplace_back();
    for (const OutputId output : loop.outputs) names.push_back(system.graph().name(output));
  }
  advice_.candidates = candidates_for(system, prepared_.settings);
}

/// With the most accurate method that can: its motion is what the errors are measured on.
void Adviser::fly() {
  for (const std::string_view name : {"missiles", "ifosmondi", "gauss-seidel", "f3ornits"}) {
    const auto candidate = std::find_if(advice_.candidates.begin(), advice_.candidates.end(),
                                        [&](const Candidate& of) { return of.method == name; });
    if (!candidate->obstacles.empty()) continue;
    std::vector<Problem> problems;
    const Prepared pilot = prepare(with(*candidate), 1, models_, problems);
    if (!pilot.system) continue;
    try {
      pilot_ = fly_pilot(*pilot.system, *pilot.method, pilot.settings, {});
    } catch (const Error& error) {
      pilot_.obstacles.emplace_back(error.what());
    }
    break;
  }
  for (const auto& remark : pilot_.remarks) advice_.remarks.push_back(remark);
  for (const auto& obstacle : pilot_.obstacles) {
    advice_.remarks.push_back(obstacle + ": no step matrix, so nothing is foretold; short runs stand in");
  }
}

void Adviser::foretell() {
  if (!pilot_.path) return;
  try {
    double fastest = 0.0;
    for (const auto& point : pilot_.path->points) {
      fastest = std::max(fastest, spectral_radius(exact_coupling(point.network).dynamics));
    }
    advice_.fastest_rate = fastest;
    advice_.operating_points = pilot_.path->points.size();
    for (auto& candidate : advice_.candidates) {
      if (candidate.obstacles.empty()) foretell(candidate);
    }
  } catch (const Error& error) {  // a loop without solution, imposed steps that hardly ever meet
    advice_.remarks.emplace_back(error.what());
  }
}

void Adviser::foretell(Candidate& candidate) {
  const auto forecast = forecast_of(candidate, *pilot_.path, sequence_, advice_.step);
  if (!forecast) return;
  candidate.radius = forecast->radius;
  candidate.stable = forecast->stable();
  if (pilot_.rates_known) candidate.error = forecast->error;
  if (longest_imposed_step() > 0.0) return;
  const auto growth = [&](double step) {
    const auto at = forecast_of(candidate, *pilot_.path, sequence_, step);
    return at->stable() ? 0.0 : 2.0;
  };
  const SearchRange search{advice_.step / 64.0, std::min(1024.0 * advice_.step, advice_.stop - advice_.start), 48};
  const auto ranges = stable_ranges(search, growth);
  if (!ranges.empty()) candidate.longest_step = ranges.front().high;
}

/// Calls and time in a brief run.
void Adviser::measure_cost(Candidate& candidate) {
  constexpr double kSteps = 32.0;
  try {
    const auto description = shortened(with(candidate), kSteps);
    Simulation simulation(description, {}, models_);
    const auto& summary = simulation.run();
    if (summary.termination != Termination::Completed) {
      advice_.remarks.push_back(fmt::format("a brief run with {} ended: {}", title(candidate), summary.message));
      return;
    }
    double calls = static_cast<double>(summary.linearizations);
    for (const auto& subsystem : summary.subsystems) {
      calls += static_cast<double>(subsystem.steps + subsystem.rollbacks);
    }
    const Duration length = summary.reached - summary.start;
    candidate.calls_per_step = calls * advice_.step / length;
    candidate.wall_seconds = summary.wall_seconds / length;
  } catch (const Error& error) {
    candidate.obstacles.emplace_back(error.what());
  }
}

/// Who calls the subsystems twice as often in a macro step is compared with a step twice as long.
void Adviser::compare_at_equal_cost() {
  const auto plain = std::find_if(advice_.candidates.begin(), advice_.candidates.end(),
                                  [](const Candidate& of) { return of.method == "jacobi" && of.calls_per_step; });
  if (plain == advice_.candidates.end() || longest_imposed_step() > 0.0) return;
  for (auto& candidate : advice_.candidates) {
    if (!candidate.error || !candidate.calls_per_step) continue;
    candidate.equal_cost_step = advice_.step * *candidate.calls_per_step / *plain->calls_per_step;
    candidate.equal_cost_error = forecast_of(candidate, *pilot_.path, sequence_, candidate.equal_cost_step)->error;
  }
}

/// Long enough to see what is announced: 200 macro steps, and as many behind the first event.
double Adviser::steps_to_probe() {
  constexpr double kSteps = 200.0;
  CoupledSystem& system = *prepared_.system;
  Time event = kNever;
  try {
    system.initialize(advice_.start, advice_.stop);
    for (std::size_t s = 0; s < system.size(); ++s) {
      event = std::min(event, system.next_event(SubsystemId{s}, advice_.start));
    }
  } catch (const Error& error) {
    advice_.remarks.emplace_back(error.what());
  }
  return kSteps + (event < advice_.stop ? (event - advice_.start) / advice_.step : 0.0);
}

/// Without a linear picture: what do short runs at h, h/2 and h/4 say?
void Adviser::probe() {
  const double steps = steps_to_probe();
  for (auto& candidate : advice_.candidates) {
    if (!candidate.obstacles.empty() || candidate.method == "f3ornits") continue;
    try {
      const auto result = verify(shortened(with(candidate), steps), {}, models_);
      if (result.failure) continue;
      double worst = 0.0;
      for (const auto& output : result.outputs) {
        const double range = output.range > 0.0 ? output.range : 1.0;
        worst = std::max(worst, output.rms_error / range);
      }
      if (std::isfinite(worst)) candidate.probed_error = worst;
    } catch (const Error& error) {
      candidate.obstacles.emplace_back(error.what());
    }
  }
}

Advice Adviser::advise() {
  describe();
  fly();
  foretell();
  for (auto& candidate : advice_.candidates) {
    if (candidate.obstacles.empty()) measure_cost(candidate);
  }
  const bool foretold = std::any_of(advice_.candidates.begin(), advice_.candidates.end(),
                                    [](const Candidate& candidate) { return candidate.error.has_value(); });
  if (foretold) {
    compare_at_equal_cost();
  } else {
    probe();
  }
  choose();
  choose_step();
  tell_what_is_missing();
  if (settings_.verify) measure_the_best();
  return std::move(advice_);
}

void Adviser::choose() {
  std::vector<std::size_t> order;
  bool any_stable = false;
  for (std::size_t i = 0; i < advice_.candidates.size(); ++i) {
    const auto& candidate = advice_.candidates[i];
    if (!candidate.obstacles.empty() || !candidate.merit() || !std::isfinite(*candidate.merit())) continue;
    order.push_back(i);
    any_stable = any_stable || candidate.stable || !candidate.radius;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return *advice_.candidates[a].merit() < *advice_.candidates[b].merit();
  });
  if (order.empty()) {
    const auto fallback = std::find_if(advice_.candidates.begin(), advice_.candidates.end(),
                                       [](const Candidate& of) { return of.obstacles.empty() && of.calls_per_step; });
    const auto undemanding = std::find_if(advice_.candidates.rbegin(), advice_.candidates.rend(),
                                          [](const Candidate& of) { return of.obstacles.empty(); });
    if (fallback == advice_.candidates.end() || undemanding == advice_.candidates.rend()) {
      advice_.reason = "no method completed a brief run; see the remarks";
      return;
    }
    advice_.choice =
        advice_.candidates.size() - 1 - static_cast<std::size_t>(undemanding - advice_.candidates.rbegin());
    advice_.reason = fmt::format("nothing could be foretold or probed; {} asks least of the subsystems",
                                 title(advice_.candidates[*advice_.choice]));
    return;
  }
  advice_.choice = order.front();
  const auto& best = advice_.candidates[order.front()];
  const std::string_view basis = best.equal_cost_error ? "foretold error at equal cost"
                                 : best.error          ? "foretold error"
                                                       : "error in short runs at h, h/2 and h/4";
  advice_.reason = fmt::format("smallest {}: {:.2g} of the range of the worst output", basis, *best.merit());
  if (order.size() > 1) {
    const auto& next = advice_.candidates[order[1]];
    advice_.reason += fmt::format("; next is {} with {:.2g}", title(next), *next.merit());
  }
  if (!any_stable) {
    advice_.remarks.emplace_back(
        "at this step the coupling grows with every method; the longest stable steps are in the table");
  }
}

/// The longest step that keeps the tolerance, by powers of two around the one asked for.
void Adviser::choose_step() {
  if (!advice_.choice) return;
  const auto& best = advice_.candidates[*advice_.choice];
  if (!best.error || longest_imposed_step() > 0.0) return;
  constexpr double kFewestSteps = 20.0;
  const Duration longest = (advice_.stop - advice_.start) / kFewestSteps;
  for (int k = 10; k >= -10; --k) {
    const Duration step = std::ldexp(advice_.step, k);
    if (step > longest) continue;
    const auto forecast = forecast_of(best, *pilot_.path, sequence_, step);
    if (!forecast->stable() || !(forecast->error <= settings_.tolerance)) continue;
    advice_.recommended_step = step;
    if (advice_.operating_points > 1) confirm_step();
    return;
  }
  advice_.remarks.push_back(fmt::format("no step down to {:.3g} s keeps an error of {:g}",
                                        std::ldexp(advice_.step, -10), settings_.tolerance));
}

/// A nonlinear system does not keep to its linearizations when the step is long: runs decide.
void Adviser::confirm_step() {
  constexpr int kMostHalvings = 8;
  auto description = with(advice_.candidates[*advice_.choice]);
  description.record = {};
  Duration& step = *advice_.recommended_step;
  for (int k = 0; k < kMostHalvings; ++k, step /= 2) {
    description.step->value = step;
    const auto result = verify(description, {}, models_);
    double worst = 0.0;
    for (std::size_t y = 0; y < result.outputs.size(); ++y) {
      const double range = pilot_.path->ranges[y] > 0.0 ? pilot_.path->ranges[y] : 1.0;
      worst = std::max(worst, result.outputs[y].rms_error / range);
    }
    if (result.failure || !result.confirmed(std::numeric_limits<double>::infinity()) ||
        !(worst <= settings_.tolerance)) {
      continue;
    }
    advice_.reason += fmt::format("; runs at h, h/2 and h/4 confirm the step: {:.2g}", worst);
    return;
  }
  advice_.remarks.push_back(
      fmt::format("the system is nonlinear, and no step down to {:.3g} s was confirmed by runs", 2 * step));
  advice_.recommended_step.reset();
}

void Adviser::tell_what_is_missing() {
  const CoupledSystem& system = *prepared_.system;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const auto& can = system.capabilities(SubsystemId{s});
    const auto& name = system.graph().name(SubsystemId{s});
    if (!can.linearization) {
      advice_.missing.push_back(
          fmt::format("'{}' tells no linearization; with it errors could be foretold{}", name,
                      can.states ? "" : ", and with its states missiles would reach its full order"));
    } else if (!can.states) {
      advice_.missing.push_back(
          fmt::format("'{}' exposes no states; with them missiles would reach its full order", name));
    } else if (!can.state_derivatives) {
      advice_.missing.push_back(
          fmt::format("'{}' tells no state derivatives; with them errors could be foretold", name));
    }
    if (can.input_degree == 0) {
      advice_.missing.push_back(
          fmt::format("'{}' takes constant inputs only; with polynomials (or substeps) inputs would be exact", name));
    }
  }
}

/// The three best, in short runs, beside what is foretold of the same part.
void Adviser::measure_the_best() {
  constexpr double kSteps = 256.0;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < advice_.candidates.size(); ++i) {
    if (advice_.candidates[i].error && std::isfinite(*advice_.candidates[i].error)) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return *advice_.candidates[a].merit() < *advice_.candidates[b].merit();
  });
  if (order.size() > 3) order.resize(3);
  for (const std::size_t i : order) {
    const auto description = shortened(with(advice_.candidates[i]), kSteps);
    RunPath part = *pilot_.path;
    part.stop = description.stop->value;
    std::erase_if(part.points, [&](const OperatingPoint& point) { return point.time >= part.stop; });
    const auto result = verify(description, {}, models_);
    Measured measured{i, forecast_of(advice_.candidates[i], part, sequence_, advice_.step)->error, 0.0};
    for (std::size_t y = 0; y < result.outputs.size(); ++y) {
      const double range = part.ranges[y] > 0.0 ? part.ranges[y] : 1.0;
      measured.measured = std::max(measured.measured, result.outputs[y].rms_error / range);
    }
    if (!result.failure) advice_.measured.push_back(measured);
  }
}

Advice advise(const SystemDescription& description, const AdviceSettings& settings, const ModelFactory& models) {
  return Adviser(description, settings, models).advise();
}

SystemDescription applied(const SystemDescription& description, const Advice& advice) {
  if (!advice.choice) throw Error(ErrorCode::InvalidSystem, "there is no advice to apply: " + advice.reason);
  SystemDescription result = description;
  const auto& chosen = advice.candidates[*advice.choice];
  result.method = {chosen.method, {}};
  result.step = {advice.recommended_step.value_or(advice.step), {}};
  if (chosen.explicit_method()) {
    result.method_options[chosen.method]["degree"] = {std::int64_t{chosen.degree}, {}};
    result.method_options[chosen.method].erase("sequence");
  }
  return result;
}

}  // namespace entrain
