#include "run/thread_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "coupling/engine.hpp"

namespace entrain::running {
namespace {

constexpr std::uint64_t kWarmingSteps = 8;  // which prepare what later ones reuse
constexpr int kWindows = 3;                 // of each kind, the best of which counts
constexpr std::uint64_t kFewestSteps = 4;   // of a window ...
constexpr std::chrono::microseconds kShortest(1000);
constexpr std::chrono::milliseconds kLongest(100);  // ... unless these last longer
constexpr double kHandOver = 2e-6;                  // seconds of a batch of two threads
constexpr double kWorthTrying = 0.9;                // of the time without threads
constexpr double kWorthKeeping = 0.95;

/// Of the calls that are logged, the shortest of each subsystem: others may have been interrupted.
std::vector<double> shortest_calls(const coupling::StepExecutor& executor) {
  std::vector<double> shortest(executor.size(), std::numeric_limits<double>::infinity());
  for (const auto& call : executor.call_log().calls()) {
    const double seconds = std::chrono::duration<double>(call.ended - call.begun).count();
    shortest[call.subsystem] = std::min(shortest[call.subsystem], seconds);
  }
  return shortest;
}

}  // namespace

int threads_allowed(const CoupledSystem& system, const std::vector<std::filesystem::path>& fmus) {
  const auto& executor = system.engine().executor();
  std::set<std::filesystem::path> seen;
  int here = 0;
  for (std::size_t s = 0; s < executor.size(); ++s) {
    if (executor.of(SubsystemId{s}).made_apart) continue;  // computes beside the others anyway
    ++here;
    if (!fmus[s].empty() && !seen.insert(fmus[s]).second) return 1;
  }
  return here;
}

void ThreadChoice::begin(CoupledSystem& system, const RunSettings& /*settings*/) {
  phase_ = Phase::Decided;
  if (most_ < 2) return;
  system.engine().executor().use_threads(1);  // of a run before
  open_window(Phase::Warming);
}

void ThreadChoice::after_step(CoupledSystem& system, Time /*from*/, Time /*to*/) {
  if (phase_ == Phase::Decided) return;
  ++steps_;
  if (phase_ == Phase::Warming) {
    if (steps_ >= kWarmingSteps || Clock::now() - opened_ >= kLongest) open_window(Phase::Alone);
    return;
  }
  if (!is_measured()) return;
  if (phase_ == Phase::Alone) {
    without_ = best_;
    threads_ = useful_threads(system, without_);
    if (threads_ < 2) {
      phase_ = Phase::Decided;
      return;
    }
    system.engine().executor().use_threads(threads_);
    open_window(Phase::Together);
    return;
  }
  phase_ = Phase::Decided;
  if (best_ <= kWorthKeeping * without_) {
    chosen_(threads_, without_, best_);
    return;
  }
  system.engine().executor().use_threads(1);
}

void ThreadChoice::open_window(Phase phase) {
  if (phase != phase_) {
    windows_ = 0;
    best_ = std::numeric_limits<double>::infinity();
  }
  phase_ = phase;
  steps_ = 0;
  opened_ = Clock::now();
}

bool ThreadChoice::is_measured() {
  const auto lasted = Clock::now() - opened_;
  const bool enough = steps_ >= kFewestSteps && lasted >= kShortest;
  if (!enough && lasted < kLongest) return false;
  best_ = std::min(best_, std::chrono::duration<double>(lasted).count() / static_cast<double>(steps_));
  if (++windows_ == kWindows) return true;
  open_window(phase_);
  return false;
}

int ThreadChoice::useful_threads(CoupledSystem& system, double macro_step) const {
  const auto& executor = system.engine().executor();
  const auto calls = shortest_calls(executor);
  double sum = 0.0;
  double heaviest = 0.0;
  for (std::size_t s = 0; s < calls.size(); ++s) {
    if (executor.of(SubsystemId{s}).made_apart || !std::isfinite(calls[s])) continue;
    sum += calls[s];
    heaviest = std::max(heaviest, calls[s]);
  }
  if (!(heaviest > 0.0)) return 1;
  const int threads = std::min(most_, static_cast<int>(std::ceil(std::min(sum / heaviest, 1e3))));
  const double saved = sum - std::max(heaviest, sum / threads) - kHandOver;
  return saved >= (1.0 - kWorthTrying) * macro_step ? threads : 1;
}

}  // namespace entrain::running
