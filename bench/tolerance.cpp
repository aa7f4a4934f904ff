// Errors of adaptive runs over their tolerance, and against fixed steps at equal calls, by truth that the engine did
// not compute (docs/bench_tolerance.md).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "budget.hpp"
#include "truth/measure.hpp"

namespace entrain::truth {
namespace {

/// A method with a tolerance, and the same with a fixed step.
struct Adaptive {
  std::string name;
  TriedMethod adaptive, fixed;
  std::vector<std::string> tolerances;  ///< options that are the tolerance
  bool fixed_by_limits = false;         ///< a fixed step is one whose limits are equal
};

std::vector<Adaptive> adaptive_methods() {
  using Options = std::map<std::string, OptionValue>;
  const auto of_degree = [](const std::string& method, std::int64_t degree) {
    const Options fixed{{"degree", degree}};
    Options adaptive = fixed;
    adaptive["adaptive"] = true;
    const std::string name = fmt::format("{} {}", method, degree);
    return Adaptive{name, {name, method, adaptive}, {name, method, fixed}, {"relative_tolerance"}, false};
  };
  const auto implicit = [](const std::string& method) {
    return Adaptive{
        method, {method, method, {{"adaptive", true}}}, {method, method, {}}, {"relative_tolerance"}, false};
  };
  return {of_degree("jacobi", 0),
          of_degree("jacobi", 1),
          of_degree("jacobi", 2),
          of_degree("gauss-seidel", 1),
          implicit("missiles"),
          implicit("ifosmondi"),
          {"f3ornits",
           {"f3ornits", "f3ornits", {}},
           {"f3ornits", "f3ornits", {}},
           {"relative_tolerance", "absolute_tolerance"},
           true}};
}

/// How the motion of a system is spread over the time.
struct Tried {
  std::string system;
  bool several_time_scales;
};
const std::vector<Tried> kTried = {
    {"light_pair", false},     {"weak_spring", false},   {"mechanical", false},
    {"pendulum", false},       {"van_der_pol_5", true},  {"brusselator", true},
    {"fitzhugh_nagumo", true}, {"stiff_reaction", true}, {"modulated_lotka_volterra", false},
    {"radiation", true}};

constexpr double kFloor = 2e-10;  // of the errors: what the integration inside the parts leaves
constexpr std::uint64_t kMostCalls = 150000;

struct Point {
  double tolerance, error, calls, fixed_error;
};

/// The error of a fixed step with as many calls.
double fixed_at(Measurement& measurement, const Adaptive& method, const System& system, double calls) {
  double step = system.stop * static_cast<double>(system.parts.size()) / calls;
  BareRun run;
  for (int attempt = 0; attempt < 3; ++attempt) {
    TriedMethod fixed = method.fixed;
    if (method.fixed_by_limits) {
      for (const char* option : {"initial_step", "min_step", "max_step"}) fixed.options[option] = step;
    }
    run = measurement.run_bare(fixed, step);
    if (!run.completed) return std::numeric_limits<double>::infinity();
    const double more = static_cast<double>(run.calls) / calls;
    if (std::abs(more - 1.0) < 0.03) break;
    step *= more;
  }
  return run.error;
}

double iteration_share = 0.0;
std::vector<Point> points_of(const Adaptive& method, const System& system) {
  Measurement measurement(system);
  std::vector<Point> points;
  for (double tolerance = 1e-2; tolerance > 0.9e-11; tolerance /= std::sqrt(10.0)) {
    TriedMethod tried = method.adaptive;
    for (const auto& option : method.tolerances) tried.options[option] = tolerance;
    if (method.name == "ifosmondi" && iteration_share > 0.0) {
      tried.options["iteration_tolerance"] = iteration_share * tolerance;
    }
    const BareRun run = measurement.run_bare(tried, system.steps.front());
    if (!run.completed) {
      fmt::print("  {:>8.1e}  {}\n", tolerance, run.message);
      if (!points.empty()) break;
      continue;
    }
    const auto calls = static_cast<double>(run.calls);
    points.push_back({tolerance, run.error, calls, fixed_at(measurement, method, system, calls)});
    fmt::print("  {:>8.1e} {:>10.3e} {:>8} {:>10.3e} {:>8.2f}\n", tolerance, run.error, run.calls,
               points.back().fixed_error, run.error / points.back().fixed_error);
    if (run.error < kFloor || run.calls > kMostCalls) break;
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

void judge(const std::string& what, std::vector<Point> points, bool several, bench::Budgets& budgets) {
  std::erase_if(points, [](const Point& point) { return !(point.error >= kFloor && point.error < 0.1); });
  const double decades = points.size() < 2 ? 0.0 : std::log10(points.front().tolerance / points.back().tolerance);
  budgets.check(what + ": decades short of 3", std::max(0.0, 3.0 - decades), 0.01, "");
  if (points.size() < 2) return;
  budgets.check(what + fmt::format(": slope {:.2f}, away from 1", slope_of(points)), std::abs(slope_of(points) - 1.0),
                0.2, "");
  budgets.check(what + ": error / fixed at equal calls", median_ratio(points), several ? 1.0 / 3.0 : 1.5, "x");
}

int run(const std::string& of_method, const std::string& of_system) {
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  bench::Budgets budgets;
  const auto list = systems();
  for (const auto& method : adaptive_methods()) {
    if (method.name.find(of_method) == std::string::npos) continue;
    for (const auto& tried : kTried) {
      if (tried.system.find(of_system) == std::string::npos) continue;
      const auto system =
          std::find_if(list.begin(), list.end(), [&](const System& s) { return s.name == tried.system; });
      fmt::print("{}, {}: tolerance, error, calls, error of a fixed step with as many, ratio\n", method.name,
                 tried.system);
      judge(method.name + ", " + tried.system, points_of(method, *system), tried.several_time_scales, budgets);
    }
  }
  return budgets.exit_code();
}

}  // namespace
}  // namespace entrain::truth

int main(int count, char** values) {
  if (count > 3) entrain::truth::iteration_share = std::stod(values[3]);
  return entrain::truth::run(count > 1 ? values[1] : "", count > 2 ? values[2] : "");
}
