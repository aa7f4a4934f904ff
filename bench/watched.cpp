// What it costs a run to be watched by the studio: 500 subsystems with 750 outputs, 12 of them sampled 30 times per
// second through the control channel, against the same run alone.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "budget.hpp"
#include "entrain/control.hpp"
#include "entrain/run.hpp"
#include "entrain/system.hpp"

namespace {

using namespace entrain;

constexpr int kPairs = 250;
constexpr int kShown = 12;
constexpr double kBudget = 1.05;

std::string pairs_text() {
  std::string text = "[run]\nstop = 20.0\nstep = 1e-3\nmethod = \"jacobi\"\n[record]\nvariables = []\n";
  std::string connections = "[connections]\n";
  for (int i = 0; i < kPairs; ++i) {
    text += fmt::format(
        "[subsystems.l{0}]\nmodel = \"mechanical.left\"\n[subsystems.r{0}]\nmodel = \"mechanical.right\"\n", i);
    connections += fmt::format("\"l{0}.v\" = \"r{0}.v\"\n\"l{0}.x\" = \"r{0}.x\"\n\"r{0}.F\" = \"l{0}.F\"\n", i);
  }
  return text + connections;
}

/// Of the run alone, in s; `watched`: with a subscriber, whose samples are counted.
double run_seconds(const SystemDescription& system, const std::filesystem::path& folder, bool watched, int& samples) {
  std::atomic<bool> ended{false};
  std::thread watcher;
  RunDirectoryOptions options;
  options.folder = folder;
  options.overwrite = std::filesystem::exists(folder);
  options.estimate = false;
  double seconds = 0.0;
  std::chrono::steady_clock::time_point begun;
  options.progress.begun = [&](const RunResult&) {
    begun = std::chrono::steady_clock::now();
    if (!watched) return;
    watcher = std::thread([&] {
      std::vector<std::string> names;
      for (int i = 0; i < kShown; ++i) names.push_back(fmt::format("l{}.x", i));
      while (!ended) {
        try {
          RunControl control(folder);
          control.subscribe(names, 1.0 / 30.0, [&](const ControlledSample&) {
            ++samples;
            return true;
          });
        } catch (const std::exception&) {  // it has not begun, or has ended
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      }
    });
  };
  options.progress.ended = [&](const RunResult&) {
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  };
  run(system, options);
  ended = true;
  if (watcher.joinable()) watcher.join();
  return seconds;
}

}  // namespace

int main() {
  const auto place = std::filesystem::temp_directory_path() / fmt::format("entrain-bench-watched-{}", ::getpid());
  const auto system = entrain::parse(pairs_text(), "system.toml");
  int samples = 0;
  double alone = 1e9;
  double watched = 1e9;
  for (int i = 0; i < entrain::bench::kRepetitions; ++i) {
    alone = std::min(alone, run_seconds(system, place / "alone", false, samples));
    watched = std::min(watched, run_seconds(system, place / "watched", true, samples));
  }
  std::filesystem::remove_all(place);
  fmt::print("{} subsystems: alone {:.2f} s, watched {:.2f} s, {} samples sent\n", 2 * kPairs, alone, watched, samples);
  entrain::bench::Budgets budgets;
  budgets.check("run that is watched / alone", watched / alone, kBudget, "x");
  return samples == 0 ? 1 : budgets.exit_code();
}
