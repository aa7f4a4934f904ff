// What a process of its own costs an FMU, and what it brings: the time of one step with its exchange, beside a step in
// this process, and how far four FMUs of 1 ms overlap on two processors. By the wall clock: on a machine that does
// something else as well, the numbers are larger.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include "budget.hpp"
#include "entrain/entrain.hpp"
#include "entrain/simulation.hpp"
#include "wide_fmu.hpp"

namespace {

using namespace entrain;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

SystemDescription system_of(const fs::path& fmu, int count, bool isolate, double stop) {
  SystemDescription description;
  description.method.value = "jacobi";
  description.stop = {stop, {}};
  description.step = {0.001, {}};
  for (int i = 0; i < count; ++i) {
    auto& subsystem = description.subsystems.emplace_back();
    subsystem.name = fmt::format("s{}", i);
    subsystem.fmu = fmu.string();
    subsystem.isolate = {isolate, {}};
  }
  return description;
}

/// The wall clock between two macro steps.
class Stamps final : public Observer {
 public:
  void communicated(const Sample&, const RunSummary&) override { times.push_back(Clock::now()); }
  std::vector<Clock::time_point> times;
};

/// Of a macro step, in s; the first ones, in which processes wake up, do not count.
double median_step(const SystemDescription& description) {
  Simulation simulation(description);
  Stamps stamps;
  simulation.observe(stamps);
  if (simulation.run().termination != Termination::Completed) std::exit(1);
  std::vector<double> steps;
  for (std::size_t i = 11; i < stamps.times.size(); ++i) {
    steps.push_back(std::chrono::duration<double>(stamps.times[i] - stamps.times[i - 1]).count());
  }
  const auto middle = steps.begin() + std::ssize(steps) / 2;
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

double best_median(const SystemDescription& description) {
  double best = median_step(description);
  for (int i = 1; i < bench::kRepetitions; ++i) best = std::min(best, median_step(description));
  return best;
}

}  // namespace

int main() {
  const fs::path folder = fs::temp_directory_path() / fmt::format("entrain-bench-worker-{}", ::getpid());
  fs::create_directory(folder);
  bench::write_wide_fmu(ENTRAIN_WIDE_FMU, folder / "light.fmu");
  bench::write_wide_fmu(ENTRAIN_BUSY_FMU, folder / "busy.fmu");
  bench::Budgets budgets;
  const double here = best_median(system_of(folder / "light.fmu", 1, false, 20.0));
  const double there = best_median(system_of(folder / "light.fmu", 1, true, 20.0));
  fmt::print("a step of a light FMU in this process, median: {:.3g} us\n", here * 1e6);
  budgets.check("exchange with a worker, median", (there - here) * 1e6, 12.0, "us");
  // More workers than processors beside the run sleep at once: what waking takes, here with both at the same time.
  const double two_here = best_median(system_of(folder / "light.fmu", 2, false, 20.0));
  const double two_there = best_median(system_of(folder / "light.fmu", 2, true, 20.0));
  fmt::print("exchange with two workers on {} processors, median: {:.3g} us\n", std::thread::hardware_concurrency(),
             (two_there - two_here) * 1e6);
  const double one_by_one = best_median(system_of(folder / "busy.fmu", 4, false, 0.2));
  const double together = best_median(system_of(folder / "busy.fmu", 4, true, 0.2));
  fmt::print("4 FMUs of 1 ms: in this process {:.3g} ms, in 4 workers {:.3g} ms: {:.3g} times as fast\n",
             one_by_one * 1e3, together * 1e3, one_by_one / together);
  budgets.check("4 FMUs of 1 ms in 4 workers, relative time", together / one_by_one, 1.0 / 1.8, "x");
  fs::remove_all(folder);
  return budgets.exit_code();
}
