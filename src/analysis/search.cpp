#include "analysis/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "analysis/measures.hpp"
#include "base/thread_pool.hpp"
#include "entrain/error.hpp"

namespace entrain::analysis {
namespace {

struct ChoiceGroup {
  std::size_t first = 0;
  std::size_t end = 0;
};

/// Neighbours of the same step and degree, at most kMost together so that there is work for every thread.
std::vector<ChoiceGroup> groups_of(std::span<const CouplingChoice> choices) {
  constexpr std::size_t kMost = 256;
  std::vector<ChoiceGroup> groups;
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

std::vector<Quality> evaluate_all(OperatingNetworks networks, std::span<const CouplingChoice> choices, int threads,
                                  const std::atomic<bool>* interrupt) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<Quality> result(choices.size());
  std::vector<ExactCoupling> exact;
  for (const auto& network : networks) exact.push_back(exact_coupling(network));
  const auto groups = groups_of(choices);
  base::ThreadPool executor(threads);
  executor.for_each(groups.size(), [&](std::size_t g) {
    const auto& first = choices[groups[g].first];
    for (std::size_t n = 0; n < networks.size(); ++n) {
      const auto steps = subsystem_steps(networks[n], first.step, first.degree);
      for (std::size_t i = groups[g].first; i < groups[g].end; ++i) {
        if (interrupt != nullptr && interrupt->load()) {
          result[i] = {kUnknown, kUnknown};
          continue;
        }
        try {
          const StepProgram program(networks[n], steps, choices[i]);
          result[i].radius = std::max(result[i].radius, step_radius(program));
          result[i].consistency = std::max(result[i].consistency, relative_consistency(program, exact[n]));
        } catch (const Error&) {
          result[i] = {kUnknown, kUnknown};
        }
      }
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
  // In lexicographic order no choice is dominated by one that comes later.
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

std::vector<FoundChoice> front_of(std::span<const CouplingChoice> choices, std::span<const Quality> qualities) {
  std::vector<std::vector<double>> objectives;
  std::set<std::vector<double>> seen;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    std::vector<double> of{qualities[i].radius, qualities[i].consistency, -choices[i].step};
    if (std::isnan(of[0]) || std::isnan(of[1]) || !seen.insert(of).second) continue;
    objectives.push_back(std::move(of));
    numbers.push_back(i);
  }
  std::vector<FoundChoice> front;
  for (const std::size_t member : pareto_front(objectives)) {
    front.push_back({choices[numbers[member]], qualities[numbers[member]]});
  }
  return front;
}

std::size_t knee_of(std::span<const FoundChoice> front) {
  constexpr double kNothing = 1e-300;  // a consistency of 0 has no logarithm
  const auto scaled = [&](const auto& objective) {
    std::vector<double> values;
    for (const auto& of : front) values.push_back(objective(of));
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const double least = *low;
    const double extent = *high > *low ? *high - *low : 1.0;
    for (double& value : values) value = (value - least) / extent;
    return values;
  };
  const auto radius = scaled([](const FoundChoice& of) { return of.quality.radius; });
  const auto consistency = scaled([](const FoundChoice& of) { return std::log(of.quality.consistency + kNothing); });
  const auto step = scaled([](const FoundChoice& of) { return -std::log(of.choice.step); });
  std::size_t knee = 0;
  const auto distance = [&](std::size_t i) { return std::hypot(radius[i], consistency[i], step[i]); };
  for (std::size_t i = 1; i < front.size(); ++i) {
    if (distance(i) < distance(knee)) knee = i;
  }
  return knee;
}

}  // namespace entrain::analysis
