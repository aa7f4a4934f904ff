#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "analysis/step_program.hpp"
#include "entrain/quality.hpp"

namespace entrain::analysis {

/// A coupled system at its operating points, at least one; the worst of them counts.
using OperatingNetworks = std::span<const LinearNetwork>;

/// The measures of every choice, in their order, with as many threads as are given. Neighbours of the same step and
/// degree share the exponentials of their subsystems. NaN where there is no step matrix, or its radius is not found,
/// and for all that are left once `interrupt` is set.
std::vector<Quality> evaluate_all(OperatingNetworks networks, std::span<const CouplingChoice> choices, int threads,
                                  const std::atomic<bool>* interrupt = nullptr);

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
  double largest_gain = 0.0;        ///< 0 = no gains
  std::vector<std::size_t> gained;  ///< the inputs that may have one; empty = all
  unsigned population = 60;         ///< a multiple of 4
  unsigned generations = 60;
  unsigned seed = 1;
  int threads = 1;                               ///< the front does not depend on them
  const std::atomic<bool>* interrupt = nullptr;  ///< ends it with what is judged by then
};

/// The front of sequence, degree, gains and step under three objectives (radius, consistency, a long step), by NSGA-II
/// (pagmo2). For more parameters than a grid can hold; deterministic for a seed. `seeds` are judged besides: what is
/// known to be good is not lost.
std::vector<FoundChoice> evolve_choices(OperatingNetworks networks, const EvolutionSettings& settings,
                                        std::span<const CouplingChoice> seeds = {});

/// Those of the choices that no other dominates under the three objectives. A tie goes to the first.
std::vector<FoundChoice> front_of(std::span<const CouplingChoice> choices, std::span<const Quality> qualities);

/// The knee of a front: the choice nearest to the best of each objective, where the radius, and the consistency and the
/// step by ratio, are scaled to the extent of the front. The front must not be empty.
std::size_t knee_of(std::span<const FoundChoice> front);

}  // namespace entrain::analysis
