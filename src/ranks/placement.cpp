#include "ranks/placement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace entrain::ranks {
namespace {

constexpr double kAboutEqual = 0.05;  // of the mean work of a rank

/// What is not known counts as the mean of what is; where nothing is, all are equal.
std::vector<double> weights_of(const std::vector<double>& seconds) {
  double sum = 0.0;
  std::size_t known = 0;
  for (const double each : seconds) {
    if (!(each > 0.0)) continue;
    sum += each;
    ++known;
  }
  const double mean = known == 0 ? 1.0 : sum / static_cast<double>(known);
  std::vector<double> weights;
  weights.reserve(seconds.size());
  for (const double each : seconds) weights.push_back(each > 0.0 ? each : mean);
  return weights;
}

}  // namespace

std::vector<int> placed(const PlacementTask& task) {
  const auto weights = weights_of(task.seconds);
  const auto ranks = static_cast<std::size_t>(task.ranks);
  std::vector<int> placement(weights.size(), -1);
  std::vector<double> load(ranks, 0.0);
  const auto place = [&](std::size_t s, std::size_t rank) {
    placement[s] = static_cast<int>(rank);
    load[rank] += weights[s];
  };
  for (std::size_t s = 0; s < weights.size(); ++s) {
    if (s < task.given.size() && task.given[s]) place(s, static_cast<std::size_t>(*task.given[s]));
  }
  std::vector<std::vector<std::size_t>> neighbours(weights.size());
  for (const auto& [a, b] : task.connections) {
    neighbours[a].push_back(b);
    neighbours[b].push_back(a);
  }
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  const double slack = kAboutEqual * std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(ranks);
  for (const std::size_t s : order) {
    if (placement[s] >= 0) continue;
    const double least = *std::min_element(load.begin(), load.end());
    std::vector<int> company(ranks, 0);
    for (const std::size_t other : neighbours[s]) {
      if (placement[other] >= 0) ++company[static_cast<std::size_t>(placement[other])];
    }
    std::size_t best = 0;
    bool found = false;
    for (std::size_t r = 0; r < ranks; ++r) {
      if (load[r] > least + std::min(slack, weights[s])) continue;
      // An empty rank is not left empty for the sake of company.
      if (least == 0.0 && load[r] > 0.0) continue;
      if (!found || company[r] > company[best] || (company[r] == company[best] && load[r] < load[best])) best = r;
      found = true;
    }
    place(s, best);
  }
  return placement;
}

std::vector<int> idle_ranks(const std::vector<int>& placement, int ranks) {
  std::vector<int> idle;
  for (int r = 0; r < ranks; ++r) {
    if (std::find(placement.begin(), placement.end(), r) == placement.end()) idle.push_back(r);
  }
  return idle;
}

}  // namespace entrain::ranks
