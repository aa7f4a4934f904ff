// libentrain_pagmo.so: the only part of Entrain that is linked with pagmo, which takes 13 ms and 30 MB to load; loaded
// when a search needs it (docs/adr/0117).
#include <pagmo/algorithm.hpp>
#include <pagmo/algorithms/nsga2.hpp>
#include <pagmo/bfe.hpp>
#include <pagmo/population.hpp>
#include <pagmo/problem.hpp>

#include "analysis/pagmo_plugin.hpp"

namespace {

using entrain::analysis::EvolutionEffort;
using entrain::analysis::EvolutionProblem;

/// The problem as pagmo asks for it: copied at will, so it borrows.
struct BorrowedProblem {
  const EvolutionProblem* problem = nullptr;

  pagmo::vector_double fitness(const pagmo::vector_double& x) const { return problem->rate(x); }
  std::pair<pagmo::vector_double, pagmo::vector_double> get_bounds() const { return {problem->low, problem->high}; }
  pagmo::vector_double::size_type get_nobj() const { return problem->objectives; }
  pagmo::vector_double::size_type get_nix() const { return problem->integers; }
};

/// A generation at a time, so that the choices share the threads.
struct Batch {
  const EvolutionProblem* problem = nullptr;

  pagmo::vector_double operator()(const pagmo::problem& /*problem*/, const pagmo::vector_double& all) const {
    return problem->rate(all);
  }
};

std::vector<std::vector<double>> nsga2(const EvolutionProblem& problem, const EvolutionEffort& effort) {
  const pagmo::bfe batch(Batch{&problem});
  pagmo::population population(pagmo::problem(BorrowedProblem{&problem}), batch, effort.population, effort.seed);
  pagmo::nsga2 algorithm(effort.generations, 0.95, 10.0, 0.05, 50.0, effort.seed);
  algorithm.set_bfe(batch);
  population = pagmo::algorithm(std::move(algorithm)).evolve(population);
  return population.get_x();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const entrain::analysis::PagmoPlugin* entrain_pagmo() {
  static constexpr entrain::analysis::PagmoPlugin kCalls{ENTRAIN_VERSION, nsga2};
  return &kCalls;
}
