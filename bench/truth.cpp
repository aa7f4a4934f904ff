// Errors that runs claim, and their grades, against truth that the engine did not compute (docs/bench_truth.md).
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "budget.hpp"
#include "truth/measure.hpp"
#include "truth/score.hpp"

namespace entrain::truth {
namespace {

struct Arguments {
  std::string filter;
  std::string csv;
  bool quick = false;
};

/// Two ways to the truth of a linear system: the exponential of its matrix, and the integrator that the others rely on.
double difference_of_truths(const System& system) {
  std::vector<double> times;
  for (int k = 0; k <= 200; ++k) times.push_back(system.stop * k / 200.0);
  const Course exact = true_course(system, times);
  const Course integrated = integrated_course(system, times);
  double worst = 0.0;
  for (std::size_t k = 0; k < exact.behind.size(); ++k) {
    worst = std::max(worst, std::abs(exact.behind[k] - integrated.behind[k]) / range_of(exact, k % exact.outputs));
  }
  return worst;
}

/// The order of a method in its step, by true errors.
double true_order(const System& system, const char* name) {
  Measurement measurement(system);
  for (const auto& tried : tried_methods()) {
    if (tried.name != name) continue;
    const double coarse = measurement.run(tried, 0.02).worst_truth();
    const double fine = measurement.run(tried, 0.01).worst_truth();
    return std::log2(coarse / fine);
  }
  return 0.0;
}

void test_truth(const std::vector<System>& list, bench::Budgets& budgets) {
  double worst = 0.0;
  for (const auto& system : list) {
    if (system.kind == "linear" || system.kind == "loop" || system.kind == "units") {
      worst = std::max(worst, difference_of_truths(system));
    }
    if (system.name != "pair") continue;
    budgets.check("order of jacobi 0, away from 1", std::abs(true_order(system, "jacobi 0") - 1.0), 0.1, "");
    budgets.check("order of jacobi 1, away from 2", std::abs(true_order(system, "jacobi 1") - 2.0), 0.1, "");
    budgets.check("order of missiles, away from 4", std::abs(true_order(system, "missiles") - 4.0), 0.3, "");
  }
  budgets.check("truth integrated against its closed form", worst, 1e-10, "");
}

int run(const Arguments& arguments) {
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  bench::Budgets budgets;
  const auto list = systems();
  test_truth(list, budgets);
  std::set<std::string> done;
  std::vector<MeasuredRun> runs;
  if (!arguments.csv.empty()) runs = read_csv(arguments.csv, done);
  for (const auto& system : list) {
    if (system.name.find(arguments.filter) == std::string::npos || (arguments.quick && !system.quick)) continue;
    if (done.count(system.name) > 0) continue;
    const std::size_t before = runs.size();
    Measurement measurement(system);
    for (const double step : system.steps) {
      std::string line = fmt::format("{:<26} {:<7.3g}", system.name, step);
      for (const auto& tried : tried_methods()) {
        if (arguments.quick && !tried.quick) continue;
        const auto& measured = runs.emplace_back(measurement.run(tried, step));
        if (measured.end == MeasuredRun::End::Refused) {
          line += fmt::format(" {:>8}", "-");
        } else {
          line += fmt::format("  {:>6.0e}{}", measured.worst_truth(), to_string(measured.verdict.grade).substr(0, 2));
        }
      }
      fmt::print("{}\n", line);
    }
    if (!arguments.csv.empty()) append_csv(std::span(runs).subspan(before), system.name, arguments.csv);
  }
  print_scores(runs, budgets, arguments.quick);
  return budgets.exit_code();
}

}  // namespace
}  // namespace entrain::truth

int main(int count, char** values) {
  entrain::truth::Arguments arguments;
  const bool taken = entrain::bench::take_arguments(count, values, "bench_truth",
                                                    {{.name = "--filter", .text = &arguments.filter, .what = "NAME"},
                                                     {.name = "--csv", .text = &arguments.csv, .what = "FILE"},
                                                     {.name = "--quick", .flag = &arguments.quick}});
  return taken ? entrain::truth::run(arguments) : 2;
}
