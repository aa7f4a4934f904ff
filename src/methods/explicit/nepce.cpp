#include "methods/explicit/nepce.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.hpp"
#include "methods/linear_stages.hpp"

namespace entrain {
namespace {

constexpr double kBelowOne = 0.999999;  // at 1 an input never forgets its start

std::vector<std::string> input_names(const Graph& graph) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < graph.inputs(); ++i) names.push_back(graph.name(InputId{i}));
  return names;
}

}  // namespace

const MethodTraits& Nepce::traits() const {
  static const MethodTraits kTraits = [] {
    MethodTraits traits{.name = "nepce",
                        .summary = "gauss-seidel with an integral controller of the coupling error",
                        .family = MethodFamily::Explicit,
                        .recommended = false,
                        .knobs = sequential_knobs(),
                        .linear_step = {.stages = &sequential_stages}};
    traits.knobs.gains = "gains";
    traits.knobs.max_gain = kBelowOne;
    return traits;
  }();
  return kTraits;
}

void Nepce::bind(OptionBinder& binder) {
  GaussSeidel::bind(binder);
  // At |gain| = 1 the filter never forgets its start: reference condition |alpha| < 1 of a consistent start.
  binder.numbers("gains", written_gains_, "by \"subsystem.input\": w <- gain w + (1 - gain) y; 0 = plain gauss-seidel",
                 {-kBelowOne, kBelowOne});
}

void Nepce::check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const {
  GaussSeidel::check(graph, written, problems);
  const auto known = input_names(graph);
  for (const auto& [name, gain] : written_gains_) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    problems.push_back(
        {fmt::format("gains: unknown input '{}'", name), suggestion(name, known), position_of(written, "gains")});
  }
}

std::vector<double> Nepce::gains(const Graph& graph) const {
  std::vector<double> gains;
  for (const auto& name : input_names(graph)) {
    const auto found = written_gains_.find(name);
    gains.push_back(found == written_gains_.end() ? 0.0 : found->second);
  }
  return gains;
}

}  // namespace entrain
