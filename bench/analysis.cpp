// How many couplings are judged per second.
#include <numeric>

#include "analysis/measures.hpp"
#include "analysis/search.hpp"
#include "budget.hpp"
#include "support/mass_network.hpp"
#include "support/ring_network.hpp"

namespace entrain::bench {
namespace {

/// Seconds per choice; every choice has another step, so no exponential is shared.
double seconds_per_choice(std::size_t subsystems, int degree) {
  const LinearNetwork network = test::ring(subsystems);
  std::vector<std::size_t> sequence(subsystems);
  std::iota(sequence.begin(), sequence.end(), std::size_t{0});
  std::vector<CouplingChoice> choices;
  for (int k = 1; k <= 500; ++k) choices.push_back(method::sequential_choice(sequence, degree, 0.01 * k));
  double best = 1e9;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    best = std::min(best, seconds_of([&] { analysis::evaluate_all({&network, 1}, choices, 1); }));
  }
  return best / static_cast<double>(choices.size());
}

/// Seconds per judged choice of a search by NSGA-II over three subsystems: sequence, three gains, degree, step.
double seconds_per_evolved_choice() {
  const LinearNetwork network = test::ring(3);
  const analysis::EvolutionSettings settings{.shortest_step = 0.01,
                                             .longest_step = 5.0,
                                             .highest_degree = 3,
                                             .largest_gain = 0.95,
                                             .gained = {},
                                             .generations = 20};
  double best = 1e9;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    best = std::min(best, seconds_of([&] { analysis::evolve_choices({&network, 1}, settings); }));
  }
  return best / (settings.population * (settings.generations + 1.0));
}

/// The stability of one coupling of many masses, with inputs of degree 3.
double seconds_per_radius(std::size_t count) {
  const LinearNetwork network = test::masses(count, 0.0);
  const auto choice = method::parallel_choice(count, 3, 0.01);
  return seconds_of([&] {
    const auto steps = analysis::subsystem_steps(network, choice.step, choice.degree);
    analysis::step_radius(analysis::StepProgram(network, steps, choice));
  });
}

int run() {
  Budgets budgets;
  // Budgets: a thousand evaluations per second and more on one thread, for small networks.
  for (const auto& [subsystems, degree, budget] :
       {std::tuple{2, 0, 200.0}, std::tuple{2, 2, 300.0}, std::tuple{5, 1, 1000.0}}) {
    const double microseconds = 1e6 * seconds_per_choice(static_cast<std::size_t>(subsystems), degree);
    budgets.check(fmt::format("{} subsystems, degree {}: {:.0f} evaluations/s", subsystems, degree, 1e6 / microseconds),
                  microseconds, budget, "us");
  }
  const double evolved = 1e6 * seconds_per_evolved_choice();
  budgets.check(fmt::format("search over 3 subsystems: {:.0f} evaluations/s", 1e6 / evolved), evolved, 600.0, "us");
  for (const std::size_t count : {100, 1000}) {
    budgets.check(fmt::format("spectral radius of {} masses", count), seconds_per_radius(count),
                  0.01 * static_cast<double>(count), "s");
  }
  return budgets.exit_code();
}

}  // namespace
}  // namespace entrain::bench

int main() {
  return entrain::bench::run();
}
