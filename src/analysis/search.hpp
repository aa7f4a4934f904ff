#pragma once

#include <span>
#include <vector>

#include "analysis/step_program.hpp"

namespace entrain {

/// The two measures of paper 003; smaller is better.
struct Quality {
  double radius = 0.0;       ///< spectral radius per macro step
  double consistency = 0.0;  ///< relative consistency
};

/// The measures of every choice, in their order, with as many threads as are given. Neighbours of the same step and
/// degree share the exponentials of their subsystems.
std::vector<Quality> evaluate_all(const LinearNetwork& network, std::span<const CouplingChoice> choices, int threads);

/// Numbers of those that no other dominates: none is at least as good in every objective and better in one. Smaller is
/// better. NaN is never on the front.
std::vector<std::size_t> pareto_front(std::span<const std::vector<double>> objectives);

struct FoundChoice {
  CouplingChoice choice;
  Quality quality;
};

struct EvolutionSettings {
  double shortest_step = 0.0;
  double longest_step = 0.0;
  int highest_degree = kMaxInputDegree;
  double largest_gain = 0.0;  ///< 0 = no gains
  unsigned population = 60;   ///< a multiple of 4
  unsigned generations = 60;
  unsigned seed = 1;
};

/// The front of sequence, degree, gains and step under three objectives (radius, consistency, a long step), by NSGA-II
/// (pagmo2). For more parameters than a grid can hold; deterministic for a seed.
std::vector<FoundChoice> evolve_choices(const LinearNetwork& network, const EvolutionSettings& settings);

}  // namespace entrain
