// What a learned correction costs in the run that uses it: the same explicit run with and without it, and the run with
// held outputs that needs no delay, on a chain of light masses (an output with feedthrough each).
#include "entrain/learning.hpp"
#include "budget.hpp"
#include "description/system_file.hpp"
#include "models/chain_system.hpp"

namespace {

using namespace entrain;

constexpr double kBudget = 1.1;

double seconds_of_run(const SystemDescription& description, const Learned* learned) {
  Simulation simulation(description, {.learned = learned});
  return bench::seconds_of([&] { simulation.run(); });
}

}  // namespace

int main() {
  bench::Budgets budgets;
  fmt::print("a run with a learned correction, best of {}\n", bench::kRepetitions);
  for (const std::size_t masses : {2U, 10U, 100U}) {
    auto chain = models::chain_system(masses, false);
    chain.step = {1e-2, {}};
    chain.stop = {4000.0 / static_cast<double>(masses), {}};
    LearnOptions once;
    once.iterations = 1;
    const Learned learned = learn(chain, once).learned;
    const auto corrected = with_learned(chain, learned);
    double with = 1e9;
    double without = 1e9;
    double held = 1e9;
    for (int i = 0; i < bench::kRepetitions; ++i) {
      without = std::min(without, seconds_of_run(corrected, nullptr));
      with = std::min(with, seconds_of_run(corrected, &learned));
      held = std::min(held, seconds_of_run(chain, nullptr));
    }
    const double per_step = 1e9 / (static_cast<double>(learned.steps) * static_cast<double>(masses));
    budgets.check(fmt::format("N = {:<4} {:5.1f} ns, uncorrected {:5.1f} ns, held {:5.1f} ns", masses, with * per_step,
                              without * per_step, held * per_step),
                  with / without, kBudget, "x");
  }
  return budgets.exit_code();
}
