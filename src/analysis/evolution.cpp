// NSGA-II by pagmo2; by itself because of its headers.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <pagmo/algorithm.hpp>
#include <pagmo/algorithms/nsga2.hpp>
#include <pagmo/population.hpp>
#include <pagmo/problem.hpp>

#include "analysis/measures.hpp"
#include "analysis/search.hpp"

namespace entrain {
namespace {

/// What a vector of numbers means: a key per subsystem (called in ascending order of the keys), a gain per input, the
/// logarithm of the step; then, as the integer part, the degree.
class Decoder {
 public:
  Decoder(const LinearNetwork& network, const EvolutionSettings& settings)
      : subsystems_(network.subsystems.size()),
        gains_(settings.largest_gain > 0.0 ? network.input_count() : 0),
        settings_(&settings) {}

  std::pair<pagmo::vector_double, pagmo::vector_double> bounds() const {
    pagmo::vector_double low(subsystems_, 0.0);
    pagmo::vector_double high(subsystems_, 1.0);
    low.insert(low.end(), gains_, 0.0);
    high.insert(high.end(), gains_, settings_->largest_gain);
    low.push_back(std::log10(settings_->shortest_step));
    high.push_back(std::log10(settings_->longest_step));
    low.push_back(0.0);
    high.push_back(settings_->highest_degree);
    return {low, high};
  }

  CouplingChoice choice(const pagmo::vector_double& x) const {
    std::vector<std::size_t> sequence(subsystems_);
    std::iota(sequence.begin(), sequence.end(), std::size_t{0});
    std::stable_sort(sequence.begin(), sequence.end(), [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
    auto result = sequential_choice(sequence, static_cast<int>(std::lround(x.back())), std::pow(10.0, x[x.size() - 2]));
    const auto gains = x.begin() + static_cast<std::ptrdiff_t>(subsystems_);
    result.gains.assign(gains, gains + static_cast<std::ptrdiff_t>(gains_));
    return result;
  }

 private:
  std::size_t subsystems_;
  std::size_t gains_;
  const EvolutionSettings* settings_;
};

/// The problem as pagmo asks for it: copied at will, so it borrows.
struct Problem3 {
  const LinearNetwork* network = nullptr;
  const ExactCoupling* exact = nullptr;
  const EvolutionSettings* settings = nullptr;

  pagmo::vector_double fitness(const pagmo::vector_double& x) const {
    const CouplingChoice choice = Decoder(*network, *settings).choice(x);
    const auto steps = subsystem_steps(*network, choice.step, choice.degree);
    const StepProgram program(*network, steps, choice);
    return {spectral_radius(program), relative_consistency(program, *exact), -std::log10(choice.step)};
  }
  std::pair<pagmo::vector_double, pagmo::vector_double> get_bounds() const {
    return Decoder(*network, *settings).bounds();
  }
  static pagmo::vector_double::size_type get_nobj() { return 3; }
  static pagmo::vector_double::size_type get_nix() { return 1; }
};

}  // namespace

std::vector<FoundChoice> evolve_choices(const LinearNetwork& network, const EvolutionSettings& settings) {
  const ExactCoupling exact = exact_coupling(network);
  const pagmo::problem problem(Problem3{&network, &exact, &settings});
  pagmo::population population(problem, settings.population, settings.seed);
  const pagmo::algorithm algorithm(pagmo::nsga2(settings.generations, 0.95, 10.0, 0.05, 50.0, settings.seed));
  population = algorithm.evolve(population);
  std::vector<std::vector<double>> objectives(population.get_f());
  std::vector<FoundChoice> front;
  const Decoder decoder(network, settings);
  for (const std::size_t member : pareto_front(objectives)) {
    front.push_back({decoder.choice(population.get_x()[member]), {objectives[member][0], objectives[member][1]}});
  }
  return front;
}

}  // namespace entrain
