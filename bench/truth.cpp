// Errors that runs claim, and their grades, against truth that the engine did not compute (docs/bench_truth.md).
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "truth/measure.hpp"

namespace entrain::truth {
namespace {

struct Arguments {
  std::string filter;
  std::string csv;
  bool quick = false;
};

void self_test(const System& system) {
  std::vector<double> times;
  for (int k = 0; k <= 200; ++k) times.push_back(system.stop * k / 200.0);
  const Course exact = true_course(system, times);
  const Course integrated = integrated_course(system, times);
  double worst = 0.0;
  for (std::size_t k = 0; k < exact.behind.size(); ++k) {
    worst = std::max(worst, std::abs(exact.behind[k] - integrated.behind[k]) / range_of(exact, k % exact.outputs));
  }
  fmt::print("{:<28} integrated against closed form: {:.1e}\n", system.name, worst);
}

int run(const Arguments& arguments) {
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  const auto list = systems();
  fmt::print("{} systems\n", list.size());
  for (const auto& system : list) {
    if (system.linear && system.stop < 1e4 && system.kind == "linear") self_test(system);
  }
  for (const auto& system : list) {
    if (system.name.find(arguments.filter) == std::string::npos) continue;
    const auto before = std::chrono::steady_clock::now();
    Measurement measurement(system);
    for (const double step : system.steps) {
      std::string line = fmt::format("{:<26} {:<7.3g}", system.name, step);
      for (const auto& choice : method_choices()) {
        if (arguments.quick && !choice.quick) continue;
        const auto measured = measurement.run(choice, step);
        if (measured.end == MeasuredRun::End::Refused) {
          line += fmt::format(" {:>7}", "-");
          if (!arguments.filter.empty()) fmt::print("   {}: {}\n", choice.name, measured.message);
          continue;
        }
        line += fmt::format("{}{:>7.1e}", measured.end == MeasuredRun::End::Failed ? "!" : " ", measured.worst_truth());
        if (!arguments.filter.empty()) {
          fmt::print("   {}: {} steps, {:.3f} s {}\n", choice.name, measured.macro_steps, measured.seconds,
                     measured.message);
        }
      }
      fmt::print("{}\n", line);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    if (seconds > 3.0) fmt::print("    {:.1f} s\n", seconds);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace entrain::truth

int main(int count, char** values) {
  entrain::truth::Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string argument = values[i];
    if (argument == "--quick") {
      arguments.quick = true;
    } else if (argument == "--filter" && i + 1 < count) {
      arguments.filter = values[++i];
    } else if (argument == "--csv" && i + 1 < count) {
      arguments.csv = values[++i];
    } else {
      fmt::print(stderr, "bench_truth [--filter NAME] [--csv FILE] [--quick]\n");
      return 2;
    }
  }
  return entrain::truth::run(arguments);
}
