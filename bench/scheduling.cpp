// What it costs to decide which subsystem communicates when: the scheduler of f3ornits alone, on a chain of subsystems,
// per step of a subsystem. It may grow with the logarithm of their number.
#include <cmath>
#include <vector>

#include "budget.hpp"
#include "methods/asynchronous/step_scheduler.hpp"

namespace {

using namespace entrain;

/// Each reads both its neighbours.
Graph chain(std::size_t size) {
  std::vector<Graph::Node> nodes(size);
  std::vector<Connection> connections;
  std::size_t input = 0;
  for (std::size_t s = 0; s < size; ++s) {
    nodes[s].name = std::to_string(s);
    nodes[s].outputs = {"y"};
    for (const std::size_t other : {s - 1, s + 1}) {  // s - 1 wraps at the first
      if (other >= size) continue;
      nodes[s].inputs.push_back(std::to_string(other));
      connections.push_back({OutputId{other}, InputId{input++}});
    }
    nodes[s].feedthrough = Feedthrough(1, nodes[s].inputs.size());
  }
  return {std::move(nodes), std::move(connections)};
}

/// Nanoseconds per step of a subsystem, over about 1e6 of them.
double nanoseconds(std::size_t size, bool imposed) {
  std::vector<method::StepScheduler::Constraints> constraints(size, {std::nullopt, 0.0, 1e-9, kNever});
  for (std::size_t s = 0; s < size && imposed; ++s) {
    constraints[s].imposed = 1.0 + 0.5 * std::sqrt(static_cast<double>(s));  // hardly ever together
  }
  const std::vector<method::StepScheduler::Request> requests(size, {1.0, kNever});
  method::StepScheduler scheduler;
  scheduler.start(chain(size), constraints, 0.0, 1e15);
  std::vector<SubsystemId> due;
  for (std::size_t s = 0; s < size; ++s) due.emplace_back(s);
  due.reserve(size);
  Time now = 0.0;
  std::size_t steps = 0;
  const double seconds = bench::seconds_of([&] {
    while (steps < 1'000'000) {
      scheduler.plan(now, due, requests);
      now = scheduler.next(due);
      steps += due.size();
    }
  });
  return seconds * 1e9 / static_cast<double>(steps);
}

}  // namespace

int main() {
  bench::Budgets budgets;
  fmt::print("scheduling per step of a subsystem, best of {}\n", bench::kRepetitions);
  for (const bool imposed : {false, true}) {
    std::vector<double> best;
    for (const std::size_t size : {10U, 100U, 1000U}) {
      best.push_back(1e9);
      for (int i = 0; i < bench::kRepetitions; ++i) best.back() = std::min(best.back(), nanoseconds(size, imposed));
      const double growth = best.back() / best.front();
      // The logarithm of 1000 is three times that of 10; half as much again for what no longer fits the caches.
      const double budget = 1.5 * std::log(static_cast<double>(size)) / std::log(10.0);
      budgets.check(fmt::format("N = {:<5} {}: {:5.0f} ns, against N = 10", size,
                                imposed ? "imposed steps " : "all together  ", best.back()),
                    growth, budget, "x");
    }
  }
  return budgets.exit_code();
}
