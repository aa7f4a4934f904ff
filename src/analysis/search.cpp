#include "analysis/search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/measures.hpp"
#include "base/executor.hpp"

namespace entrain {
namespace {

struct Group {
  std::size_t first = 0;
  std::size_t end = 0;
};

/// Neighbours of the same step and degree, at most kMost together so that there is work for every thread.
std::vector<Group> groups_of(std::span<const CouplingChoice> choices) {
  constexpr std::size_t kMost = 256;
  std::vector<Group> groups;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const bool joins = !groups.empty() && i - groups.back().first < kMost && choices[i].step == choices[i - 1].step &&
                       choices[i].degree == choices[i - 1].degree;
    if (!joins) groups.push_back({i, i});
    groups.back().end = i + 1;
  }
  return groups;
}

bool dominates(const std::vector<double>& a, const std::vector<double>& b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(a[i] <= b[i])) return false;
    better = better || a[i] < b[i];
  }
  return better;
}

}  // namespace

std::vector<Quality> evaluate_all(const LinearNetwork& network, std::span<const CouplingChoice> choices, int threads) {
  std::vector<Quality> result(choices.size());
  const ExactCoupling exact = exact_coupling(network);
  const auto groups = groups_of(choices);
  Executor executor(threads);
  executor.for_each(groups.size(), [&](std::size_t g) {
    const auto& first = choices[groups[g].first];
    const auto steps = subsystem_steps(network, first.step, first.degree);
    for (std::size_t i = groups[g].first; i < groups[g].end; ++i) {
      const StepProgram program(network, steps, choices[i]);
      result[i] = {spectral_radius(program), relative_consistency(program, exact)};
    }
  });
  return result;
}

std::vector<std::size_t> pareto_front(std::span<const std::vector<double>> objectives) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    const auto& values = objectives[i];
    if (std::none_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) order.push_back(i);
  }
  // In lexicographic order nobody is dominated by one that comes later.
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return objectives[a] < objectives[b]; });
  std::vector<std::size_t> front;
  for (const std::size_t candidate : order) {
    const bool dominated = std::any_of(front.begin(), front.end(), [&](std::size_t member) {
      return dominates(objectives[member], objectives[candidate]);
    });
    if (!dominated) front.push_back(candidate);
  }
  std::sort(front.begin(), front.end());
  return front;
}

}  // namespace entrain
