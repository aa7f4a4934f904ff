// What a sweep costs besides its runs: the wall time over the summed seconds of the runs / jobs.
#include <chrono>
#include <filesystem>

#include "budget.hpp"
#include "entrain/entrain.hpp"

namespace entrain::bench {
namespace {

namespace fs = std::filesystem;

struct MeasuredSweep {
  double ratio = 1e9;
  double per_case = 0.0;  ///< s, of the runs
};

MeasuredSweep measure(const SystemDescription& description, int jobs, const fs::path& folder) {
  SweepOptions options;
  options.sweep.vary = {{"prey.alpha", "0.5..0.8/1000", {}}};
  options.folder = folder;
  options.jobs = jobs;
  options.estimate = false;
  const auto before = std::chrono::steady_clock::now();
  const auto result = sweep(description, options);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  double runs = 0.0;
  for (const auto& row : result.cases) runs += row.seconds;
  fs::remove_all(folder);
  return {wall / (runs / jobs), runs / static_cast<double>(result.cases.size())};
}

int run() {
  constexpr double kBudget = 1.15;
  constexpr int kSweeps = 2;  // each takes tens of seconds
  Budgets budgets;
  const auto description = load(ENTRAIN_EXAMPLES "/lotka_volterra");
  const fs::path folder = fs::temp_directory_path() / "entrain-bench-sweep";
  fs::remove_all(folder);
  for (const int jobs : {1, 2}) {
    MeasuredSweep best;
    for (int repetition = 0; repetition < kSweeps; ++repetition) {
      const auto measured = measure(description, jobs, folder);
      if (measured.ratio < best.ratio) best = measured;
    }
    budgets.check(fmt::format("1000 cases of {:.2g} ms, {} job{}", 1e3 * best.per_case, jobs, jobs > 1 ? "s" : ""),
                  best.ratio, kBudget, "x");
  }
  return budgets.exit_code();
}

}  // namespace
}  // namespace entrain::bench

int main() {
  return entrain::bench::run();
}
