// Errors and calls of every method on hard couplings, against truth that the engine did not compute
// (docs/theory/identified.md).
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "budget.hpp"
#include "truth/measure.hpp"

namespace entrain::truth {
namespace {

struct Arguments {
  std::string filter;
  bool quick = false;
};

const std::vector<TriedMethod>& hard_methods() {
  const auto degree = [](std::int64_t value) -> std::map<std::string, OptionValue> { return {{"degree", value}}; };
  static const std::vector<TriedMethod> methods = {
      {"jacobi 0", "jacobi"},
      {"jacobi 1", "jacobi", degree(1)},
      {"gauss-s 0", "gauss-seidel"},
      {"gauss-s 1", "gauss-seidel", degree(1)},
      {"f3ornits", "f3ornits"},
      {"continued", "missiles", {}, false, "continued"},
      {"missiles", "missiles"},
      {"ifosmondi", "ifosmondi", {}, false, "identified"},
      {"f3ornits 3", "f3ornits", {{"max_order", std::int64_t{3}}}},
      {"waveform", "waveform"},
  };
  return methods;
}

constexpr std::size_t kContinued = 5;
constexpr std::size_t kIdentified = 6;
constexpr std::size_t kWaveform = 9;

double measured(const BareRun& run) {
  return run.completed ? run.error : HUGE_VAL;
}

std::string shown(const BareRun& run) {
  return run.completed ? fmt::format("{:.1e}", run.error) : std::string("-");
}

/// With everything that the subsystems can do: how many evaluations the iteration needs.
double evaluations(const System& bare_system, const std::string& solver, double step) {
  System system = bare_system;
  for (auto& part : system.parts) part.bare = false;
  Measurement measurement(system);
  const TriedMethod tried{solver, "ifosmondi", {{"solver", solver}}};
  const BareRun run = measurement.run_bare(tried, step);
  return run.completed ? static_cast<double>(run.iterations) / static_cast<double>(run.macro_steps) : HUGE_VAL;
}

struct Score {
  std::size_t solved = 0, fewer = 0;
  double most = 0.0;         // evaluations of iqn-ils over those of anderson
  double worst_ratio = 0.0;  // error of identified over that of continued
  double worst_share = 0.0;  // error of waveform over that of the best other method, at unequal steps and equal calls
};

void compare_solvers(const System& system, Score& score, std::string& line) {
  const double anderson = evaluations(system, "anderson", system.steps.back());
  const double columns = evaluations(system, "iqn-ils", system.steps.back());
  line += fmt::format("   {:>5.3g} {:>5.3g}", anderson, columns);
  if (!(anderson < HUGE_VAL)) return;
  ++score.solved;
  if (columns < anderson) ++score.fewer;
  score.most = std::max(score.most, columns / anderson);
}

void compare_waveforms(const std::vector<BareRun>& runs, Score& score) {
  double best = HUGE_VAL;
  for (std::size_t i = 0; i < kWaveform; ++i) {
    if (runs[i].calls <= runs[kWaveform].calls) best = std::min(best, measured(runs[i]));
  }
  score.worst_share = std::max(score.worst_share, measured(runs[kWaveform]) / best);
}

int run(const Arguments& arguments) {
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  bench::Budgets budgets;
  Score score;
  fmt::print(
      "rms error of the worst output, relative to its range; then evaluations of ifosmondi with rollback\n{:<26}", "");
  for (const auto& tried : hard_methods()) fmt::print(" {:>9}", tried.name);
  fmt::print("   anderson iqn-ils\n");
  std::vector<double> pair;
  for (const auto& system : hard_systems()) {
    if (system.name.find(arguments.filter) == std::string::npos || (arguments.quick && !system.quick)) continue;
    Measurement measurement(system);
    for (const double step : system.steps) {
      std::string line = fmt::format("{:<16} {:<9.3g}", system.name, step);
      std::string calls = fmt::format("{:<26}", "  calls");
      std::vector<BareRun> runs;
      for (const auto& tried : hard_methods()) {
        runs.push_back(measurement.run_bare(tried, step));
        line += fmt::format(" {:>9}", shown(runs.back()));
        calls += fmt::format(" {:>9}", runs.back().calls);
      }
      if (system.name == "strong_pair") pair.push_back(measured(runs[kIdentified]));
      if (runs[kContinued].completed && measured(runs[kContinued]) > 1e-9) {
        score.worst_ratio = std::max(score.worst_ratio, measured(runs[kIdentified]) / measured(runs[kContinued]));
      }
      if (step == system.steps.back() && system.kind != "steps") compare_solvers(system, score, line);
      if (system.kind == "steps" && !system.parts[0].bare) compare_waveforms(runs, score);
      fmt::print("{}\n{}\n", line, calls);
      if (arguments.filter.empty()) continue;
      for (std::size_t i = 0; i < runs.size(); ++i) {
        if (!runs[i].completed) fmt::print("  {}: {}\n", hard_methods()[i].name, runs[i].message);
      }
    }
  }
  if (pair.size() == 4) {
    budgets.check("strong pair, missiles, step 2.5e-4", 100.0 * pair[2], 1.0, "%");
    budgets.check("its order, below 2 by", 2.0 - std::log2(pair[0] / pair[3]) / 3.0, 0.1, "");
  }
  budgets.check("identified over continued, worst", score.worst_ratio, 1.1, "x");
  if (score.worst_share > 0.0) {
    budgets.check("waveform over the best other, unequal steps", score.worst_share, 0.1, "x");
  }
  if (score.solved > 0) {
    const double share = 1.0 - static_cast<double>(score.fewer) / static_cast<double>(score.solved);
    budgets.check("share of systems without gain by iqn-ils", share, 0.5, "");
    budgets.check("evaluations, iqn-ils over anderson, worst", score.most, 1.2, "x");
  }
  return budgets.exit_code();
}

}  // namespace
}  // namespace entrain::truth

int main(int count, char** values) {
  entrain::truth::Arguments arguments;
  const bool taken = entrain::bench::take_arguments(
      count, values, "bench_hard",
      {{.name = "--filter", .text = &arguments.filter, .what = "NAME"}, {.name = "--quick", .flag = &arguments.quick}});
  return taken ? entrain::truth::run(arguments) : 2;
}
