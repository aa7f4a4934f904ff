// Errors of adaptive runs over their tolerance, and against fixed steps at equal calls, by truth that the engine did
// not compute (docs/bench_tolerance.md).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "budget.hpp"
#include "truth/measure.hpp"

namespace entrain::truth {
namespace {

/// A method with a tolerance, and the same with a fixed step.
struct Adaptive {
  std::string name;
  TriedMethod adaptive, fixed;
  std::vector<std::string> tolerances = {"relative_tolerance"};  ///< options that are the tolerance
  std::vector<std::string> limits = {};                          ///< options that are a fixed step
  std::string iteration = {};  ///< option of a fixed step: its default, or the tolerance
  bool gains = true;           ///< from steps that vary, and from a tighter tolerance in less than 1e6 steps
};

std::vector<Adaptive> adaptive_methods() {
  const auto of_degree = [](const std::string& method, std::int64_t degree) {
    Adaptive result;
    result.name = fmt::format("{} {}", method, degree);
    result.fixed = {result.name, method, {{"degree", degree}}};
    result.adaptive = {result.name, method, {{"degree", degree}, {"adaptive", true}, {"absolute_tolerance", 1e-14}}};
    result.gains = degree > 0;  // held inputs miss in proportion to the step: it does not matter where it is long
    return result;
  };
  const auto implicit = [](const std::string& method) {
    return Adaptive{.name = method, .adaptive = {method, method, {{"adaptive", true}}}, .fixed = {method, method, {}}};
  };
  Adaptive ifosmondi = implicit("ifosmondi");
  ifosmondi.iteration = "iteration_tolerance";
  Adaptive f3ornits{
      .name = "f3ornits", .adaptive = {"f3ornits", "f3ornits", {}}, .fixed = {"f3ornits", "f3ornits", {}}};
  f3ornits.tolerances.emplace_back("absolute_tolerance");
  f3ornits.limits = {"initial_step", "min_step", "max_step"};
  return {of_degree("jacobi", 0),
          of_degree("jacobi", 1),
          of_degree("jacobi", 2),
          of_degree("gauss-seidel", 1),
          implicit("missiles"),
          ifosmondi,
          f3ornits};
}

/// How the motion of a system is spread over the time.
enum class Motion { Uniform, SeveralTimeScales, Other };
struct Tried {
  std::string system;
  Motion motion;
  bool quick = false;  ///< part of the short version
};
const std::vector<Tried> kTried = {{"light_pair", Motion::Uniform},
                                   {"weak_spring", Motion::Uniform, true},
                                   {"mechanical", Motion::Uniform},
                                   {"modulated_lotka_volterra", Motion::Other},
                                   {"pendulum", Motion::Other},
                                   {"fitzhugh_nagumo", Motion::Other},
                                   {"van_der_pol_5", Motion::SeveralTimeScales},
                                   {"brusselator", Motion::SeveralTimeScales},
                                   {"radiation", Motion::SeveralTimeScales, true}};

constexpr double kFloor = 2e-10;  // of the errors: what the integration inside the parts leaves
constexpr double kMostError = 0.05;
constexpr double kMostSteps = 1e6;

struct Point {
  double tolerance, error, calls, fixed_error;
};

/// The error of a fixed step with as many calls.
double fixed_at(Measurement& measurement, TriedMethod fixed, const Adaptive& method, double calls) {
  const System& system = measurement.system();
  double step = system.stop * static_cast<double>(system.parts.size()) / calls;
  BareRun run;
  for (int attempt = 0; attempt < 3; ++attempt) {
    for (const auto& option : method.limits) fixed.options[option] = step;
    run = measurement.run_bare(fixed, step);
    if (!run.completed) return std::numeric_limits<double>::infinity();
    const double more = static_cast<double>(run.calls) / calls;
    if (std::abs(more - 1.0) < 0.03) break;
    step *= more;
  }
  return run.error;
}

std::vector<Point> points_of(const Adaptive& method, const System& system, bool quick) {
  Measurement measurement(system);
  std::vector<Point> points;
  for (double tolerance = quick ? 1e-4 : 1e-2; tolerance > 0.9e-11; tolerance /= quick ? 10.0 : std::sqrt(10.0)) {
    TriedMethod tried = method.adaptive;
    TriedMethod fixed = method.fixed;
    for (const auto& option : method.tolerances) tried.options[option] = tolerance;
    tried.options["max_step"] = system.stop;
    if (!method.iteration.empty()) fixed.options[method.iteration] = std::min(1e-6, tolerance);
    const BareRun run = measurement.run_bare(tried, system.steps.front());
    if (!run.completed) {
      fmt::print("  {:>8.1e}  {}\n", tolerance, run.message);
      continue;
    }
    const auto calls = static_cast<double>(run.calls);
    points.push_back({tolerance, run.error, calls, fixed_at(measurement, fixed, method, calls)});
    fmt::print("  {:>8.1e} {:>10.3e} {:>8} {:>10.3e} {:>8.2f}\n", tolerance, run.error, run.calls,
               points.back().fixed_error, run.error / points.back().fixed_error);
    const bool enough = quick && tolerance < 2e-7;
    if (enough || run.error < kFloor || static_cast<double>(run.macro_steps) > (quick ? 4e5 : kMostSteps) / 4.0) break;
  }
  return points;
}

/// Of the logarithm of the error over that of the tolerance, by least squares.
double slope_of(const std::vector<Point>& points) {
  double n = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  for (const auto& point : points) {
    const double a = std::log10(point.tolerance);
    const double b = std::log10(point.error);
    n += 1.0, x += a, y += b, xx += a * a, xy += a * b;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

/// The median of error / error of a fixed step.
double median_ratio(const std::vector<Point>& points) {
  std::vector<double> ratios;
  for (const auto& point : points) ratios.push_back(point.error / point.fixed_error);
  std::sort(ratios.begin(), ratios.end());
  return ratios[ratios.size() / 2];
}

void judge(const Adaptive& method, const Tried& tried, std::vector<Point> points, bench::Budgets& budgets) {
  const std::string what = method.name + ", " + tried.system;
  std::erase_if(points, [](const Point& point) { return !(point.error >= kFloor && point.error < kMostError); });
  const double decades = points.size() < 2 ? 0.0 : std::log10(points.front().tolerance / points.back().tolerance);
  if (method.gains) budgets.check(what + ": decades short of 3", std::max(0.0, 3.0 - decades), 0.01, "");
  if (points.size() < 2) return;
  const double slope = slope_of(points);
  budgets.check(fmt::format("{}: slope {:.2f}, away from 1", what, slope), std::abs(slope - 1.0), 0.2, "");
  const double ratio = median_ratio(points);
  if (tried.motion == Motion::Uniform) budgets.check(what + ": of a fixed step", ratio, 1.5, "x");
  if (tried.motion == Motion::SeveralTimeScales && method.gains) {
    budgets.check(what + ": of a fixed step", ratio, 1.0 / 3.0, "x");
  }
}

struct Arguments {
  std::string method, system;
  bool quick = false;
};

int run(const Arguments& arguments) {
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  bench::Budgets budgets;
  const auto list = systems();
  for (const auto& method : adaptive_methods()) {
    if (method.name.find(arguments.method) == std::string::npos || (arguments.quick && !method.gains)) continue;
    for (const auto& tried : kTried) {
      if (tried.system.find(arguments.system) == std::string::npos || (arguments.quick && !tried.quick)) continue;
      const auto system =
          std::find_if(list.begin(), list.end(), [&](const System& one) { return one.name == tried.system; });
      fmt::print("{}, {}: tolerance, error, calls, error of a fixed step with as many calls, ratio\n", method.name,
                 tried.system);
      judge(method, tried, points_of(method, *system, arguments.quick), budgets);
    }
  }
  return budgets.exit_code();
}

}  // namespace
}  // namespace entrain::truth

int main(int count, char** values) {
  entrain::truth::Arguments arguments;
  const bool taken = entrain::bench::take_arguments(count, values, "bench_tolerance",
                                                    {{.name = "--method", .text = &arguments.method, .what = "NAME"},
                                                     {.name = "--system", .text = &arguments.system, .what = "NAME"},
                                                     {.name = "--quick", .flag = &arguments.quick}});
  return taken ? entrain::truth::run(arguments) : 2;
}
