// Error against processor time for every method, on systems whose truth the engine did not compute, and on the vehicle
// of examples/drivetrain, whose reference is all its equations in one integrator (docs/bench_work_precision.md).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "entrain/recording.hpp"
#include "entrain/simulation.hpp"
#include "entrain/system.hpp"
#include "truth/measure.hpp"

namespace entrain::truth {
namespace {

/// Of the range: the errors for which the processor time is printed.
constexpr double kTargets[] = {1e-2, 1e-4, 1e-6};
constexpr int kRepeated = 3;         // the shortest time counts
constexpr double kLongEnough = 0.2;  // s: such a run is made once
constexpr double kTooLong = 3.0;     // s: no smaller step is tried
constexpr double kAsCheap = 1.1;     // of the best time: no difference

struct Point {
  double error = HUGE_VAL;
  double seconds = 0.0;
  std::uint64_t calls = 0;
};

/// One system with its truth. Methods that choose their steps get one tolerance after the other instead.
struct Tested {
  std::string name;
  std::vector<double> steps;
  std::vector<TriedMethod> methods;
  std::function<Point(const TriedMethod&, double)> run;
};

std::vector<TriedMethod> methods_of_bench() {
  auto methods = tried_methods();
  std::erase_if(methods, [](const TriedMethod& of) { return of.method == "auto"; });
  methods.push_back({"waveform", "waveform"});
  return methods;
}

bool chooses_steps(const TriedMethod& method) {
  return method.options.contains("adaptive") || method.method == "f3ornits";
}

/// From coarse to fine: the method with its step, or with its tolerance at the first step.
std::vector<std::pair<TriedMethod, double>> settings_of(const TriedMethod& method, const std::vector<double>& steps) {
  constexpr double kLoosest = 1e-2;
  constexpr double kTightest = 1e-9;
  std::vector<std::pair<TriedMethod, double>> settings;
  if (!chooses_steps(method)) {
    for (const double step : steps) settings.emplace_back(method, step);
    return settings;
  }
  for (double tolerance = kLoosest; tolerance >= kTightest; tolerance *= 0.1) {
    settings.emplace_back(method, steps.front());
    settings.back().first.options["relative_tolerance"] = tolerance;
  }
  return settings;
}

Point best_of(const std::function<Point()>& run) {
  Point best = run();
  for (int k = 1; k < kRepeated && best.error < HUGE_VAL && best.seconds < kLongEnough; ++k) {
    best.seconds = std::min(best.seconds, run().seconds);
  }
  return best;
}

/// What an error costs: processor time, and calls, which decide where subsystems are heavy.
struct Cost {
  double seconds = HUGE_VAL;
  double calls = HUGE_VAL;
};

/// By the last two points that enclose the target, along straight lines between logarithms.
Cost cost_of(const std::vector<Point>& points, double target) {
  Cost least;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (!(points[k].error <= target)) continue;
    double seconds = points[k].seconds;
    double calls = static_cast<double>(points[k].calls);
    if (k > 0 && points[k - 1].error < HUGE_VAL && points[k - 1].error > target) {
      const double share = std::log(target / points[k - 1].error) / std::log(points[k].error / points[k - 1].error);
      seconds = points[k - 1].seconds * std::pow(seconds / points[k - 1].seconds, share);
      const auto before = static_cast<double>(points[k - 1].calls);
      calls = before * std::pow(calls / before, share);
    }
    least.seconds = std::min(least.seconds, seconds);
    least.calls = std::min(least.calls, calls);
  }
  return least;
}

/// Methods by name: those that reached a target at all, and those within kAsCheap of the cheapest somewhere.
struct Standing {
  std::set<std::string> shown, fastest, fewest;
};

void rank(const std::map<std::string, std::vector<Cost>>& costs, std::size_t target, Standing& standing) {
  Cost least;
  for (const auto& [name, of] : costs) {
    least.seconds = std::min(least.seconds, of[target].seconds);
    least.calls = std::min(least.calls, of[target].calls);
  }
  for (const auto& [name, of] : costs) {
    if (!(of[target].seconds < HUGE_VAL)) continue;
    standing.shown.insert(name);
    if (of[target].seconds <= kAsCheap * least.seconds) standing.fastest.insert(name);
    if (of[target].calls <= kAsCheap * least.calls) standing.fewest.insert(name);
  }
}

void measure(const Tested& system, Standing& standing) {
  fmt::print("\n{}\n{:<25}", system.name, "  ms, calls for");
  for (const double target : kTargets) fmt::print(" {:>17.0e}", target);
  fmt::print("   smallest error\n");
  std::map<std::string, std::vector<Cost>> costs;
  for (const auto& method : system.methods) {
    std::vector<Point> points;
    double smallest = HUGE_VAL;
    for (const auto& [setting, step] : settings_of(method, system.steps)) {
      points.push_back(best_of([&] { return system.run(setting, step); }));
      smallest = std::min(smallest, points.back().error);
      if (points.back().seconds > kTooLong) break;
    }
    std::string line = fmt::format("  {:<23}", method.name);
    for (const double target : kTargets) {
      const Cost& cost = costs[method.name].emplace_back(cost_of(points, target));
      const bool reached = cost.seconds < HUGE_VAL;
      line += fmt::format(" {:>17}", reached ? fmt::format("{:.3g}, {:.2g}", 1e3 * cost.seconds, cost.calls) : "-");
    }
    fmt::print("{}   {}\n", line, smallest < HUGE_VAL ? fmt::format("{:.0e}", smallest) : "does not run");
  }
  for (std::size_t k = 0; k < std::size(kTargets); ++k) rank(costs, k, standing);
}

Tested tested_from(const System& system, std::vector<std::unique_ptr<Measurement>>& kept) {
  kept.push_back(std::make_unique<Measurement>(system));
  Measurement* measurement = kept.back().get();
  std::vector<double> steps;
  for (double divided = 1.0; divided <= 64.0; divided *= 2.0) steps.push_back(system.steps.front() / divided);
  return {system.name, steps, methods_of_bench(), [measurement](const TriedMethod& method, double step) {
            const BareRun run = measurement->run_bare(method, step);
            return Point{run.completed ? run.error : HUGE_VAL, run.seconds, run.calls};
          }};
}

/// The vehicle as its file has it but for method and step, up to here: starting, driving, braking.
constexpr double kVehicleStop = 30.0;
constexpr const char* kVehicleOutput = "gearbox.torque";

using Curve = std::map<long, double>;  // by the microsecond: methods with steps of their own meet at whole steps

struct VehicleRun {
  Curve curve;
  Point cost;
  bool completed = false;
};

VehicleRun vehicle_run(const std::string& file, const TriedMethod& method, double step) {
  auto description = load(std::string(ENTRAIN_EXAMPLES) + "/drivetrain/" + file);
  description.method.value = method.method;
  description.method_options.clear();
  for (const auto& [name, value] : method.options) description.method_options[method.method][name] = {value, {}};
  description.stop = {kVehicleStop, {}};
  description.step = {step, {}};
  VehicleRun result;
  try {
    Simulation simulation(description);
    MemoryRecorder recorder({kVehicleOutput});
    simulation.observe(recorder);
    const std::clock_t began = std::clock();
    const auto& summary = simulation.run();
    result.cost.seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    for (const auto& subsystem : summary.subsystems) result.cost.calls += subsystem.steps + subsystem.rollbacks;
    result.completed = summary.termination == Termination::Completed;
    const auto& values = recorder.column(kVehicleOutput);
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (std::isfinite(values[k])) result.curve[std::lround(recorder.times[k] * 1e6)] = values[k];
    }
  } catch (const Error&) {  // the method needs what a part does not have
    result.completed = false;
  }
  return result;
}

double difference(const Curve& own, const Curve& exact) {
  const auto [low, high] =
      std::minmax_element(exact.begin(), exact.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  double squares = 0.0;
  std::size_t count = 0;
  for (const auto& [time, value] : own) {
    const auto same = exact.find(time);
    if (same == exact.end()) continue;
    squares += (value - same->second) * (value - same->second);
    ++count;
  }
  return count == 0 ? HUGE_VAL : std::sqrt(squares / static_cast<double>(count)) / (high->second - low->second);
}

Tested vehicle() {
  const Curve exact = vehicle_run("reference.toml", {"monolithic", "monolithic"}, 0.0005).curve;
  auto methods = methods_of_bench();
  std::erase_if(methods,
                [](const TriedMethod& of) { return of.method == "nepce"; });  // which inputs it filters is not given
  return {"drivetrain (seven FMUs, gearbox.torque)",
          {0.02, 0.01, 0.005, 0.002, 0.001},
          methods,
          [exact](const TriedMethod& method, double step) {
            const VehicleRun run = vehicle_run("system.toml", method, step);
            Point point = run.cost;
            point.error = run.completed ? difference(run.curve, exact) : HUGE_VAL;
            return point;
          }};
}

struct Arguments {
  std::string filter;
};

int run(const Arguments& arguments) {
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  // Native and linear, FMUs and nonlinear, two time scales, events that are announced.
  const std::vector<std::string> named = {"built_in_mechanical", "fmu2_lotka_volterra", "stiff_pair",
                                          "spring_announced"};
  std::vector<std::unique_ptr<Measurement>> kept;
  Standing standing;
  const auto all = systems();
  for (const auto& name : named) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const System& of) { return of.name == name; });
    if (found == all.end()) {
      fmt::print(stderr, "no system {}\n", name);
      return 1;
    }
    if (name.find(arguments.filter) != std::string::npos) measure(tested_from(*found, kept), standing);
  }
  if (std::string("drivetrain").find(arguments.filter) != std::string::npos) measure(vehicle(), standing);
  for (const auto& [what, best] : {std::pair{"time", &standing.fastest}, std::pair{"calls", &standing.fewest}}) {
    fmt::print("\nnever within 10 % of the least {}:", what);
    for (const auto& name : standing.shown) {
      if (!best->contains(name)) fmt::print(" {};", name);
    }
  }
  fmt::print("\n");
  return 0;
}

}  // namespace
}  // namespace entrain::truth

int main(int count, char** values) {
  entrain::truth::Arguments arguments;
  const bool taken = entrain::bench::take_arguments(count, values, "bench_work_precision",
                                                    {{.name = "--filter", .text = &arguments.filter, .what = "NAME"}});
  return taken ? entrain::truth::run(arguments) : 2;
}
