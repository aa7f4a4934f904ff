// What the engine costs beyond the subsystems: a chain of native masses stepped by a bare loop over the same
// subsystem calls, and by the engine (jacobi, held inputs, nothing recorded), in one run.
#include <cstdio>
#include <memory>
#include <vector>

#include "budget.hpp"
#include "entrain/simulation.hpp"
#include "models/chain_system.hpp"
#include "models/registry.hpp"
#include "subsystem/native/native_subsystem.hpp"

namespace {

using namespace entrain;

constexpr double kStep = 0.01;

std::size_t steps_for(std::size_t masses) {
  return 2'000'000 / masses;
}

/// chain.mass: inputs left_x, left_v, right_F; outputs x, v, F_left.
class BareLoop {
 public:
  explicit BareLoop(std::size_t masses) : inputs_(3 * masses, 0.0), outputs_(3 * masses, 0.0) {
    for (std::size_t i = 0; i < masses; ++i) {
      masses_.push_back(subsystem::make_native_subsystem("m", models::make_built_in_model("chain.mass")));
      if (i == 0) masses_[0]->set_start(*masses_[0]->variables().find_startable("x"), 1.0);
      masses_[i]->initialize(0.0, 1e9);
    }
  }
  void run(std::size_t steps) {
    const std::size_t n = masses_.size();
    for (std::size_t k = 0; k < steps; ++k) {
      const double from = static_cast<double>(k) * kStep;
      for (std::size_t i = 0; i < n; ++i) {
        inputs_[3 * i] = i > 0 ? outputs_[3 * i - 3] : 0.0;
        inputs_[3 * i + 1] = i > 0 ? outputs_[3 * i - 2] : 0.0;
        inputs_[3 * i + 2] = i + 1 < n ? outputs_[3 * i + 5] : 0.0;
      }
      for (std::size_t i = 0; i < n; ++i) {
        const auto report = masses_[i]->step({from, kStep, InputBlock(&inputs_[3 * i], 3, 0)}, {&outputs_[3 * i], 3});
        if (report.outcome != StepOutcome::Completed) std::abort();
      }
    }
  }

 private:
  std::vector<std::unique_ptr<Subsystem>> masses_;
  std::vector<double> inputs_, outputs_;
};

double engine_seconds(std::size_t masses, std::size_t steps) {
  auto description = models::chain_system(masses);
  description.step = {kStep, {}};
  description.stop = {static_cast<double>(steps + 1) * kStep, {}};
  Simulation simulation(description);
  simulation.run_until(kStep);  // initialisation and the first step are not the loop
  return bench::seconds_of([&] { simulation.run(); });
}

}  // namespace

int main() {
  bench::Budgets budgets;
  fmt::print("per macro step and subsystem, best of {}\n", bench::kRepetitions);
  // A mass takes about 35 ns a step, so these ratios show every nanosecond the engine adds (about 30 with three inputs
  // and three outputs: transfer, checks, residual). They guard against getting slower.
  struct Case {
    std::size_t masses;
    double budget;
  };
  for (const auto& [masses, budget] : {Case{2, 2.6}, Case{10, 2.2}, Case{100, 2.1}, Case{1000, 1.7}}) {
    const std::size_t steps = steps_for(masses);
    double bare = 1e9;
    double engine = 1e9;
    for (int i = 0; i < bench::kRepetitions; ++i) {
      BareLoop loop(masses);
      loop.run(1);
      bare = std::min(bare, bench::seconds_of([&] { loop.run(steps); }));
      engine = std::min(engine, engine_seconds(masses, steps));
    }
    const double to_ns = 1e9 / static_cast<double>(steps * masses);
    budgets.check(
        fmt::format("N = {:<5} bare loop {:5.1f} ns, engine {:5.1f} ns", masses, bare * to_ns, engine * to_ns),
        engine / bare, budget, "x");
  }
  return budgets.exit_code();
}
