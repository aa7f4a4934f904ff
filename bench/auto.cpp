// What `method = "auto"` costs besides the run: at most a twentieth of it, or 0.2 s.
#include "advise/choose_method.hpp"
#include "budget.hpp"
#include "entrain/entrain.hpp"

namespace entrain::bench {
namespace {

double best_seconds(const auto& work) {
  double best = 1e9;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) best = std::min(best, seconds_of(work));
  return best;
}

int run() {
  constexpr double kShare = 0.05;
  constexpr double kSeconds = 0.2;
  Budgets budgets;
  for (const std::string name :
       {"mechanical", "oscillator", "lotka_volterra", "chain", "two_mass", "car", "learning"}) {
    auto description = load(ENTRAIN_EXAMPLES "/" + name);
    description.method.value = method::kAuto;
    const auto chosen = advising::choose_method(description, {}).description;
    const double choice = best_seconds([&] { (void)advising::choose_method(description, {}); });
    const double whole = best_seconds([&] { Simulation(chosen).run(); });
    budgets.check(fmt::format("{}: auto {:.2f} ms, run {:.0f} ms", name, 1e3 * choice, 1e3 * whole), 1e3 * choice,
                  1e3 * std::max(kShare * whole, kSeconds), "ms");
  }
  return budgets.exit_code();
}

}  // namespace
}  // namespace entrain::bench

int main() {
  return entrain::bench::run();
}
