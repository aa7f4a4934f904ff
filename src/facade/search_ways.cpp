#include "facade/search_ways.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/suggest.hpp"
#include "entrain/error.hpp"

namespace entrain {
namespace {

constexpr double kLargestGain = 0.95;  // at 1 an input never forgets its start
constexpr int kGridGains = 20;
constexpr int kGridSteps = 40;

/// The inputs that may have a gain, by their number in the network.
std::vector<std::size_t> gained_inputs(const LinearNetwork& network, const std::vector<std::string>& asked) {
  std::vector<std::string> names;
  for (const auto& subsystem : network.subsystems) {
    for (const auto& input : subsystem.inputs) names.push_back(input.name);
  }
  std::vector<std::size_t> result;
  std::vector<Problem> problems;
  for (const auto& name : asked) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      problems.push_back(
          {fmt::format("there is no connected input '{}'", name), suggestion(name, names), {"--gain", 0, 0}});
    }
    result.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  if (!problems.empty()) throw Error(std::move(problems));
  if (!asked.empty()) return result;
  result.resize(names.size());
  std::iota(result.begin(), result.end(), std::size_t{0});
  return result;
}

/// The sequence is named where it is not the one that the method finds by itself.
Way way_of(const CouplingChoice& choice, const LinearNetwork& network, const std::vector<std::size_t>& found) {
  Way way;
  way.degree = choice.degree;
  way.method = "jacobi";
  if (choice.stages.size() > 1) {
    way.method = "gauss-seidel";
    if (choice.stages != sequential_choice(found, 0, choice.step).stages) {
      for (const auto& stage : choice.stages) way.sequence.push_back(network.subsystems[stage.front()].name);
    }
  }
  std::size_t number = 0;
  for (const auto& subsystem : network.subsystems) {
    for (const auto& input : subsystem.inputs) {
      const double gain = choice.gains.empty() ? 0.0 : choice.gains[number];
      if (gain > 0.0) way.gains[input.name] = gain;
      ++number;
    }
  }
  if (!way.gains.empty()) way.method = "nepce";
  return way;
}

class Search {
 public:
  Search(const Picture& picture, const AdviceSettings& settings, int highest_degree, Duration longest_step)
      : settings_(settings), highest_degree_(highest_degree), found_(picture.found) {
    // The worst of a few points along the way; more cost more than they tell.
    constexpr std::size_t kMostPoints = 4;
    const auto& points = picture.path.points;
    const std::size_t stride = (points.size() + kMostPoints - 1) / kMostPoints;
    for (std::size_t p = 0; p < points.size(); p += stride) networks_.push_back(points[p].network);
    gained_ = gained_inputs(networks_.front(), settings.gains);
    evolution_.shortest_step = picture.step / 16.0;
    evolution_.longest_step = std::max(picture.step, std::min(64.0 * picture.step, longest_step));
    evolution_.highest_degree = highest_degree;
    evolution_.largest_gain = kLargestGain;
    evolution_.gained = gained_;
    evolution_.threads = settings.threads;
  }

  Front run() {
    auto found = grid_is_small() ? by_grid() : by_evolution();
    // What grows is no compromise, unless everything does: then by how much may still matter.
    const auto grows = [](const FoundChoice& of) { return !(of.quality.radius < 1.0); };
    if (!std::all_of(found.begin(), found.end(), grows)) std::erase_if(found, grows);
    Front front{{}, found.empty() ? 0 : knee_of(found), how_};
    for (const auto& [choice, quality] : found) {
      front.points.push_back({way_of(choice, networks_.front(), found_), choice.step, quality});
    }
    return front;
  }

 private:
  bool grid_is_small() const {
    constexpr std::size_t kMostSubsystems = 3;  // six sequences
    return gained_.size() <= 1 && found_.size() <= kMostSubsystems;
  }
  std::vector<Duration> steps() const {
    std::vector<Duration> result;
    result.reserve(kGridSteps);
    const SearchRange range{evolution_.shortest_step, evolution_.longest_step, kGridSteps};
    for (int k = 0; k < kGridSteps; ++k) result.push_back(range.at(k));
    return result;
  }
  /// All degrees and steps with one sequence, or in parallel.
  void add_grid(const std::vector<std::size_t>* sequence, double gain, std::vector<CouplingChoice>& choices) const {
    for (int degree = 0; degree <= highest_degree_; ++degree) {
      for (const Duration step : steps()) {
        auto choice = sequence != nullptr ? sequential_choice(*sequence, degree, step)
                                          : parallel_choice(found_.size(), degree, step);
        if (gain > 0.0) {
          choice.gains.assign(networks_.front().input_count(), 0.0);
          choice.gains[gained_.front()] = gain;
        }
        choices.push_back(std::move(choice));
      }
    }
  }
  std::vector<FoundChoice> sorted(std::vector<FoundChoice> front) const {
    std::stable_sort(front.begin(), front.end(),
                     [](const FoundChoice& a, const FoundChoice& b) { return a.choice.step < b.choice.step; });
    return front;
  }
  std::vector<FoundChoice> by_grid() {
    std::vector<CouplingChoice> choices;
    add_grid(nullptr, 0.0, choices);
    std::vector<std::size_t> sequence(found_.size());
    std::iota(sequence.begin(), sequence.end(), std::size_t{0});
    do {
      for (int k = 0; k < (gained_.empty() ? 1 : kGridGains); ++k) {
        add_grid(&sequence, kLargestGain * k / (kGridGains - 1), choices);
      }
    } while (std::next_permutation(sequence.begin(), sequence.end()));
    how_ = fmt::format("every sequence and degree on a grid of {} steps{}: {} couplings judged", kGridSteps,
                       gained_.empty() ? "" : fmt::format(" and {} gains", kGridGains), choices.size());
    return sorted(front_of(choices, evaluate_all(networks_, choices, settings_.threads)));
  }
  std::vector<FoundChoice> by_evolution() {
    std::vector<CouplingChoice> seeds;
    add_grid(nullptr, 0.0, seeds);
    add_grid(&found_, 0.0, seeds);
    const auto judged = seeds.size() + std::size_t{evolution_.population} * (evolution_.generations + 1);
    how_ = fmt::format("NSGA-II over sequence, {} gains, degree and step, {} generations of {}: {} couplings judged",
                       gained_.size(), evolution_.generations, evolution_.population, judged);
    return sorted(evolve_choices(networks_, evolution_, seeds));
  }

  const AdviceSettings& settings_;
  int highest_degree_;
  const std::vector<std::size_t>& found_;
  std::vector<LinearNetwork> networks_;
  std::vector<std::size_t> gained_;
  EvolutionSettings evolution_;
  std::string how_;
};

}  // namespace

Front search_ways(const Picture& picture, const AdviceSettings& settings, int highest_degree, Duration longest_step) {
  return Search(picture, settings, highest_degree, longest_step).run();
}

}  // namespace entrain
