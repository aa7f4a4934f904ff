// NSGA-II by pagmo2, which a plug-in is linked with.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "analysis/pagmo_plugin.hpp"
#include "analysis/search.hpp"

namespace entrain::analysis {
namespace {

/// What a vector of numbers means: a key per subsystem (called in ascending order of the keys), a gain per input that
/// may have one, the logarithm of the step; then, as the integer part, the degree.
class Decoder {
 public:
  Decoder(const LinearNetwork& network, const EvolutionSettings& settings)
      : subsystems_(network.subsystems.size()),
        inputs_(settings.largest_gain > 0.0 ? network.input_count() : 0),
        gained_(settings.gained),
        settings_(&settings) {
    if (!gained_.empty() || inputs_ == 0) return;
    gained_.resize(inputs_);
    std::iota(gained_.begin(), gained_.end(), std::size_t{0});
  }

  std::pair<std::vector<double>, std::vector<double>> bounds() const {
    std::vector<double> low(subsystems_, 0.0);
    std::vector<double> high(subsystems_, 1.0);
    low.insert(low.end(), gained_.size(), 0.0);
    high.insert(high.end(), gained_.size(), settings_->largest_gain);
    low.push_back(std::log10(settings_->shortest_step));
    high.push_back(std::log10(settings_->longest_step));
    low.push_back(0.0);
    high.push_back(settings_->highest_degree);
    return {low, high};
  }

  CouplingChoice choice(std::span<const double> x) const {
    std::vector<std::size_t> sequence(subsystems_);
    std::iota(sequence.begin(), sequence.end(), std::size_t{0});
    std::stable_sort(sequence.begin(), sequence.end(), [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
    auto result =
        method::sequential_choice(sequence, static_cast<int>(std::lround(x.back())), std::pow(10.0, x[x.size() - 2]));
    result.gains.assign(inputs_, 0.0);
    // To a hundredth: more digits are of no use, and similar choices become equal.
    for (std::size_t i = 0; i < gained_.size(); ++i)
      result.gains[gained_[i]] = std::round(100.0 * x[subsystems_ + i]) / 100.0;
    return result;
  }

 private:
  std::size_t subsystems_;
  std::size_t inputs_;               // 0 = no gains
  std::vector<std::size_t> gained_;  // the inputs with a gain
  const EvolutionSettings* settings_;
};

/// Many at once, so that they share the threads.
class ChoiceRater {
 public:
  static constexpr std::size_t kObjectives = 3;

  ChoiceRater(OperatingNetworks networks, const EvolutionSettings& settings)
      : networks_(networks), settings_(settings), decoder_(networks.front(), settings) {}

  const Decoder& decoder() const { return decoder_; }
  std::vector<Quality> qualities(std::span<const CouplingChoice> choices) const {
    return evaluate_all(networks_, choices, settings_.threads, settings_.interrupt);
  }
  /// The objectives of each choice, one after the other; what cannot be judged is worse than anything.
  std::vector<double> objectives(const std::vector<CouplingChoice>& choices) const {
    constexpr double kWorst = 1e30;
    std::vector<double> result;
    const auto judged = qualities(choices);
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const bool known = std::isfinite(judged[i].radius) && std::isfinite(judged[i].consistency);
      result.push_back(known ? judged[i].radius : kWorst);
      result.push_back(known ? judged[i].consistency : kWorst);
      result.push_back(-std::log10(choices[i].step));
    }
    return result;
  }

 private:
  OperatingNetworks networks_;
  const EvolutionSettings& settings_;
  Decoder decoder_;
};

}  // namespace

std::vector<FoundChoice> evolve_choices(OperatingNetworks networks, const EvolutionSettings& settings,
                                        std::span<const CouplingChoice> seeds) {
  const ChoiceRater rater(networks, settings);
  EvolutionProblem problem;
  std::tie(problem.low, problem.high) = rater.decoder().bounds();
  problem.integers = 1;
  problem.objectives = ChoiceRater::kObjectives;
  problem.rate = [&](std::span<const double> all) {
    std::vector<CouplingChoice> choices;
    for (; !all.empty(); all = all.subspan(problem.low.size()))
      choices.push_back(rater.decoder().choice(all.first(problem.low.size())));
    return rater.objectives(choices);
  };
  const auto last = pagmo_plugin().nsga2(problem, {settings.population, settings.generations, settings.seed});
  std::vector<CouplingChoice> choices(seeds.begin(), seeds.end());
  for (const auto& x : last) choices.push_back(rater.decoder().choice(x));
  return front_of(choices, rater.qualities(choices));
}

}  // namespace entrain::analysis
