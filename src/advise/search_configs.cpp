#include "advise/search_configs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "advise/method_kinds.hpp"
#include "analysis/measures.hpp"
#include "analysis/search.hpp"
#include "analysis/stable_ranges.hpp"
#include "base/suggest.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::advising {
namespace {

constexpr double kLargestGain = 0.95;  // at 1 an input never forgets its start
constexpr int kGridGains = 20;
constexpr int kGridSteps = 40;
constexpr unsigned kPopulation = 60;
constexpr unsigned kGenerations = 60;

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
          problem_of(Fact{FactCode::UnknownGainInput, {name}}, suggestion(name, names), {"--gain", 0, 0}));
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
MethodConfig config_of(const method::MethodRegistry& methods, const CouplingChoice& choice,
                       const LinearNetwork& network, const std::vector<std::size_t>& found) {
  MethodConfig config;
  config.degree = choice.degree;
  config.method = methods.first(is_plain).name;
  if (choice.stages.size() > 1) {
    config.method = methods.first([](const MethodTraits& of) { return is_sequential(of) && of.recommended; }).name;
    if (choice.stages != method::sequential_choice(found, 0, choice.step).stages) {
      for (const auto& stage : choice.stages) config.sequence.push_back(network.subsystems[stage.front()].name);
    }
  }
  std::size_t number = 0;
  for (const auto& subsystem : network.subsystems) {
    for (const auto& input : subsystem.inputs) {
      const double gain = choice.gains.empty() ? 0.0 : choice.gains[number];
      if (gain > 0.0) config.gains[input.name] = gain;
      ++number;
    }
  }
  if (!config.gains.empty()) {
    config.method = methods.first([](const MethodTraits& of) { return !of.knobs.gains.empty(); }).name;
  }
  return config;
}

/// How many couplings may be judged: what they cost grows with the third power of the size.
std::size_t affordable(std::size_t size, std::size_t networks) {
  constexpr double kProducts = 5e9;
  constexpr double kFewest = 64.0;
  const double cube = std::pow(static_cast<double>(size), 3);
  return static_cast<std::size_t>(std::max(kFewest, kProducts / (cube * static_cast<double>(networks))));
}

class ConfigSearch {
 public:
  ConfigSearch(const LinearizedRun& linearized, const AdviceSettings& settings, int highest_degree,
               Duration longest_step)
      : methods_(linearized.methods), settings_(settings), highest_degree_(highest_degree), found_(linearized.found) {
    // The worst of a few points along the run; more would cost more than they are worth.
    constexpr std::size_t kMostPoints = 4;
    const auto& points = linearized.path.points;
    const std::size_t stride = (points.size() + kMostPoints - 1) / kMostPoints;
    for (std::size_t p = 0; p < points.size(); p += stride) networks_.push_back(points[p].network);
    gained_ = gained_inputs(networks_.front(), settings.gains);
    evolution_.shortest_step = linearized.step / 16.0;
    evolution_.longest_step = std::max(linearized.step, std::min(64.0 * linearized.step, longest_step));
    evolution_.largest_gain = kLargestGain;
    evolution_.gained = gained_;
    evolution_.threads = settings.threads;
    evolution_.interrupt = settings.interrupt;
    evolution_.population = kPopulation;
    while (highest_degree_ > 0 && size() > analysis::kLargestDense) --highest_degree_;
    evolution_.highest_degree = highest_degree_;
    if (highest_degree_ < highest_degree)
      leave_out(fmt::format("degrees above {}", highest_degree_), {{"degrees_above", highest_degree_}});
  }

  Front run() {
    if (size() > analysis::kLargestDense) {
      leave_out("everything", {{"everything", 1}});
      return {{}, 0, std::nullopt, 0, left_out()};
    }
    auto found = grid_is_small() ? by_grid() : by_evolution();
    // What grows is no compromise, unless everything does: then by how much may still matter.
    const auto grows = [](const analysis::FoundChoice& of) { return !(of.quality.radius < 1.0); };
    if (!std::all_of(found.begin(), found.end(), grows)) std::erase_if(found, grows);
    Front front{{}, found.empty() ? 0 : analysis::knee_of(found), how_, judged_, left_out()};
    for (const auto& [choice, quality] : found) {
      front.points.push_back({config_of(methods_, choice, networks_.front(), found_), choice.step, quality});
    }
    return front;
  }

 private:
  std::size_t size() const { return analysis::vector_size(networks_.front(), highest_degree_); }
  void leave_out(std::string what, std::vector<FactValue> numbers) {
    left_out_.push_back(std::move(what));
    left_out_numbers_.insert(left_out_numbers_.end(), numbers.begin(), numbers.end());
  }
  std::optional<Fact> left_out() const {
    if (left_out_.empty()) return std::nullopt;
    Fact fact{FactCode::SearchReduced, left_out_, left_out_numbers_};
    fact.values.emplace_back("rows", size());
    return fact;
  }
  bool grid_is_small() const {
    constexpr std::size_t kMostSubsystems = 3;  // six sequences
    return gained_.size() <= 1 && found_.size() <= kMostSubsystems;
  }
  std::vector<Duration> steps() const {
    std::vector<Duration> result;
    result.reserve(static_cast<std::size_t>(grid_steps_));
    const analysis::SearchRange range{evolution_.shortest_step, evolution_.longest_step, grid_steps_};
    for (int k = 0; k < grid_steps_; ++k) result.push_back(range.at(k));
    return result;
  }
  /// All degrees and steps with one sequence, or in parallel.
  void add_grid(const std::vector<std::size_t>* sequence, double gain, std::vector<CouplingChoice>& choices) const {
    for (int degree = 0; degree <= highest_degree_; ++degree) {
      for (const Duration step : steps()) {
        auto choice = sequence != nullptr ? method::sequential_choice(*sequence, degree, step)
                                          : method::parallel_choice(found_.size(), degree, step);
        if (gain > 0.0) {
          choice.gains.assign(networks_.front().input_count(), 0.0);
          choice.gains[gained_.front()] = gain;
        }
        choices.push_back(std::move(choice));
      }
    }
  }
  std::vector<analysis::FoundChoice> sorted(std::vector<analysis::FoundChoice> front) const {
    std::stable_sort(front.begin(), front.end(), [](const analysis::FoundChoice& a, const analysis::FoundChoice& b) {
      return a.choice.step < b.choice.step;
    });
    return front;
  }
  std::vector<Quality> evaluated(std::span<const CouplingChoice> choices) const {
    return analysis::evaluate_all(networks_, choices, settings_.threads, settings_.interrupt);
  }
  /// A coarser grid where the whole is too much: fewer steps, then fewer gains.
  void coarsen(std::size_t sequences) {
    constexpr int kFewest = 5;
    const auto couplings = [&] {
      const auto configs = static_cast<int>(sequences) * grid_gains_ + 1;
      return static_cast<std::size_t>(configs * (highest_degree_ + 1) * grid_steps_);
    };
    const std::size_t most = affordable(size(), networks_.size());
    while (couplings() > most && (grid_steps_ > kFewest || grid_gains_ > kFewest)) {
      int& finer = grid_steps_ > kFewest ? grid_steps_ : grid_gains_;
      finer = std::max(kFewest, finer / 2);
    }
    if (grid_steps_ < kGridSteps) {
      leave_out(fmt::format("all but {} of {} steps", grid_steps_, kGridSteps),
                {{"steps", grid_steps_}, {"steps_of", kGridSteps}});
    }
    if (grid_gains_ < kGridGains && !gained_.empty()) {
      leave_out(fmt::format("all but {} of {} gains", grid_gains_, kGridGains),
                {{"gains", grid_gains_}, {"gains_of", kGridGains}});
    }
  }
  std::vector<analysis::FoundChoice> by_grid() {
    std::vector<std::size_t> sequence(found_.size());
    std::iota(sequence.begin(), sequence.end(), std::size_t{0});
    std::size_t sequences = 1;
    for (std::size_t k = 2; k <= sequence.size(); ++k) sequences *= k;
    grid_gains_ = gained_.empty() ? 1 : kGridGains;
    coarsen(sequences);
    std::vector<CouplingChoice> choices;
    add_grid(nullptr, 0.0, choices);
    do {
      for (int k = 0; k < grid_gains_; ++k) {
        add_grid(&sequence, kLargestGain * k / std::max(1, grid_gains_ - 1), choices);
      }
    } while (std::next_permutation(sequence.begin(), sequence.end()));
    judged_ = choices.size();
    how_ = Fact{FactCode::SearchedByGrid, {}, {{"steps", grid_steps_}, {"judged", judged_}}};
    if (!gained_.empty()) how_->values.emplace_back("gains", grid_gains_);
    return sorted(analysis::front_of(choices, evaluated(choices)));
  }
  /// Half of what is affordable for the plain methods, the rest for generations.
  void shorten() {
    constexpr std::size_t kFewestSteps = 4;
    const std::size_t most = affordable(size(), networks_.size());
    const auto plain = 2 * (static_cast<std::size_t>(highest_degree_) + 1);
    grid_steps_ = static_cast<int>(std::clamp<std::size_t>(most / 2 / plain, kFewestSteps, kGridSteps));
    const std::size_t left = most - std::min(most, plain * static_cast<std::size_t>(grid_steps_));
    const std::size_t rounds = left / kPopulation;  // the first is no generation yet
    evolution_.generations = rounds < 2 ? 0 : static_cast<unsigned>(std::min<std::size_t>(rounds - 1, kGenerations));
    if (evolution_.generations == 0)
      grid_steps_ = static_cast<int>(std::clamp<std::size_t>(most / plain, kFewestSteps, kGridSteps));
    if (grid_steps_ < kGridSteps) {
      leave_out(fmt::format("all but {} of {} steps", grid_steps_, kGridSteps),
                {{"steps", grid_steps_}, {"steps_of", kGridSteps}});
    }
    if (evolution_.generations == 0) leave_out("gains and other sequences", {{"generations", 0}});
    if (evolution_.generations > 0 && evolution_.generations < kGenerations) {
      leave_out(fmt::format("all but {} of {} generations", evolution_.generations, kGenerations),
                {{"generations", evolution_.generations}, {"generations_of", kGenerations}});
    }
  }
  std::vector<analysis::FoundChoice> by_evolution() {
    shorten();
    std::vector<CouplingChoice> seeds;
    add_grid(nullptr, 0.0, seeds);
    add_grid(&found_, 0.0, seeds);
    if (evolution_.generations == 0) {
      judged_ = seeds.size();
      how_ = Fact{FactCode::SearchedPlainly, {}, {{"steps", grid_steps_}, {"judged", judged_}}};
      return sorted(analysis::front_of(seeds, evaluated(seeds)));
    }
    judged_ = seeds.size() + std::size_t{kPopulation} * (evolution_.generations + 1);
    how_ = Fact{FactCode::SearchedByEvolution,
                {},
                {{"gains", gained_.size()},
                 {"generations", evolution_.generations},
                 {"population", kPopulation},
                 {"judged", judged_}}};
    return sorted(analysis::evolve_choices(networks_, evolution_, seeds));
  }

  const method::MethodRegistry& methods_;
  const AdviceSettings& settings_;
  int highest_degree_;
  const std::vector<std::size_t>& found_;
  std::vector<LinearNetwork> networks_;
  std::vector<std::size_t> gained_;
  analysis::EvolutionSettings evolution_;
  int grid_steps_ = kGridSteps;
  int grid_gains_ = 1;
  std::optional<Fact> how_;
  std::size_t judged_ = 0;
  std::vector<std::string> left_out_;
  std::vector<FactValue> left_out_numbers_;
};

}  // namespace

Front search_configs(const LinearizedRun& linearized, const AdviceSettings& settings, int highest_degree,
                     Duration longest_step) {
  return ConfigSearch(linearized, settings, highest_degree, longest_step).run();
}

}  // namespace entrain::advising
