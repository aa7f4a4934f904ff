#include "methods/linear_stages.hpp"

#include <algorithm>

#include "methods/explicit/calling_sequence.hpp"

namespace entrain::method {

CouplingChoice parallel_choice(std::size_t subsystems, int degree, Duration step) {
  CouplingChoice choice;
  choice.degree = degree;
  choice.step = step;
  auto& stage = choice.stages.emplace_back();
  for (std::size_t s = 0; s < subsystems; ++s) stage.push_back(s);
  return choice;
}

CouplingChoice sequential_choice(std::span<const std::size_t> sequence, int degree, Duration step) {
  CouplingChoice choice;
  choice.degree = degree;
  choice.step = step;
  for (const std::size_t s : sequence) choice.stages.push_back({s});
  return choice;
}

CouplingChoice sequential_stages(const MethodConfig& config, const LinearNetwork& network,
                                 std::span<const std::size_t> found, Duration step) {
  const auto& subsystems = network.subsystems;
  const auto number_of = [&](const std::string& name) {
    const auto at = std::find_if(subsystems.begin(), subsystems.end(), [&](const auto& of) { return of.name == name; });
    return static_cast<std::size_t>(at - subsystems.begin());
  };
  const auto named = config.sequence.empty() ? found : std::span<const std::size_t>();
  auto choice = sequential_choice(named, config.degree.value_or(0), step);
  for (const auto& names : stages_of(config.sequence)) {
    auto& stage = choice.stages.emplace_back();
    for (const auto& name : names) stage.push_back(number_of(name));
  }
  if (config.gains.empty()) return choice;
  for (const auto& subsystem : subsystems) {
    for (const auto& input : subsystem.inputs) {
      const auto gain = config.gains.find(input.name);
      choice.gains.push_back(gain == config.gains.end() ? 0.0 : gain->second);
    }
  }
  return choice;
}

MethodKnobs sequential_knobs() {
  return {.degree = "degree",
          .max_degree = kMaxInputDegree,
          .sequence = "sequence",
          .gains = {},
          .max_gain = 0.0,
          .tolerances = {"relative_tolerance", "absolute_tolerance"}};
}

}  // namespace entrain::method
